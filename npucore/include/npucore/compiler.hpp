#pragma once

#include <npucore/compiled_model.hpp>

namespace npu {

/// An NPU to compile for, which need not be in this machine.
struct CompileTarget {
  std::string platform;     ///< one of platforms()
  std::uint32_t tiles = 0;  ///< most tiles to use; 0: all that the platform has
};
NPU_API std::vector<std::string> platforms();  ///< "3720", "4000", ...: all, the oldest first

/// Intel's NPU compiler library, which runs in a helper process. The property
/// NPUCORE_COMPILER_LIBRARY names it, else the environment variable, else the system's loader finds
/// it. All calls here throw Error(kNotFound), which says where to get it, if there is none.
struct CompilerInfo {
  std::string library, id;
  Version interface, compiler;  ///< versions of its calls (VCL) and of the compiler
  std::uint32_t newest_opset = 0;
  std::vector<std::string> options;  ///< those it lists for the target
};
NPU_API CompilerInfo compiler_info(const CompileTarget& target, const Properties& properties = {});

/// The latency that the compiler's cost model expects of one inference, on the device alone. It
/// leaves out operators that it does not know: a lower bound if `left_out` names any.
struct LatencyEstimate {
  double latency_us = 0;
  double frequency_mhz = 0;           ///< assumed for the device
  std::vector<std::string> left_out;  ///< "Interpolate", ...
};

/// A model that was compiled for a target, and not loaded.
struct TargetBlob {
  std::vector<std::byte> file;   ///< as CompiledModel::export_blob() writes it
  std::size_t native_bytes = 0;  ///< size of the ELF at the file's start
  std::vector<Port> outputs;     ///< the model's, with shapes as the compiler found them
  LoadStats stats;
  std::optional<LatencyEstimate> estimate;  ///< none if the compiler gives none
};
/// Compiles like CompiledModel::compile(), but needs neither device nor driver, and ignores
/// NPU_COMPILER_TYPE, CACHE_DIR and progress.
NPU_API TargetBlob compile_for(const CompileTarget& target, const Model& model,
                               const CompileOptions& options = {});

struct LayerSupport {
  std::string name, type;
  bool supported = false;
};
/// Lists each layer of the model, and whether the target runs it.
NPU_API std::vector<LayerSupport> query_supported(const CompileTarget& target, const Model& model,
                                                  const CompileOptions& options = {});

}  // namespace npu

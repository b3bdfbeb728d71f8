#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npucore/device.hpp"
#include "npucore/export.hpp"
#include "npucore/model.hpp"
#include "npucore/request.hpp"
#include "npucore/types.hpp"

namespace npu {

enum class Priority { kLow, kMedium, kHigh };

struct CompileOptions {
  Priority priority = Priority::kMedium;
  bool turbo = false;
  bool profiling = false;
  bool bypass_driver_cache = false;
  std::map<std::string, std::string> config;  ///< compiler options as they are: KEY -> VALUE
};

struct LoadStats {
  std::uint64_t compile_ns = 0;     ///< in the driver's graph create, from an IR or a blob
  std::uint64_t initialize_ns = 0;  ///< weights into the device
  bool loaded_from_driver_cache = false;
};

namespace internal {
struct CompiledModelState;
}

/// A graph on a device. Copies share it.
class NPU_API CompiledModel {
 public:
  /// Compiles an IR with the driver's compiler. Compilations are serialised per process.
  static CompiledModel compile(const Device& device, const Model& model,
                               const CompileOptions& options = {});
  /// Loads a precompiled blob: a bare ELF, a file of npucore or one that OpenVINO exported. The
  /// file is mapped.
  static CompiledModel import(const Device& device, const std::filesystem::path& blob,
                              const CompileOptions& options = {});
  static CompiledModel import(const Device& device, std::span<const std::byte> blob,
                              const CompileOptions& options = {});
  ~CompiledModel();
  CompiledModel(const CompiledModel&);
  CompiledModel(CompiledModel&&) noexcept;
  CompiledModel& operator=(const CompiledModel&);
  CompiledModel& operator=(CompiledModel&&) noexcept;

  const Device& device() const;
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  /// Index in inputs() of a name or tensor name. Throws Error(kNotFound) that lists the names there
  /// are.
  std::size_t input_index(const std::string& name) const;
  std::size_t output_index(const std::string& name) const;
  /// How frames go in; also restored from a blob that npucore wrote.
  const std::optional<FrameInput>& frame_input() const;
  const std::map<std::string, std::string>& model_info() const;
  const LoadStats& load_stats() const;

  /// The driver's own blob (an ELF), without the container's description.
  std::vector<std::byte> native_binary() const;
  /// Writes blob and description, atomically.
  void export_blob(const std::filesystem::path& path) const;

  Request create_request() const;

  const std::shared_ptr<internal::CompiledModelState>& state() const { return state_; }

 private:
  explicit CompiledModel(std::shared_ptr<internal::CompiledModelState> state);
  std::shared_ptr<internal::CompiledModelState> state_;
};

}  // namespace npu

#pragma once

#include <cstdint>
#include <string>

#include <npucore/device.hpp>

#include "properties/compiler_options.hpp"

namespace npu::internal {

/// Everything but the model that a blob depends on.
struct CompiledBy {
  const DeviceInfo& device;
  bool layer_times = false;       ///< the graph measures its layers
  std::string extra_build_flags;  ///< those that the environment adds
  std::string library;            ///< the compiler library's words for itself; empty: none
};

/// The key of an entry that was found by its model. `content` is the model's hash. The serializer
/// is left out: it does not change the blob.
std::string key_of_model(std::uint64_t content, const std::string& build_flags,
                         const CompiledBy& by);

/// The key of an entry that was given a name, CACHE_ID. `config` has the compiler's options.
std::string key_of_id(const std::string& id, const CompilerConfig& config, const CompiledBy& by);

}  // namespace npu::internal

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <npucore/device.hpp>
#include <npucore/properties.hpp>

#include "ir/serialize.hpp"

namespace npu::internal {

using CompilerConfig = std::map<std::string, std::string>;

/// The driver's compiler, as far as it tells what it takes.
struct Compiler {
  ir::CompilerVersion version;
  /// Whether it takes an option with a value, or with any where that is null; nullopt where the
  /// driver does not tell, and the version decides.
  std::function<std::optional<bool>(const char* option, const char* value)> takes;
};

/// The properties that were set and concern the compiler, without those that this one does not take
/// though it may be left out. The serializer is not among them. Throws for more tiles than there
/// are, and Error(kUnsupported) for an option that only newer compilers know.
CompilerConfig compiler_config(const Compiler& compiler, const DeviceInfo& device,
                               const Properties& properties);

/// Those of `config` that make another blob.
CompilerConfig in_cache_key(const CompilerConfig& config);

/// Most tiles that a model may be compiled for; 0: not known.
std::int64_t max_tiles(const DeviceInfo& device, const Properties& properties);

/// Whether the graph itself is to measure its layers.
bool wants_layer_times(const Properties& properties);

/// AUTO is what the compiler takes best; by address only when it says that it takes that. Throws
/// Error(kUnsupported) where NO_WEIGHTS_COPY was asked for and the compiler does not.
Serializer choose_serializer(const Compiler& compiler, const Properties& properties);

}  // namespace npu::internal

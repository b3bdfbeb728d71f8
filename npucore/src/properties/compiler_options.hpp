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

/// The driver's compiler, and the options it takes.
struct Compiler {
  ir::CompilerVersion version;
  /// Whether it takes an option with a value, or with any if that is null; nullopt if the driver
  /// does not tell: the version decides then.
  std::function<std::optional<bool>(const char* option, const char* value)> takes;
};

/// The properties that were set and concern the compiler. Leaves out optional ones that this
/// compiler does not take, and the serializer. Throws for more tiles than there are, and
/// Error(kUnsupported) for an option that only newer compilers know.
CompilerConfig compiler_config(const Compiler& compiler, const DeviceInfo& device,
                               const Properties& properties);

/// The entries of `config` that change the blob.
CompilerConfig in_cache_key(const CompilerConfig& config);

/// Most tiles that a model may be compiled for; 0: unknown.
std::int64_t max_tiles(const DeviceInfo& device, const Properties& properties);

/// Whether the graph itself has to measure its layers.
bool wants_layer_times(const Properties& properties);

/// AUTO: by address if the compiler says that it takes that, else by copy. Throws
/// Error(kUnsupported) if NO_WEIGHTS_COPY was asked for and the compiler does not take it.
Serializer choose_serializer(const Compiler& compiler, const Properties& properties);

}  // namespace npu::internal

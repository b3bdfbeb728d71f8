#pragma once

#include <map>
#include <string>

#include "ir/serialize.hpp"

namespace npu::internal {

/// The compiler's command line for a model, as a compiler of this version reads it. Throws
/// Error(kInvalidArgument) for an option that the grammar cannot carry.
std::string build_flags(const ir::FlagPorts& ports, ir::CompilerVersion compiler,
                        const std::map<std::string, std::string>& config);

}  // namespace npu::internal

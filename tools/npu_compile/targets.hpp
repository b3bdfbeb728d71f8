#pragma once

#include <npucore/compiler.hpp>

#include "arguments.hpp"

/// Compiles for NPUs that need not be here, or lists the options they would take. Returns the exit
/// code.
int compile_for_targets(const Arguments& arguments);
/// Such an NPU, with the tiles that were given.
npu::CompileTarget target_from(const Arguments& arguments, const std::string& platform);

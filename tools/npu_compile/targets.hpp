#pragma once

#include "arguments.hpp"

/// Compiles for NPUs that need not be here, or lists the options they would take. Returns the exit
/// code.
int compile_for_targets(const Arguments& arguments);

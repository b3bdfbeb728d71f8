#pragma once

#include "arguments.hpp"

/// Compiles for NPUs that need not be here, or only asks what they would take. The exit code.
int compile_for_targets(const Arguments& arguments);

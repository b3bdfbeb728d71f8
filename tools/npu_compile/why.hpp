#pragma once

#include "arguments.hpp"

/// Searches the model for the first layer that its compiler refuses, and prints what it finds.
/// Returns the exit code: kFailed where the model does not compile.
int find_refused_layer(const Arguments& arguments);

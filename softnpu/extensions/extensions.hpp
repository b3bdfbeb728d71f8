// The driver's offers beside its tables of process addresses.
#pragma once

#include <string_view>

namespace softnpu {

/// The extensions' tables, each beside its functions.
void* graph_table();
void* profiling_table();
void* queue_table();
void* context_table();

/// A function for tests by its name; null for an unknown name.
void* test_tool(std::string_view name);

}  // namespace softnpu

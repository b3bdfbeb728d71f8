// Functions that only tests use, found by zeDriverGetExtensionFunctionAddress under the names that
// README.md lists.
#pragma once

#include <string_view>

namespace softnpu {

// Null for a name that is none of them.
void* test_tool(std::string_view name);

}  // namespace softnpu

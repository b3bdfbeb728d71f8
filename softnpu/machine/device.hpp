// Properties of the device.
#pragma once

#include <cstdint>

namespace softnpu {

constexpr uint32_t kPageSize = 4096;

/// False for the generation 37xx.
bool imports_system_memory();
uint64_t system_memory_bytes();

}  // namespace softnpu

// What the device is like.
#pragma once

#include <cstdint>

namespace softnpu {

constexpr uint32_t kPageSize = 4096;

/// The generation 37xx cannot.
bool imports_system_memory();
uint64_t system_memory_bytes();

}  // namespace softnpu

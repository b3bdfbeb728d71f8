// The driver's one device, and the handles of the driver and of the device, which are the same in
// every call.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>

namespace softnpu {

constexpr uint16_t kDriverMajor = 1;
constexpr uint16_t kDriverMinor = 0;
constexpr uint32_t kDriverVersion = (uint32_t{kDriverMajor} << 16) | kDriverMinor;
constexpr uint32_t kPageSize = 4096;

ze_driver_handle_t the_driver();
ze_device_handle_t the_device();
// Throw for a null handle and for one that is not ours.
void check_driver(ze_driver_handle_t driver);
void check_device(ze_device_handle_t device);

// The generation 37xx cannot.
bool imports_system_memory();
uint64_t system_memory_bytes();
uint64_t monotonic_ns();

}  // namespace softnpu

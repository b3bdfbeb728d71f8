#pragma once

#include <optional>
#include <string>

#include "device_context.hpp"

namespace npu::ze {

/// Use of the DDR that the device can use.
struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t allocated_bytes = 0;
};
/// The device's DDR, and the context's share of it. Before graph extension 1.9, whose drivers did
/// not all answer in bytes, the total is the largest allocation and the rest 0.
MemoryUse query_memory(const DeviceContext& device);

/// Ticks of the device's clock in nanoseconds.
std::uint64_t timer_ns(const DeviceContext& device, std::uint64_t ticks);

/// Sets whether an idle context's memory leaves the device. Throws Error(kUnsupported) if the
/// driver has no such switch.
void set_idle_pruning(const DeviceContext& device, bool on);

/// Whether the compiler takes an option with this value; null: with any. Nullopt before graph
/// extension 1.11.
std::optional<bool> compiler_takes(const DeviceContext& device, const char* option,
                                   const char* value);

/// Build flags from the environment that a driver for developers adds to every model's; else "".
std::string extra_build_flags();

}  // namespace npu::ze

#pragma once

#include <optional>
#include <string>

#include "device_context.hpp"

namespace npu::ze {

/// In DDR that the device can use.
struct MemoryUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t allocated_bytes = 0;
};
/// DDR of the device, and what the context has of it. Before graph extension 1.9, whose drivers did
/// not all answer in bytes, the total is the largest allocation and the rest 0.
MemoryUse query_memory(const DeviceContext& device);

/// Ticks of the device's clock in nanoseconds.
std::uint64_t timer_ns(const DeviceContext& device, std::uint64_t ticks);

/// Whether an idle context's memory leaves the device. Throws Error(kUnsupported) where the driver
/// has no say in it.
void set_idle_pruning(const DeviceContext& device, bool on);

/// Whether the compiler takes an option with this value; null: with any. Unknown before graph
/// extension 1.11.
std::optional<bool> compiler_takes(const DeviceContext& device, const char* option,
                                   const char* value);

/// Build flags that a driver for developers adds to every model's, from the environment; else "".
std::string extra_build_flags();

}  // namespace npu::ze

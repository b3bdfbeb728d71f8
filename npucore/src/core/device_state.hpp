#pragma once

#include <atomic>

#include "core/import_cache.hpp"
#include "npucore/device.hpp"
#include "ze/device_context.hpp"

namespace npu::internal {

/// One context on one device, shared by everything of the process that runs there.
struct DeviceState {
  explicit DeviceState(ze::NpuDevice npu);

  ze::DeviceContext ze;
  DeviceInfo info;
  /// Set when the device hung or its context is poisoned: Device::open then makes a new one.
  std::atomic<bool> lost = false;
  ImportCache imports;
};

}  // namespace npu::internal

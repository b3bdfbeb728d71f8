#pragma once

#include <atomic>
#include <mutex>

#include "core/import_cache.hpp"
#include "npucore/device.hpp"
#include "ze/device_context.hpp"

namespace npu::internal {

/// A set of properties that threads share.
class SharedProperties {
 public:
  Properties values() const {
    std::scoped_lock lock(mutex_);
    return values_;
  }
  /// Those in `changes` get their new value.
  void set(const Properties& changes) {
    std::scoped_lock lock(mutex_);
    values_ = changes.over(values_);
  }

 private:
  mutable std::mutex mutex_;  // guards values_
  Properties values_;
};

/// One context on one device, shared by everything of the process that runs there.
struct DeviceState {
  explicit DeviceState(ze::NpuDevice npu);

  ze::DeviceContext ze;
  DeviceInfo info;
  /// Set when the device hung or its context is poisoned: Device::open then makes a new one.
  std::atomic<bool> lost = false;
  ImportCache imports;
  SharedProperties properties;  ///< what was set: defaults of everything that is compiled here
};

}  // namespace npu::internal

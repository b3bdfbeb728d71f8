#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "core/dmabuf_sources.hpp"
#include "core/import_cache.hpp"
#include "npucore/device.hpp"
#include "ze/device_context.hpp"
#include "ze/sysman.hpp"

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

/// One device with its context, shared by everything of the process that runs there.
struct DeviceState {
  explicit DeviceState(const ze::NpuDevice& npu);

  /// The context of now: a new one where the last was lost. Whoever makes something in it keeps it.
  std::shared_ptr<const ze::DeviceContext> ze() const;
  /// Since the last call.
  double utilization();

 private:
  mutable std::mutex mutex_;  // guards the two below
  std::optional<ze::EngineActivity> last_activity_;
  mutable std::shared_ptr<const ze::DeviceContext> context_;

 public:
  DeviceInfo info;
  ImportCache imports;
  DmabufSources dmabuf_sources;
  SharedProperties properties;  ///< what was set: defaults of everything that is compiled here
};

}  // namespace npu::internal

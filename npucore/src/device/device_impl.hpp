#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include <npucore/device.hpp>

#include "base/pimpl.hpp"
#include "properties/shared_properties.hpp"
#include "ze/device_context.hpp"
#include "ze/sysman.hpp"

#include "place.hpp"

namespace npu {

namespace internal {

/// The memory room's state for one device; opaque here.
struct Buffers;
std::shared_ptr<Buffers> make_buffers();

/// The facts that need no context; memory_bytes is the largest allocation.
DeviceInfo info_of(const ze::NpuDevice& npu);

}  // namespace internal

/// One device with its current context, shared by everything in the process that runs there.
struct NPU_LOCAL Device::Impl {
  explicit Impl(const ze::NpuDevice& npu);

  /// The current context; a new one if the last was lost. Objects made in a context keep it.
  std::shared_ptr<const ze::DeviceContext> context() const;
  /// Whether the driver may drop an idle context's memory, for this context and every later one.
  void set_idle_pruning(bool on);
  /// The share since the last call, as Device::utilization().
  double utilization();

 private:
  const std::shared_ptr<const ze::DeviceContext>& current() const;

  mutable std::mutex mutex_;          // guards the three below
  std::optional<bool> idle_pruning_;  ///< empty: never set
  std::optional<ze::EngineActivity> last_activity_;
  mutable std::shared_ptr<const ze::DeviceContext> context_;

 public:
  DeviceInfo info;           ///< as the driver gives it when the device is opened
  const bool imports_memfd;  ///< treats a memfd as a DMA-BUF: for tests
  const std::shared_ptr<internal::Buffers> buffers;
  internal::SharedProperties properties;  ///< defaults of everything that is compiled here
};

}  // namespace npu

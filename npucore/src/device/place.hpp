#pragma once

#include <memory>

#include <npucore/device.hpp>

#include "ze/device_context.hpp"

namespace npu::internal {

/// A device and one of its contexts, in which memory is made and graphs run. A device gets a new
/// context after a loss; objects made in the old one keep that place.
struct Place {
  std::shared_ptr<Device::Impl> device;
  std::shared_ptr<const ze::DeviceContext> context;

  bool operator==(const Place&) const = default;
};

/// The device and its current context.
Place place_on(const std::shared_ptr<Device::Impl>& device);
Place place_on(const Device& device);

}  // namespace npu::internal

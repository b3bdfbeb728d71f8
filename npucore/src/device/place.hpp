#pragma once

#include <memory>

#include <npucore/device.hpp>

#include "ze/device_context.hpp"

namespace npu::internal {

/// Where memory is made and graphs run: a device and one of its contexts. A device gets a new
/// context after a loss; whoever made something in the old one keeps that place.
struct Place {
  std::shared_ptr<Device::Impl> device;
  std::shared_ptr<const ze::DeviceContext> context;

  bool operator==(const Place&) const = default;
};

/// The device and its current context.
Place place_on(const std::shared_ptr<Device::Impl>& device);
Place place_on(const Device& device);

}  // namespace npu::internal

#pragma once

#include <string>
#include <vector>

#include "device_impl.hpp"

namespace npu::internal {

std::string device_property(const Device::Impl& device, const std::string& name);
/// COMPATIBILITY_CHECK, the only property with an argument.
std::string compatibility_property(const Device::Impl& device, const std::string& name,
                                   const std::string& requirements);
void set_device_property(Device::Impl& device, const std::string& name, const std::string& value);

/// The properties of a model with these options, which win over the device's. Throws for a device
/// other than the one asked for; applies the settings of context and process.
Properties effective_properties(Device::Impl& device, const Properties& options);

/// Requests to keep in flight.
std::uint32_t optimal_number_of_requests(const DeviceInfo& device, const Properties& properties);

/// "NAME:RW NAME:RO ..." for all that a device or a model lets one read.
std::string supported_properties(bool of_model);

}  // namespace npu::internal

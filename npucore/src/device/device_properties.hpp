#pragma once

#include <string>
#include <vector>

#include "core/device_state.hpp"

namespace npu::internal {

std::string device_property(const DeviceState& device, const std::string& name);
void set_device_property(DeviceState& device, const std::string& name, const std::string& value);

/// What holds for a model with these options: they win over the device's. Throws for a device that
/// is not the one asked for, and brings into force what concerns context and process.
Properties effective_properties(const DeviceState& device, const Properties& options);

/// Requests to keep in flight.
std::uint32_t optimal_number_of_requests(const DeviceInfo& device, const Properties& properties);
/// Most tiles that a model may be compiled for; 0: not known.
std::int64_t max_tiles(const DeviceInfo& device, const Properties& properties);

/// Whether the graph itself is to measure its layers.
bool wants_layer_times(const Properties& properties);

/// "NAME:RW NAME:RO ..." of what is readable on a device or on a model.
std::string supported_properties(bool of_model);

}  // namespace npu::internal

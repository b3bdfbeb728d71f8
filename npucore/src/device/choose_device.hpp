#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <npucore/device.hpp>

namespace npu::internal {

/// Whether the text looks like a PCI address, with or without its domain, or a UUID.
bool is_address(const std::string& text);

/// The index of the device with this PCI address or UUID; a real NPU comes before the software NPU.
/// Throws Error(kNotFound) that lists the devices and says why there is no real one, if there is
/// none, and Error(kInvalidArgument) if several real NPUs have it.
std::size_t choose_device(std::span<const DeviceInfo> devices, const std::string& address,
                          const std::string& why_no_real_one);

}  // namespace npu::internal

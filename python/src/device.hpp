#pragma once

#include <npucore/device.hpp>

#include "binding.hpp"

namespace pynpu {

/// Opens a device: "auto", "npu" or "software". Tells the software NPU where OpenVINO is first.
npu::Device open_device(const std::string& kind);
/// The device, or the one that "auto" opens for None.
npu::Device device_from(nb::handle device);
/// (major, minor, patch)
nb::tuple tuple_of(const npu::Version& version);

}  // namespace pynpu

#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// The names of devices that tools take, for help texts.
inline constexpr const char* kDeviceNames =
    "auto, npu, software, or an NPU's PCI address (0000:00:0b.0) or UUID";

/// Refuses other words than these; npu::Device::open(name) looks for the address.
inline CLI::Validator device_name() {
  return {[](const std::string& name) {
            constexpr std::size_t kUuidDigits = 32;
            const bool is_kind = name == "auto" || name == "npu" || name == "software";
            const bool may_be_address =
                name.find(':') != std::string::npos || name.size() >= kUuidDigits;
            return is_kind || may_be_address ? "" : "'" + name + "' is none of " + kDeviceNames;
          },
          "{auto,npu,software}"};
}

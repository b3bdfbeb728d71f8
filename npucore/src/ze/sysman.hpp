#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device_context.hpp"

namespace npu::ze {

/// The time that a device's engines have computed. Only differences mean something.
struct EngineActivity {
  std::uint64_t busy_us = 0;
  std::uint64_t at_us = 0;
};

/// The environment variable that makes loaders without zesInit tell how busy a device is. They read
/// it when they are first asked for a driver.
inline constexpr const char* kSysmanVariable = "ZES_ENABLE_SYSMAN";
/// The value for this loader; empty: leave it unset.
std::string sysman_setting(const Loader& loader);

/// The calls that engine_activity() needs, for messages.
inline constexpr const char* kActivityCalls =
    "zesInit, zesDriverGet, zesDeviceGet, zesDeviceGetProperties, zesDeviceEnumEngineGroups, "
    "zesEngineGetActivity";

/// Nothing if loader or driver do not tell.
std::optional<EngineActivity> engine_activity(const DeviceContext& device);

}  // namespace npu::ze

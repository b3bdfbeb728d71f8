#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device_context.hpp"

namespace npu::ze {

/// How long a device's engines have computed. Only differences mean something.
struct EngineActivity {
  std::uint64_t busy_us = 0;
  std::uint64_t at_us = 0;
};

/// Loaders without zesInit decide when they are first asked for a driver whether they will tell how
/// busy a device is: by this environment variable.
inline constexpr const char* kSysmanVariable = "ZES_ENABLE_SYSMAN";
/// What to set it to for this loader; empty: nothing.
std::string sysman_setting(const Loader& loader);

/// What loader and driver need to have for engine_activity(), for messages.
inline constexpr const char* kActivityCalls =
    "zesInit, zesDriverGet, zesDeviceGet, zesDeviceGetProperties, zesDeviceEnumEngineGroups, "
    "zesEngineGetActivity";

/// Nothing where loader or driver do not tell.
std::optional<EngineActivity> engine_activity(const DeviceContext& device);

}  // namespace npu::ze

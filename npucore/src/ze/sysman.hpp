#pragma once

#include <cstdint>
#include <optional>

#include "device_context.hpp"

namespace npu::ze {

/// How long a device's engines have computed. Only differences mean something.
struct EngineActivity {
  std::uint64_t busy_us = 0;
  std::uint64_t at_us = 0;
};

/// Nothing where loader or driver do not tell. Loaders without zesInit tell only when
/// ZES_ENABLE_SYSMAN=1 was set before they were first asked for a driver.
std::optional<EngineActivity> engine_activity(const DeviceContext& device);

}  // namespace npu::ze

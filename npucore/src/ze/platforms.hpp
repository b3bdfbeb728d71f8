// ze_npu's list of platforms, by their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ze_npu/platforms.h"

namespace npu::ze {

/// "3720", "4000", ...: every platform that is known, the oldest first.
std::vector<std::string> platform_names();
/// Null for a platform that is not known.
const ze_npu_platform_t* known_platform(const std::string& name);
/// The platform whose blobs have this number; empty for a number that cannot be a platform's.
std::string platform_of_blob(std::uint64_t number);

}  // namespace npu::ze

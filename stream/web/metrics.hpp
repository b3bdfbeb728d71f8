// /metrics, as OpenMetrics.
#pragma once

#include <string>
#include <vector>

#include "run/fleet.hpp"

namespace npustream::web {

constexpr const char* kMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

std::string metrics(const std::vector<StreamSnapshot>& streams,
                    const std::vector<DeviceReading>& devices);

}  // namespace npustream::web

// The objects of ZE_extension_profiling_data.
#pragma once

#include <ze_npu/ze_npu.h>

#include <memory>

#include "profiling_data.hpp"

namespace softnpu {

// Where a query's inference puts its times.
std::shared_ptr<ProfilingData> profiling_data(ze_graph_profiling_query_handle_t query);

}  // namespace softnpu

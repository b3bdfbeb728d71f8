#pragma once

#include <cstdint>

#include "graph.hpp"

namespace npu::ze {

ElementType element_type(ze_graph_argument_precision_t precision);

/// Reads one argument's properties, with the newest call that the driver's table has.
ArgumentInfo read_argument(const DeviceContext& device, ze_graph_handle_t graph,
                           std::uint32_t index);

}  // namespace npu::ze

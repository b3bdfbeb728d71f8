#pragma once

#include <cstdint>

#include "graph.hpp"

namespace npu::ze {

ElementType element_type(ze_graph_argument_precision_t precision);

/// What the driver tells about one argument, with the newest call that its table has.
ArgumentInfo read_argument(const DeviceContext& device, ze_graph_handle_t graph,
                           std::uint32_t index);

}  // namespace npu::ze

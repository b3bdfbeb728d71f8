#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <npucore/types.hpp>

#include "device_context.hpp"

namespace npu::ze {

/// One argument of a graph, as the driver describes it.
struct ArgumentInfo {
  std::uint32_t index = 0;  ///< for pfnSetArgumentValue
  bool is_input = false;
  std::string name;  ///< friendly name where the driver knows it, else the argument's own
  std::vector<std::string> tensor_names;
  ElementType type = ElementType::kUnknown;  ///< of the memory that is bound
  Shape shape;                               ///< a dynamic dimension has its upper bound
  bool takes_strides = false;                ///< tensors need not be dense
};

ElementType element_type(ze_graph_argument_precision_t precision);

/// Reads one argument's properties, with the newest call that the driver's table has.
ArgumentInfo read_argument(const DeviceContext& device, ze_graph_handle_t graph,
                           std::uint32_t index);

}  // namespace npu::ze

#include "argument.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/text.hpp"

namespace npu::ze {
namespace {

Shape shape_from_dims(const std::uint32_t* dims, std::uint32_t count) {
  return Shape(dims, dims + std::min(count, ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE));
}

/// Drivers before 1.2 do not tell the rank: take it from the layout, else drop trailing dimensions.
std::uint32_t rank_of(const ze_graph_argument_properties_t& properties) {
  switch (properties.deviceLayout) {
    case ZE_GRAPH_ARGUMENT_LAYOUT_C:
      return 1;
    case ZE_GRAPH_ARGUMENT_LAYOUT_HW:
    case ZE_GRAPH_ARGUMENT_LAYOUT_NC:
    case ZE_GRAPH_ARGUMENT_LAYOUT_CN:
      return 2;
    case ZE_GRAPH_ARGUMENT_LAYOUT_CHW:
      return 3;
    case ZE_GRAPH_ARGUMENT_LAYOUT_NCHW:
    case ZE_GRAPH_ARGUMENT_LAYOUT_NHWC:
    case ZE_GRAPH_ARGUMENT_LAYOUT_OIHW:
      return 4;
    case ZE_GRAPH_ARGUMENT_LAYOUT_NCDHW:
    case ZE_GRAPH_ARGUMENT_LAYOUT_NDHWC:
      return 5;
    default:
      break;
  }
  std::uint32_t rank = ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE;
  while (rank > 0 && properties.dims[rank - 1] == 1) --rank;
  return rank;
}

ArgumentInfo read_first_version(const DeviceContext& device, ze_graph_handle_t graph,
                                std::uint32_t index) {
  ze_graph_argument_properties_t properties = {};
  properties.stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES;
  device.check(device.graph->pfnGetArgumentProperties(graph, index, &properties),
               "pfnGetArgumentProperties");
  ArgumentInfo info;
  info.index = index;
  info.is_input = properties.type == ZE_GRAPH_ARGUMENT_TYPE_INPUT;
  info.name = base::bounded_string(properties.name);
  info.type = element_type(properties.devicePrecision);
  info.shape = shape_from_dims(properties.dims, rank_of(properties));
  return info;
}

ArgumentInfo read_third_version(const DeviceContext& device, ze_graph_handle_t graph,
                                std::uint32_t index) {
  auto properties = std::make_unique<ze_graph_argument_properties_3_t>();
  properties->stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3;
  ze_graph_argument_property_strides_t strides = {};
  strides.stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTY_STRIDES;
  if (device.graph.has(15)) {
    properties->pNext = &strides;
  }
  device.check(device.graph->pfnGetArgumentProperties3(graph, index, properties.get()),
               "pfnGetArgumentProperties3");
  ArgumentInfo info;
  info.takes_strides = strides.supportsDynamicStrides;
  info.index = index;
  info.is_input = properties->type == ZE_GRAPH_ARGUMENT_TYPE_INPUT;
  info.name = base::bounded_string(properties->debug_friendly_name);
  if (info.name.empty()) {
    info.name = base::bounded_string(properties->name);
  }
  const auto names =
      std::min(properties->associated_tensor_names_count, ZE_MAX_GRAPH_TENSOR_NAMES_SIZE);
  for (std::uint32_t name = 0; name < names; ++name) {
    info.tensor_names.push_back(base::bounded_string(properties->associated_tensor_names[name]));
  }
  info.type = element_type(properties->devicePrecision);
  info.shape = shape_from_dims(properties->dims, properties->dims_count);
  return info;
}

/// Argument properties hold five dimensions; the metadata has up to eight.
void take_long_shape(const GraphTable& table, ze_graph_handle_t graph, ArgumentInfo& info) {
  auto metadata = std::make_unique<ze_graph_argument_metadata_t>();
  metadata->stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA;
  if (table->pfnGraphGetArgumentMetadata(graph, info.index, metadata.get()) != ZE_RESULT_SUCCESS) {
    return;
  }
  if (metadata->shape_size <= info.shape.size() ||
      metadata->shape_size > ZE_MAX_GRAPH_TENSOR_REF_DIMS) {
    return;
  }
  Shape shape;
  for (std::uint32_t axis = 0; axis < metadata->shape_size; ++axis) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t dim = metadata->shape[axis];
    shape.push_back(dim > kMost ? -1 : static_cast<std::int64_t>(dim));
  }
  info.shape = std::move(shape);
}

}  // namespace

ElementType element_type(ze_graph_argument_precision_t precision) {
  // Indexed by the precision's number.
  constexpr ElementType kTypes[] = {
      ElementType::kUnknown, ElementType::kF32,     ElementType::kF16,     ElementType::kU16,
      ElementType::kU8,      ElementType::kI32,     ElementType::kI16,     ElementType::kI8,
      ElementType::kU1,      ElementType::kBF16,    ElementType::kU32,     ElementType::kU4,
      ElementType::kI4,      ElementType::kUnknown, ElementType::kBoolean, ElementType::kF64,
      ElementType::kU64,     ElementType::kI64,     ElementType::kNF4,     ElementType::kF8E4M3,
      ElementType::kF8E5M2,  ElementType::kF8E8M0,  ElementType::kU2,      ElementType::kUnknown};
  const auto number = static_cast<std::size_t>(precision);
  return number < std::size(kTypes) ? kTypes[number] : ElementType::kUnknown;
}

ArgumentInfo read_argument(const DeviceContext& device, ze_graph_handle_t graph,
                           std::uint32_t index) {
  const GraphTable& table = device.graph;
  ArgumentInfo info = table.has(2) ? read_third_version(device, graph, index)
                                   : read_first_version(device, graph, index);
  if (table.has(2) && info.shape.size() == ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE) {
    take_long_shape(table, graph, info);
  }
  return info;
}

}  // namespace npu::ze

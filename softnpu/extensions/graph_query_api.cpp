// Queries about a graph.
#include <algorithm>
#include <cstring>

#include "abi/handles.hpp"
#include "base/version.hpp"
#include "graph/graph.hpp"

#include "graph_api.hpp"
#include "validation.hpp"

namespace softnpu::graph_api {
namespace {

template <class Properties>
Graph& graph_for(ze_graph_handle_t graph, const Properties* properties) {
  auto& own = object_of<Graph>(graph);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  return own;
}

template <class Properties>
ze_result_t describe_argument(ze_graph_handle_t graph, uint32_t index, Properties* properties) {
  const auto& argument = graph_for(graph, properties).argument(index);
  fill(argument, *properties);
  return ZE_RESULT_SUCCESS;
}

// The link that asks whether the argument takes strides; null if there is none. Old clients leave a
// wrong stype and an uninitialised pNext, so only the right stype announces a chain.
ze_graph_argument_property_strides_t* find_strides(ze_graph_argument_properties_3_t& properties) {
  if (!graph_has(15) || properties.stype != ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3) {
    return nullptr;
  }
  for (auto* link = static_cast<ze_base_properties_t*>(properties.pNext); link != nullptr;
       link = static_cast<ze_base_properties_t*>(link->pNext)) {
    if (static_cast<uint32_t>(link->stype) == ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTY_STRIDES) {
      return reinterpret_cast<ze_graph_argument_property_strides_t*>(link);
    }
  }
  return nullptr;
}

}  // namespace

ze_result_t get_properties(ze_graph_handle_t graph, ze_graph_properties_t* properties) {
  auto& own = graph_for(graph, properties);
  check_stype(properties->stype, ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES);
  properties->numGraphArgs = static_cast<uint32_t>(own.arguments().size());
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_properties2(ze_graph_handle_t graph, ze_graph_properties_2_t* properties) {
  auto& own = graph_for(graph, properties);
  properties->numGraphArgs = static_cast<uint32_t>(own.arguments().size());
  properties->initStageRequired = ZE_GRAPH_STAGE_INITIALIZE;
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_properties3(ze_graph_handle_t graph, ze_graph_properties_3_t* properties) {
  auto& own = graph_for(graph, properties);
  properties->numGraphArgs = static_cast<uint32_t>(own.arguments().size());
  properties->initStageRequired = ZE_GRAPH_STAGE_INITIALIZE;
  properties->flags = own.property_flags();
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_argument_properties(ze_graph_handle_t graph, uint32_t index,
                                    ze_graph_argument_properties_t* properties) {
  return describe_argument(graph, index, properties);
}

ze_result_t get_argument_properties2(ze_graph_handle_t graph, uint32_t index,
                                     ze_graph_argument_properties_2_t* properties) {
  return describe_argument(graph, index, properties);
}

ze_result_t get_argument_properties3(ze_graph_handle_t graph, uint32_t index,
                                     ze_graph_argument_properties_3_t* properties) {
  const ze_result_t result = describe_argument(graph, index, properties);
  if (auto* const strides = find_strides(*properties)) {
    fill(object_of<Graph>(graph).argument(index), *strides);
  }
  return result;
}

ze_result_t get_argument_metadata(ze_graph_handle_t graph, uint32_t index,
                                  ze_graph_argument_metadata_t* metadata) {
  return describe_argument(graph, index, metadata);
}

ze_result_t get_native_binary(ze_graph_handle_t graph, size_t* size, uint8_t* binary) {
  const auto bytes = graph_for(graph, size).binary();
  if (binary == nullptr) {
    *size = bytes.size();
    return ZE_RESULT_SUCCESS;
  }
  *size = std::min(*size, bytes.size());
  std::memcpy(binary, bytes.data(), *size);
  return ZE_RESULT_SUCCESS;
}

ze_result_t get_native_binary2(ze_graph_handle_t graph, size_t* size, const uint8_t** binary) {
  const auto bytes = graph_for(graph, size).binary();
  require(binary != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *size = bytes.size();
  *binary = reinterpret_cast<const uint8_t*>(bytes.data());
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu::graph_api

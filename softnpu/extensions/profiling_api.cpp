// ZE_extension_profiling_data.
#include <cstring>

#include "abi/entry.hpp"
#include "graph/graph.hpp"
#include "graph/profiling.hpp"

#include "build_log.hpp"
#include "extensions.hpp"

namespace softnpu {
namespace {

ze_result_t pool_create(ze_graph_handle_t graph, uint32_t count,
                        ze_graph_profiling_pool_handle_t* pool) {
  auto& own = object_of<Graph>(graph);
  require(pool != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(count != 0, ZE_RESULT_ERROR_INVALID_SIZE);
  require(own.profiling(), ZE_RESULT_ERROR_NOT_AVAILABLE);
  hand_out(std::make_unique<ProfilingPool>(count), pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t pool_destroy(ze_graph_profiling_pool_handle_t pool) {
  require(!object_of<ProfilingPool>(pool).in_use(), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  take_back<ProfilingPool>(pool);
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_create(ze_graph_profiling_pool_handle_t pool, uint32_t index,
                         ze_graph_profiling_query_handle_t* query) {
  auto& owner = object_of<ProfilingPool>(pool);
  require(query != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(index < owner.count(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  require(owner.take(index), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  hand_out(std::make_unique<ProfilingQuery>(owner, index), query);
  return ZE_RESULT_SUCCESS;
}

ze_result_t query_destroy(ze_graph_profiling_query_handle_t query) {
  take_back<ProfilingQuery>(query);
  return ZE_RESULT_SUCCESS;
}

template <class Record>
void copy_records(const std::vector<Record>& records, uint32_t* size, uint8_t* data) {
  const auto full = static_cast<uint32_t>(records.size() * sizeof(Record));
  if (data == nullptr || *size == 0) {
    *size = full;
    return;
  }
  *size = std::min(*size, full);
  if (*size != 0) {
    std::memcpy(data, records.data(), *size);
  }
}

// RAW data are the layers' records: the device has nothing rawer.
ze_result_t query_get_data(ze_graph_profiling_query_handle_t query, ze_graph_profiling_type_t type,
                           uint32_t* size, uint8_t* data) {
  const auto& measured = object_of<ProfilingQuery>(query).data();
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  switch (type) {
    case ZE_GRAPH_PROFILING_LAYER_LEVEL:
    case ZE_GRAPH_PROFILING_RAW:
      copy_records(measured->layers(), size, data);
      return ZE_RESULT_SUCCESS;
    case ZE_GRAPH_PROFILING_TASK_LEVEL:
      copy_records(measured->tasks(), size, data);
      return ZE_RESULT_SUCCESS;
  }
  throw Failure(ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

ze_result_t get_data_properties(ze_device_handle_t device,
                                ze_device_profiling_data_properties_t* properties) {
  check_device(device);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  properties->extensionVersion = ZE_PROFILING_DATA_EXT_VERSION_1_0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t log_get_string(ze_graph_profiling_query_handle_t query, uint32_t* size, char* text) {
  object_of<ProfilingQuery>(query);
  copy_text({}, size, text);
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void* profiling_table() {
  static ze_graph_profiling_dditable_ext_t table = {
      &ExtensionEntry<"pfnProfilingPoolCreate", &pool_create>::call,
      &ExtensionEntry<"pfnProfilingPoolDestroy", &pool_destroy>::call,
      &ExtensionEntry<"pfnProfilingQueryCreate", &query_create>::call,
      &ExtensionEntry<"pfnProfilingQueryDestroy", &query_destroy>::call,
      &ExtensionEntry<"pfnProfilingQueryGetData", &query_get_data>::call,
      &ExtensionEntry<"pfnDeviceGetProfilingDataProperties", &get_data_properties>::call,
      &ExtensionEntry<"pfnProfilingLogGetString", &log_get_string>::call,
  };
  return &table;
}

}  // namespace softnpu

// The functions of ZE_extension_graph, in the order of its table.
#pragma once

#include <ze_npu/ze_npu.h>

namespace softnpu::graph_api {

// graph_create_api.cpp
ze_result_t create(ze_context_handle_t context, ze_device_handle_t device,
                   const ze_graph_desc_t* desc, ze_graph_handle_t* graph);
ze_result_t create2(ze_context_handle_t context, ze_device_handle_t device,
                    const ze_graph_desc_2_t* desc, ze_graph_handle_t* graph);
ze_result_t create3(ze_context_handle_t context, ze_device_handle_t device,
                    const ze_graph_desc_2_t* desc, ze_graph_handle_t* graph,
                    ze_graph_build_log_handle_t* log);
ze_result_t destroy(ze_graph_handle_t graph);
ze_result_t initialize(ze_graph_handle_t graph);
ze_result_t build_log_get_string(ze_graph_handle_t graph, uint32_t* size, char* text);
ze_result_t build_log_get_string2(ze_graph_build_log_handle_t log, uint32_t* size, char* text);
ze_result_t build_log_destroy(ze_graph_build_log_handle_t log);

// graph_query_api.cpp
ze_result_t get_properties(ze_graph_handle_t graph, ze_graph_properties_t* properties);
ze_result_t get_properties2(ze_graph_handle_t graph, ze_graph_properties_2_t* properties);
ze_result_t get_properties3(ze_graph_handle_t graph, ze_graph_properties_3_t* properties);
ze_result_t get_argument_properties(ze_graph_handle_t graph, uint32_t index,
                                    ze_graph_argument_properties_t* properties);
ze_result_t get_argument_properties2(ze_graph_handle_t graph, uint32_t index,
                                     ze_graph_argument_properties_2_t* properties);
ze_result_t get_argument_properties3(ze_graph_handle_t graph, uint32_t index,
                                     ze_graph_argument_properties_3_t* properties);
ze_result_t get_argument_metadata(ze_graph_handle_t graph, uint32_t index,
                                  ze_graph_argument_metadata_t* metadata);
ze_result_t get_native_binary(ze_graph_handle_t graph, size_t* size, uint8_t* binary);
ze_result_t get_native_binary2(ze_graph_handle_t graph, size_t* size, const uint8_t** binary);

// graph_run_api.cpp
ze_result_t set_argument_value(ze_graph_handle_t graph, uint32_t index, const void* pointer);
ze_result_t set_argument_value2(ze_graph_handle_t graph, uint32_t index, const void* chain);
ze_result_t evict(ze_graph_handle_t graph);
ze_result_t append_initialize(ze_command_list_handle_t list, ze_graph_handle_t graph,
                              ze_event_handle_t signal, uint32_t wait_count,
                              ze_event_handle_t* waits);
ze_result_t append_execute(ze_command_list_handle_t list, ze_graph_handle_t graph,
                           ze_graph_profiling_query_handle_t query, ze_event_handle_t signal,
                           uint32_t wait_count, ze_event_handle_t* waits);

// graph_compiler_api.cpp
ze_result_t device_get_graph_properties(ze_device_handle_t device,
                                        ze_device_graph_properties_t* properties);
ze_result_t device_get_graph_properties2(ze_device_handle_t device,
                                         ze_device_graph_properties_2_t* properties);
ze_result_t query_network_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_graph_desc_t* desc,
                                 ze_graph_query_network_handle_t* query);
ze_result_t query_network_create2(ze_context_handle_t context, ze_device_handle_t device,
                                  const ze_graph_desc_2_t* desc,
                                  ze_graph_query_network_handle_t* query);
ze_result_t query_network_destroy(ze_graph_query_network_handle_t query);
ze_result_t query_network_get_supported_layers(ze_graph_query_network_handle_t query, size_t* size,
                                               char* layers);
ze_result_t query_context_memory(ze_context_handle_t context, ze_graph_memory_query_type_t type,
                                 ze_graph_memory_query_t* query);
ze_result_t compiler_get_supported_options(ze_device_handle_t device, ze_npu_options_type_t type,
                                           size_t* size, char* options);
ze_result_t compiler_is_option_supported(ze_device_handle_t device, ze_npu_options_type_t type,
                                         const char* option, const char* value);

}  // namespace softnpu::graph_api

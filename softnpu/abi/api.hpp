// The driver's functions, named after the Level Zero functions that they implement; the tables in
// ddi.inc point at them. They check their arguments, throw softnpu::Failure, and leave the C
// wall to entry.hpp.
#pragma once

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include <ze_npu/ze_npu.h>

namespace softnpu {

/// Description for zeInitDrivers, which the oldest supported headers lack (specification 1.10).
struct InitDriverTypeDesc {
  uint32_t stype;
  const void* pNext;
  uint32_t flags;
};

ze_result_t init(ze_init_flags_t flags);
ze_result_t init_drivers(uint32_t* count, ze_driver_handle_t* drivers, InitDriverTypeDesc* desc);

ze_result_t driver_get(uint32_t* count, ze_driver_handle_t* drivers);
ze_result_t driver_get_api_version(ze_driver_handle_t driver, ze_api_version_t* version);
ze_result_t driver_get_properties(ze_driver_handle_t driver, ze_driver_properties_t* properties);
ze_result_t driver_get_ipc_properties(ze_driver_handle_t driver,
                                      ze_driver_ipc_properties_t* properties);
ze_result_t driver_get_extension_properties(ze_driver_handle_t driver, uint32_t* count,
                                            ze_driver_extension_properties_t* properties);
ze_result_t driver_get_extension_function_address(ze_driver_handle_t driver, const char* name,
                                                  void** address);
ze_result_t driver_get_last_error_description(ze_driver_handle_t driver, const char** text);

ze_result_t device_get(ze_driver_handle_t driver, uint32_t* count, ze_device_handle_t* devices);
ze_result_t device_get_sub_devices(ze_device_handle_t device, uint32_t* count,
                                   ze_device_handle_t* devices);
ze_result_t device_get_root_device(ze_device_handle_t device, ze_device_handle_t* root);
ze_result_t device_get_properties(ze_device_handle_t device, ze_device_properties_t* properties);
ze_result_t device_get_compute_properties(ze_device_handle_t device,
                                          ze_device_compute_properties_t* properties);
ze_result_t device_get_command_queue_group_properties(
    ze_device_handle_t device, uint32_t* count, ze_command_queue_group_properties_t* properties);
ze_result_t device_get_memory_properties(ze_device_handle_t device, uint32_t* count,
                                         ze_device_memory_properties_t* properties);
ze_result_t device_get_memory_access_properties(ze_device_handle_t device,
                                                ze_device_memory_access_properties_t* properties);
ze_result_t device_get_image_properties(ze_device_handle_t device,
                                        ze_device_image_properties_t* properties);
ze_result_t device_get_external_memory_properties(
    ze_device_handle_t device, ze_device_external_memory_properties_t* properties);
ze_result_t device_get_p2p_properties(ze_device_handle_t device, ze_device_handle_t peer,
                                      ze_device_p2p_properties_t* properties);
ze_result_t device_get_status(ze_device_handle_t device);
ze_result_t device_get_global_timestamps(ze_device_handle_t device, uint64_t* host,
                                         uint64_t* device_time);
ze_result_t device_pci_get_properties_ext(ze_device_handle_t device,
                                          ze_pci_ext_properties_t* properties);

ze_result_t context_create(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                           ze_context_handle_t* context);
ze_result_t context_create_ex(ze_driver_handle_t driver, const ze_context_desc_t* desc,
                              uint32_t device_count, ze_device_handle_t* devices,
                              ze_context_handle_t* context);
ze_result_t context_destroy(ze_context_handle_t context);
ze_result_t context_get_status(ze_context_handle_t context);

ze_result_t mem_alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* device,
                             const ze_host_mem_alloc_desc_t* host, size_t size, size_t alignment,
                             ze_device_handle_t device_handle, void** pointer);
ze_result_t mem_alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t* desc,
                             size_t size, size_t alignment, ze_device_handle_t device,
                             void** pointer);
ze_result_t mem_alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t* desc,
                           size_t size, size_t alignment, void** pointer);
ze_result_t mem_free(ze_context_handle_t context, void* pointer);
ze_result_t mem_free_ext(ze_context_handle_t context, const ze_memory_free_ext_desc_t* desc,
                         void* pointer);
ze_result_t mem_get_alloc_properties(ze_context_handle_t context, const void* pointer,
                                     ze_memory_allocation_properties_t* properties,
                                     ze_device_handle_t* device);
ze_result_t mem_get_address_range(ze_context_handle_t context, const void* pointer, void** base,
                                  size_t* size);

ze_result_t command_queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                 const ze_command_queue_desc_t* desc,
                                 ze_command_queue_handle_t* queue);
ze_result_t command_queue_destroy(ze_command_queue_handle_t queue);
ze_result_t command_queue_execute_command_lists(ze_command_queue_handle_t queue, uint32_t count,
                                                ze_command_list_handle_t* lists,
                                                ze_fence_handle_t fence);
ze_result_t command_queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout_ns);
ze_result_t command_queue_get_ordinal(ze_command_queue_handle_t queue, uint32_t* ordinal);
ze_result_t command_queue_get_index(ze_command_queue_handle_t queue, uint32_t* index);

ze_result_t command_list_create(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_list_desc_t* desc, ze_command_list_handle_t* list);
ze_result_t command_list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                          const ze_command_queue_desc_t* desc,
                                          ze_command_list_handle_t* list);
ze_result_t command_list_destroy(ze_command_list_handle_t list);
ze_result_t command_list_close(ze_command_list_handle_t list);
ze_result_t command_list_reset(ze_command_list_handle_t list);
ze_result_t command_list_host_synchronize(ze_command_list_handle_t list, uint64_t timeout_ns);
ze_result_t command_list_get_device_handle(ze_command_list_handle_t list,
                                           ze_device_handle_t* device);
ze_result_t command_list_get_context_handle(ze_command_list_handle_t list,
                                            ze_context_handle_t* context);
ze_result_t command_list_get_ordinal(ze_command_list_handle_t list, uint32_t* ordinal);
ze_result_t command_list_is_immediate(ze_command_list_handle_t list, ze_bool_t* immediate);
ze_result_t command_list_append_write_global_timestamp(ze_command_list_handle_t list,
                                                       uint64_t* destination,
                                                       ze_event_handle_t signal,
                                                       uint32_t wait_count,
                                                       ze_event_handle_t* waits);
ze_result_t command_list_append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal,
                                        uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_append_memory_copy(ze_command_list_handle_t list, void* destination,
                                            const void* source, size_t size,
                                            ze_event_handle_t signal, uint32_t wait_count,
                                            ze_event_handle_t* waits);
ze_result_t command_list_append_memory_fill(ze_command_list_handle_t list, void* pointer,
                                            const void* pattern, size_t pattern_size, size_t size,
                                            ze_event_handle_t signal, uint32_t wait_count,
                                            ze_event_handle_t* waits);
ze_result_t command_list_append_memory_copy_region(
    ze_command_list_handle_t list, void* destination, const ze_copy_region_t* destination_region,
    uint32_t destination_pitch, uint32_t destination_slice_pitch, const void* source,
    const ze_copy_region_t* source_region, uint32_t source_pitch, uint32_t source_slice_pitch,
    ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t* waits);
ze_result_t command_list_append_signal_event(ze_command_list_handle_t list,
                                             ze_event_handle_t event);
ze_result_t command_list_append_wait_on_events(ze_command_list_handle_t list, uint32_t count,
                                               ze_event_handle_t* events);
ze_result_t command_list_append_event_reset(ze_command_list_handle_t list, ze_event_handle_t event);

ze_result_t command_list_get_next_command_id(ze_command_list_handle_t list,
                                             const ze_npu_core_mutable_command_id_exp_desc_t* desc,
                                             uint64_t* id);
ze_result_t command_list_update_mutable_commands(
    ze_command_list_handle_t list, const ze_npu_core_mutable_commands_exp_desc_t* desc);

ze_result_t event_pool_create(ze_context_handle_t context, const ze_event_pool_desc_t* desc,
                              uint32_t device_count, ze_device_handle_t* devices,
                              ze_event_pool_handle_t* pool);
ze_result_t event_pool_destroy(ze_event_pool_handle_t pool);
ze_result_t event_pool_get_context_handle(ze_event_pool_handle_t pool,
                                          ze_context_handle_t* context);
ze_result_t event_pool_get_flags(ze_event_pool_handle_t pool, ze_event_pool_flags_t* flags);
ze_result_t event_create(ze_event_pool_handle_t pool, const ze_event_desc_t* desc,
                         ze_event_handle_t* event);
ze_result_t event_destroy(ze_event_handle_t event);
ze_result_t event_host_signal(ze_event_handle_t event);
ze_result_t event_host_synchronize(ze_event_handle_t event, uint64_t timeout_ns);
ze_result_t event_query_status(ze_event_handle_t event);
ze_result_t event_host_reset(ze_event_handle_t event);
ze_result_t event_get_event_pool(ze_event_handle_t event, ze_event_pool_handle_t* pool);

ze_result_t fence_create(ze_command_queue_handle_t queue, const ze_fence_desc_t* desc,
                         ze_fence_handle_t* fence);
ze_result_t fence_destroy(ze_fence_handle_t fence);
ze_result_t fence_host_synchronize(ze_fence_handle_t fence, uint64_t timeout_ns);
ze_result_t fence_query_status(ze_fence_handle_t fence);
ze_result_t fence_reset(ze_fence_handle_t fence);

ze_result_t zes_init(uint32_t flags);
ze_result_t zes_driver_get(uint32_t* count, zes_driver_handle_t* drivers);
ze_result_t zes_device_get(zes_driver_handle_t driver, uint32_t* count,
                           zes_device_handle_t* devices);
ze_result_t zes_device_get_properties(zes_device_handle_t device,
                                      zes_device_properties_t* properties);
ze_result_t zes_device_enum_engine_groups(zes_device_handle_t device, uint32_t* count,
                                          zes_engine_handle_t* engines);
ze_result_t zes_engine_get_properties(zes_engine_handle_t engine,
                                      zes_engine_properties_t* properties);
ze_result_t zes_engine_get_activity(zes_engine_handle_t engine, zes_engine_stats_t* stats);

}  // namespace softnpu

// Handles <-> objects, and the translation of the loader's handles to the driver's own.
#pragma once

#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>

#include <memory>
#include <vector>

#include "base/failure.hpp"

namespace softnpu {

/// The driver and its one device have the same handles in every call.
ze_driver_handle_t the_driver();
ze_device_handle_t the_device();
/// Throw for a null handle and for a foreign one.
void check_driver(ze_driver_handle_t driver);
void check_device(ze_device_handle_t device);

template <class Object, class Handle>
Object& object_of(Handle handle, ze_result_t if_null = ZE_RESULT_ERROR_INVALID_NULL_HANDLE) {
  require(handle != nullptr, if_null);
  return *reinterpret_cast<Object*>(handle);
}

/// Hands an object over to the caller, who returns it through `take_back`.
template <class Handle, class Object>
void hand_out(std::unique_ptr<Object> object, Handle* handle) {
  *handle = reinterpret_cast<Handle>(object.release());
}

template <class Object, class Handle>
std::unique_ptr<Object> take_back(Handle handle) {
  return std::unique_ptr<Object>(&object_of<Object>(handle));
}

/// The driver's handle for one that an extension function got; throws UNKNOWN if the loader does
/// not know it.
void* translated_handle(zel_handle_type_t type, void* handle);

inline ze_context_handle_t translated(ze_context_handle_t handle) {
  return static_cast<ze_context_handle_t>(translated_handle(ZEL_HANDLE_CONTEXT, handle));
}
inline ze_device_handle_t translated(ze_device_handle_t handle) {
  return static_cast<ze_device_handle_t>(translated_handle(ZEL_HANDLE_DEVICE, handle));
}
inline ze_command_queue_handle_t translated(ze_command_queue_handle_t handle) {
  return static_cast<ze_command_queue_handle_t>(
      translated_handle(ZEL_HANDLE_COMMAND_QUEUE, handle));
}
inline ze_command_list_handle_t translated(ze_command_list_handle_t handle) {
  return static_cast<ze_command_list_handle_t>(translated_handle(ZEL_HANDLE_COMMAND_LIST, handle));
}
inline ze_event_handle_t translated(ze_event_handle_t handle) {
  return static_cast<ze_event_handle_t>(translated_handle(ZEL_HANDLE_EVENT, handle));
}
/// Graphs, build logs, profiling handles and plain values are the driver's own: no translation.
template <class T>
T translated(T value) {
  return value;
}

/// Translates an array of events.
std::vector<ze_event_handle_t> translated_events(uint32_t count, ze_event_handle_t* events);

}  // namespace softnpu

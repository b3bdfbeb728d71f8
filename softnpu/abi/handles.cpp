#include "handles.hpp"

#include <dlfcn.h>

namespace softnpu {
namespace {

char driver_object;  // its address is the driver's handle
char device_object;  // its address is the device's handle

using Translate = ze_result_t(ZE_APICALL*)(zel_handle_type_t, void*, void**);

// Null if the driver was opened without a loader: then no handle is a loader's.
Translate find_translate() {
  void* const loader = ::dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (loader == nullptr) return nullptr;
  return reinterpret_cast<Translate>(::dlsym(loader, "zelLoaderTranslateHandle"));
}

}  // namespace

ze_driver_handle_t the_driver() {
  return reinterpret_cast<ze_driver_handle_t>(&driver_object);
}

ze_device_handle_t the_device() {
  return reinterpret_cast<ze_device_handle_t>(&device_object);
}

void check_driver(ze_driver_handle_t driver) {
  require(driver == the_driver(), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void check_device(ze_device_handle_t device) {
  require(device == the_device(), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void* translated_handle(zel_handle_type_t type, void* handle) {
  static const Translate translate = find_translate();
  if (handle == nullptr || translate == nullptr) return handle;
  void* own = nullptr;
  require(translate(type, handle, &own) == ZE_RESULT_SUCCESS, ZE_RESULT_ERROR_UNKNOWN);
  return own;
}

std::vector<ze_event_handle_t> translated_events(uint32_t count, ze_event_handle_t* events) {
  require(count == 0 || events != nullptr, ZE_RESULT_ERROR_INVALID_SIZE);
  std::vector<ze_event_handle_t> own;
  own.reserve(count);
  for (uint32_t i = 0; i < count; ++i) own.push_back(translated(events[i]));
  return own;
}

}  // namespace softnpu

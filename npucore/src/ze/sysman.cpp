#include "sysman.hpp"

#include <dlfcn.h>
#include <level_zero/zes_api.h>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace npu::ze {
namespace {

// Declared here: headers of loader 1.8 lack the first three.
using Init = ze_result_t(ZE_APICALL*)(std::uint32_t);
using DriverGet = ze_result_t(ZE_APICALL*)(std::uint32_t*, zes_driver_handle_t*);
using DeviceGet = ze_result_t(ZE_APICALL*)(zes_driver_handle_t, std::uint32_t*,
                                           zes_device_handle_t*);

template <class Function>
Function symbol(const Loader& loader, const char* name) {
  return reinterpret_cast<Function>(::dlsym(loader.handle, name));
}

template <class Handle, class Get>
std::vector<Handle> list(Get get) {
  std::uint32_t count = 0;
  if (get(&count, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<Handle> handles(count);
  if (get(&count, handles.data()) != ZE_RESULT_SUCCESS) {
    count = 0;
  }
  handles.resize(count);
  return handles;
}

bool is_same_device(const Loader& loader, zes_device_handle_t candidate, const NpuDevice& npu) {
  const auto get_properties =
      symbol<decltype(&::zesDeviceGetProperties)>(loader, "zesDeviceGetProperties");
  zes_device_properties_t properties = {};
  properties.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  return get_properties && get_properties(candidate, &properties) == ZE_RESULT_SUCCESS &&
         properties.core.type == ZE_DEVICE_TYPE_VPU &&
         properties.core.deviceId == npu.properties.deviceId && npu.name() == properties.core.name;
}

/// The handle from zesInit, else the core's, which older loaders take for Sysman too.
zes_device_handle_t sysman_handle(const DeviceContext& device) {
  const Loader& loader = device.loader;
  const auto init = symbol<Init>(loader, "zesInit");
  const auto driver_get = symbol<DriverGet>(loader, "zesDriverGet");
  const auto device_get = symbol<DeviceGet>(loader, "zesDeviceGet");
  if (init && driver_get && device_get) {
    if (init(0) != ZE_RESULT_SUCCESS) return nullptr;
    for (auto* driver : list<zes_driver_handle_t>(driver_get)) {
      const auto candidates =
          list<zes_device_handle_t>([&](std::uint32_t* count, zes_device_handle_t* devices) {
            return device_get(driver, count, devices);
          });
      for (auto* candidate : candidates) {
        if (is_same_device(loader, candidate, device.npu)) return candidate;
      }
    }
    return nullptr;
  }
  const char* users_choice = std::getenv(kSysmanVariable);
  if (users_choice && std::string_view(users_choice) != "1") return nullptr;
  return reinterpret_cast<zes_device_handle_t>(device.npu.device);
}

}  // namespace

std::string sysman_setting(const Loader& loader) {
  return loader.has("zesInit") ? "" : "1";
}

std::optional<EngineActivity> engine_activity(const DeviceContext& device) {
  const auto enumerate =
      symbol<decltype(&::zesDeviceEnumEngineGroups)>(device.loader, "zesDeviceEnumEngineGroups");
  const auto get_activity =
      symbol<decltype(&::zesEngineGetActivity)>(device.loader, "zesEngineGetActivity");
  auto* const handle = sysman_handle(device);
  if (!handle || !enumerate || !get_activity) return std::nullopt;
  const auto engines =
      list<zes_engine_handle_t>([&](std::uint32_t* count, zes_engine_handle_t* groups) {
        return enumerate(handle, count, groups);
      });
  zes_engine_stats_t stats = {};
  if (engines.empty() || get_activity(engines.front(), &stats) != ZE_RESULT_SUCCESS) {
    return std::nullopt;
  }
  return EngineActivity{stats.activeTime, stats.timestamp};
}

}  // namespace npu::ze

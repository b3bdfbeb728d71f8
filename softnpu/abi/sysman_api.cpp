// The part of Sysman that Intel's driver has for NPUs: the device, and the time its engine has been
// busy. A Sysman handle is the core handle of the same object.
#include <cstring>
#include <string>
#include <string_view>

#include "base/version.hpp"
#include "machine/engine.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

constexpr uint64_t kNsPerUs = 1000;

char engine_object;  // its address is the engine group's handle

void check_engine(zes_engine_handle_t engine) {
  require(engine == reinterpret_cast<zes_engine_handle_t>(&engine_object),
          ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

void put(char (&out)[ZES_STRING_PROPERTY_SIZE], std::string_view text) {
  std::memset(out, 0, sizeof out);
  text.copy(out, sizeof out - 1);
}

// Every Sysman list here has one entry.
void list_one(uint32_t* count) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *count = 1;
}

}  // namespace

ze_result_t zes_init(uint32_t) {
  return init(0);
}

ze_result_t zes_driver_get(uint32_t* count, zes_driver_handle_t* drivers) {
  return driver_get(count, drivers);
}

ze_result_t zes_device_get(zes_driver_handle_t driver, uint32_t* count,
                           zes_device_handle_t* devices) {
  return device_get(driver, count, devices);
}

ze_result_t zes_device_get_properties(zes_device_handle_t device,
                                      zes_device_properties_t* properties) {
  check_device(device);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  device_get_properties(device, &properties->core);
  properties->numSubdevices = 0;
  put(properties->serialNumber, "unknown");
  put(properties->boardNumber, "unknown");
  put(properties->brandName, "npucore");
  put(properties->modelName, properties->core.name);
  put(properties->vendorName, "npucore");
  put(properties->driverVersion, std::to_string(kDriverMajor) + "." + std::to_string(kDriverMinor));
  return ZE_RESULT_SUCCESS;
}

ze_result_t zes_device_enum_engine_groups(zes_device_handle_t device, uint32_t* count,
                                          zes_engine_handle_t* engines) {
  check_device(device);
  list_one(count);
  if (engines != nullptr) {
    engines[0] = reinterpret_cast<zes_engine_handle_t>(&engine_object);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zes_engine_get_properties(zes_engine_handle_t engine,
                                      zes_engine_properties_t* properties) {
  check_engine(engine);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  properties->type = ZES_ENGINE_GROUP_COMPUTE_ALL;
  properties->onSubdevice = 0;
  properties->subdeviceId = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zes_engine_get_activity(zes_engine_handle_t engine, zes_engine_stats_t* stats) {
  check_engine(engine);
  require(stats != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const Engine::Activity activity = Engine::instance().activity();
  stats->activeTime = activity.busy_ns / kNsPerUs;
  stats->timestamp = activity.at_ns / kNsPerUs;
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu

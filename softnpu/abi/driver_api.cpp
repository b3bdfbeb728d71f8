// zeInit, zeInitDrivers and the driver's properties.
#include <atomic>

#include <ze_npu/ze_npu.h>

#include "base/version.hpp"

#include "api.hpp"
#include "handles.hpp"

namespace softnpu {
namespace {

constexpr ze_init_flags_t kInitGpuOnly = 1;  // zeInit's flag bits
constexpr ze_init_flags_t kInitVpuOnly = 2;
constexpr uint32_t kSpecificationVersion = ZE_MAKE_VERSION(1, 10);

std::atomic<bool> initialised{false};

ze_result_t list_drivers(uint32_t* count, ze_driver_handle_t* drivers) {
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *count = 1;
  if (drivers != nullptr) {
    drivers[0] = the_driver();
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t init(ze_init_flags_t flags) {
  const bool others_only = (flags & kInitGpuOnly) != 0 && (flags & kInitVpuOnly) == 0;
  require(!others_only, ZE_RESULT_ERROR_UNINITIALIZED);
  initialised = true;
  return ZE_RESULT_SUCCESS;
}

ze_result_t init_drivers(uint32_t* count, ze_driver_handle_t* drivers, InitDriverTypeDesc* desc) {
  require(count != nullptr && desc != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  require(desc->flags != 0, ZE_RESULT_ERROR_INVALID_ENUMERATION);
  require((desc->flags & kZeNpuCoreInitDriverTypeFlagNpu) != 0, ZE_RESULT_ERROR_UNINITIALIZED);
  initialised = true;
  return list_drivers(count, drivers);
}

ze_result_t driver_get(uint32_t* count, ze_driver_handle_t* drivers) {
  require(initialised, ZE_RESULT_ERROR_UNINITIALIZED);
  return list_drivers(count, drivers);
}

ze_result_t driver_get_api_version(ze_driver_handle_t driver, ze_api_version_t* version) {
  check_driver(driver);
  require(version != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *version = static_cast<ze_api_version_t>(kSpecificationVersion);
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_properties(ze_driver_handle_t driver, ze_driver_properties_t* properties) {
  check_driver(driver);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  properties->uuid = ze_intel_npu_driver_uuid;
  properties->driverVersion = kDriverVersion;
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_ipc_properties(ze_driver_handle_t driver,
                                      ze_driver_ipc_properties_t* properties) {
  check_driver(driver);
  require(properties != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  properties->flags = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_last_error_description(ze_driver_handle_t driver, const char** text) {
  check_driver(driver);
  require(text != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  *text = "";
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu

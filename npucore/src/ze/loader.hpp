#pragma once

#include <level_zero/ze_api.h>

#include <memory>
#include <string>
#include <vector>

#include "ze_npu/ze_npu.h"

namespace npu::ze {

// Entry points that every supported loader has (1.8.12 and later).
#define NPU_ZE_ENTRY_POINTS(ENTRY)               \
  ENTRY(zeInit)                                  \
  ENTRY(zeDriverGet)                             \
  ENTRY(zeDriverGetProperties)                   \
  ENTRY(zeDriverGetExtensionProperties)          \
  ENTRY(zeDriverGetExtensionFunctionAddress)     \
  ENTRY(zeDeviceGet)                             \
  ENTRY(zeDeviceGetProperties)                   \
  ENTRY(zeDeviceGetCommandQueueGroupProperties)  \
  ENTRY(zeDeviceGetStatus)                       \
  ENTRY(zeDevicePciGetPropertiesExt)             \
  ENTRY(zeContextCreate)                         \
  ENTRY(zeContextDestroy)                        \
  ENTRY(zeCommandQueueCreate)                    \
  ENTRY(zeCommandQueueDestroy)                   \
  ENTRY(zeCommandQueueExecuteCommandLists)       \
  ENTRY(zeCommandListCreate)                     \
  ENTRY(zeCommandListDestroy)                    \
  ENTRY(zeCommandListClose)                      \
  ENTRY(zeCommandListReset)                      \
  ENTRY(zeCommandListAppendBarrier)              \
  ENTRY(zeCommandListAppendWriteGlobalTimestamp) \
  ENTRY(zeEventPoolCreate)                       \
  ENTRY(zeEventPoolDestroy)                      \
  ENTRY(zeEventCreate)                           \
  ENTRY(zeEventDestroy)                          \
  ENTRY(zeEventHostReset)                        \
  ENTRY(zeFenceCreate)                           \
  ENTRY(zeFenceDestroy)                          \
  ENTRY(zeFenceHostSynchronize)                  \
  ENTRY(zeFenceReset)                            \
  ENTRY(zeMemAllocHost)                          \
  ENTRY(zeMemFree)                               \
  ENTRY(zeMemGetAllocProperties)

/// libze_loader, opened at run time, and its entry points. The library stays open after this
/// object's end, unless it is unloaded before anything was made with it: its drivers have threads
/// and exit handlers of their own.
struct Loader {
  /// Throws Error(kNotFound) if the library or one of its entry points is missing.
  static std::unique_ptr<const Loader> open(const std::string& library);
  /// Closes the library and destroys the object. False, with nothing changed, if someone else in
  /// the process keeps the library loaded.
  static bool unload(std::unique_ptr<const Loader>& loader);
  /// The environment variable NPUCORE_ZE_LOADER (a name or path), else libze_loader.so.1.
  static std::string default_library();

// A member's name takes no parentheses. NOLINTNEXTLINE(bugprone-macro-parentheses)
#define NPU_ZE_MEMBER(name) decltype(&::name) name = nullptr;
  NPU_ZE_ENTRY_POINTS(NPU_ZE_MEMBER)
#undef NPU_ZE_MEMBER
  ze_npu_core_pfnInitDrivers_t zeInitDrivers = nullptr;  ///< null before loader 1.18
  /// Both null in loaders that have no mutable command lists.
  ze_npu_core_pfnCommandListGetNextCommandIdExp_t zeCommandListGetNextCommandIdExp = nullptr;
  ze_npu_core_pfnCommandListUpdateMutableCommandsExp_t zeCommandListUpdateMutableCommandsExp =
      nullptr;

  std::string library;  ///< the path that was opened
  void* handle = nullptr;

  /// "1.8.12"; empty if the loader does not tell. Valid once the loader is initialised.
  std::string version() const;
  /// Whether it looks for NPU drivers under all their names, old and new.
  bool knows_npu_drivers() const {
    return zeInitDrivers != nullptr;
  }
  /// Whether the library has an entry point besides those above.
  bool has(const char* entry_point) const;
};

/// The environment variable that lists drivers to open in place of the loader's own list.
inline constexpr const char* kDriversVariable = "ZE_ENABLE_ALT_DRIVERS";
/// Turns on the log of Intel's driver.
inline constexpr const char* kDriverLogVariable = "ZE_INTEL_NPU_LOGLEVEL";

/// Whether this process has opened the library by now.
bool is_loaded(const std::string& library);

/// Initialises the loader and returns every driver it found. Throws Error(kNotFound) if there is
/// none.
std::vector<ze_driver_handle_t> init_drivers(const Loader& loader);

}  // namespace npu::ze

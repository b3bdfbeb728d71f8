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

/// libze_loader, opened at run time, and its entry points. The library stays open when the object
/// ends, unless it is unloaded before anything was made with it: the drivers that it opened have
/// threads and exit handlers of their own.
struct Loader {
  /// Throws Error(kNotFound) when the library or one of its entry points is missing.
  static std::unique_ptr<const Loader> open(const std::string& library);
  /// Closes the library and ends the object; false, and all as before, when someone else in the
  /// process keeps it loaded.
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

  /// "1.8.12"; empty when the loader does not tell. Valid after the loader was initialised.
  std::string version() const;
  /// Whether it looks for NPU drivers under every name that they have had.
  bool knows_npu_drivers() const {
    return zeInitDrivers != nullptr;
  }
  /// Whether the library has an entry point that is none of those above.
  bool has(const char* entry_point) const;
};

/// The environment variable with the drivers that a loader opens in place of its own list.
inline constexpr const char* kDriversVariable = "ZE_ENABLE_ALT_DRIVERS";
/// Makes Intel's driver tell what it does.
inline constexpr const char* kDriverLogVariable = "ZE_INTEL_NPU_LOGLEVEL";

/// Whether this process has opened the library by now.
bool is_loaded(const std::string& library);

/// Initialises the loader and gives every driver it found. Throws Error(kNotFound) when there is
/// none.
std::vector<ze_driver_handle_t> init_drivers(const Loader& loader);

}  // namespace npu::ze

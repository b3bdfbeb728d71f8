#include "loader.hpp"

#include <dlfcn.h>
#include <level_zero/loader/ze_loader.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/shared_library.hpp"
#include "base/text.hpp"

#include "result.hpp"

namespace npu::ze {
namespace {

using base::text;

template <class Function>
void resolve_optional(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
}

template <class Function>
void resolve(void* handle, const std::string& library, const char* name, Function& function) {
  resolve_optional(handle, name, function);
  if (!function) {
    throw Error(
        ErrorCode::kNotFound,
        text(library, " lacks ", name, ": install a Level Zero loader of version 1.8 or later"));
  }
}

std::string path_of(const void* address, const std::string& otherwise) {
  Dl_info info = {};
  return ::dladdr(address, &info) != 0 && info.dli_fname ? info.dli_fname : otherwise;
}

ze_result_t init_npu_drivers(const Loader& loader, std::vector<ze_driver_handle_t>& drivers) {
  ze_npu_core_init_driver_type_desc_t desc = {};
  desc.stype = kZeNpuCoreStypeInitDriverTypeDesc;
  desc.flags = kZeNpuCoreInitDriverTypeFlagNpu;
  std::uint32_t count = 0;
  ze_result_t result = loader.zeInitDrivers(&count, nullptr, &desc);
  if (result != ZE_RESULT_SUCCESS) return result;
  drivers.resize(count);
  result = loader.zeInitDrivers(&count, drivers.data(), &desc);
  drivers.resize(result == ZE_RESULT_SUCCESS ? count : 0);
  return result;
}

/// Flags 0: a restriction would hold for the whole process and hide GPUs from the loader's other
/// users.
ze_result_t init_all_drivers(const Loader& loader, std::vector<ze_driver_handle_t>& drivers) {
  ze_result_t result = loader.zeInit(0);
  std::uint32_t count = 0;
  if (result == ZE_RESULT_SUCCESS) {
    result = loader.zeDriverGet(&count, nullptr);
  }
  if (result != ZE_RESULT_SUCCESS) return result;
  drivers.resize(count);
  result = loader.zeDriverGet(&count, drivers.data());
  drivers.resize(result == ZE_RESULT_SUCCESS ? count : 0);
  return result;
}

/// Takes away what the loader would read in a program with more rights than its caller: names of
/// drivers and folders of layers, which it opens, and of folders that it writes to.
void hide_callers_settings() {
  if (::getauxval(AT_SECURE) == 0) return;
  for (const char* name :
       {kDriversVariable, "ZEL_LIBRARY_PATH", "ZEL_LOADER_LOG_DIR", "ZEL_ENABLE_LOADER_LOGGING",
        "ZE_ENABLE_VALIDATION_LAYER", "ZE_ENABLE_TRACING_LAYER"}) {
    ::unsetenv(name);
  }
}

}  // namespace

std::string Loader::default_library() {
  // The program loads this library, so a caller with fewer rights must not choose it.
  const char* wanted = ::secure_getenv("NPUCORE_ZE_LOADER");
  return wanted && *wanted ? wanted : "libze_loader.so.1";
}

std::unique_ptr<const Loader> Loader::open(const std::string& library) {
  hide_callers_settings();
  auto loader = std::make_unique<Loader>();
  loader->handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loader->handle) {
    throw Error(ErrorCode::kNotFound, text("no Level Zero loader: ", ::dlerror(),
                                           ": install the package libze1 (or level-zero)"));
  }
#define NPU_ZE_RESOLVE(name) resolve(loader->handle, library, #name, loader->name);
  NPU_ZE_ENTRY_POINTS(NPU_ZE_RESOLVE)
#undef NPU_ZE_RESOLVE
#define NPU_ZE_RESOLVE(name) resolve_optional(loader->handle, #name, loader->name);
  NPU_ZE_RESOLVE(zeInitDrivers)
  NPU_ZE_RESOLVE(zeCommandListGetNextCommandIdExp)
  NPU_ZE_RESOLVE(zeCommandListUpdateMutableCommandsExp)
#undef NPU_ZE_RESOLVE
  loader->library = path_of(reinterpret_cast<void*>(loader->zeInit), library);
  return loader;
}

bool Loader::unload(std::unique_ptr<const Loader>& loader) {
  ::dlclose(loader->handle);
  // If the library stays, this reference takes the place of the one given up.
  if (::dlopen(loader->library.c_str(), RTLD_LAZY | RTLD_NOLOAD)) return false;
  loader.reset();
  return true;
}

std::string Loader::version() const {
  auto get_versions =
      reinterpret_cast<decltype(&::zelLoaderGetVersions)>(::dlsym(handle, "zelLoaderGetVersions"));
  std::size_t count = 0;
  if (!get_versions || get_versions(&count, nullptr) != ZE_RESULT_SUCCESS) return {};
  std::vector<zel_component_version_t> components(count);
  if (get_versions(&count, components.data()) != ZE_RESULT_SUCCESS) return {};
  for (const auto& component : components) {
    if (std::strcmp(component.component_name, "loader") == 0) {
      return text(component.component_lib_version.major, '.', component.component_lib_version.minor,
                  '.', component.component_lib_version.patch);
    }
  }
  return {};
}

bool Loader::has(const char* entry_point) const {
  return ::dlsym(handle, entry_point) != nullptr;
}

bool is_loaded(const std::string& library) {
  return base::open_library(library, RTLD_LAZY | RTLD_NOLOAD) != nullptr;
}

std::vector<ze_driver_handle_t> init_drivers(const Loader& loader) {
  std::vector<ze_driver_handle_t> drivers;
  ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;
  if (loader.zeInitDrivers) {
    result = init_npu_drivers(loader, drivers);
  }
  // Drivers older than zeInitDrivers are only found the old way.
  if (drivers.empty()) {
    result = init_all_drivers(loader, drivers);
  }
  if (drivers.empty()) {
    throw make_error(ErrorCode::kNotFound, result, "initialising the Level Zero loader",
                     text(loader.library, " found no driver"));
  }
  return drivers;
}

}  // namespace npu::ze

#include "npu.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::pair<ze_result_t, const char*> kResultNames[] = {
    {ZE_RESULT_SUCCESS, "SUCCESS"},
    {ZE_RESULT_NOT_READY, "NOT_READY"},
    {ZE_RESULT_ERROR_DEVICE_LOST, "DEVICE_LOST"},
    {ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "OUT_OF_HOST_MEMORY"},
    {ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "OUT_OF_DEVICE_MEMORY"},
    {ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, "MODULE_BUILD_FAILURE"},
    {ZE_RESULT_ERROR_NOT_AVAILABLE, "NOT_AVAILABLE"},
    {ZE_RESULT_ERROR_UNINITIALIZED, "UNINITIALIZED"},
    {ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "UNSUPPORTED_FEATURE"},
    {ZE_RESULT_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
    {ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "INVALID_NULL_HANDLE"},
    {ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "HANDLE_OBJECT_IN_USE"},
    {ZE_RESULT_ERROR_INVALID_NULL_POINTER, "INVALID_NULL_POINTER"},
    {ZE_RESULT_ERROR_INVALID_SIZE, "INVALID_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "UNSUPPORTED_SIZE"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "UNSUPPORTED_ALIGNMENT"},
    {ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "INVALID_SYNCHRONIZATION_OBJECT"},
    {ZE_RESULT_ERROR_INVALID_ENUMERATION, "INVALID_ENUMERATION"},
    {ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "UNSUPPORTED_ENUMERATION"},
    {ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, "INVALID_NATIVE_BINARY"},
    {ZE_RESULT_ERROR_UNKNOWN, "UNKNOWN"},
};

}  // namespace

void PrintTo(ze_result_t result, std::ostream* out) {
  for (const auto& [value, name] : kResultNames) {
    if (value == result) {
      *out << name;
      return;
    }
  }
  *out << "0x" << std::hex << static_cast<uint32_t>(result) << std::dec;
}

namespace conformance {
namespace {

void require(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    throw std::runtime_error(std::string(call) + " returned " + std::to_string(result));
  }
}

std::vector<ze_driver_handle_t> drivers() {
  uint32_t count = 0;
  std::vector<ze_driver_handle_t> found;
  const auto init_drivers =
      reinterpret_cast<ze_npu_core_pfnInitDrivers_t>(loader_symbol("zeInitDrivers"));
  if (init_drivers != nullptr) {
    ze_npu_core_init_driver_type_desc_t desc{kZeNpuCoreStypeInitDriverTypeDesc, nullptr,
                                             kZeNpuCoreInitDriverTypeFlagNpu};
    require(init_drivers(&count, nullptr, &desc), "zeInitDrivers");
    found.resize(count);
    require(init_drivers(&count, found.data(), &desc), "zeInitDrivers");
    return found;
  }
  require(zeInit(ZE_INIT_FLAG_VPU_ONLY), "zeInit");
  require(zeDriverGet(&count, nullptr), "zeDriverGet");
  found.resize(count);
  require(zeDriverGet(&count, found.data()), "zeDriverGet");
  return found;
}

std::map<std::string, uint32_t> extensions_of(ze_driver_handle_t driver) {
  uint32_t count = 0;
  require(zeDriverGetExtensionProperties(driver, &count, nullptr),
          "zeDriverGetExtensionProperties");
  std::vector<ze_driver_extension_properties_t> list(count);
  require(zeDriverGetExtensionProperties(driver, &count, list.data()),
          "zeDriverGetExtensionProperties");
  std::map<std::string, uint32_t> versions;
  for (const auto& extension : list) versions[extension.name] = extension.version;
  return versions;
}

template <class Table>
const Table* table_of(const Npu& npu, const char* name) {
  if (!npu.advertises(name)) return nullptr;
  void* table = nullptr;
  require(zeDriverGetExtensionFunctionAddress(npu.driver, name, &table), name);
  return static_cast<const Table*>(table);
}

bool find_vpu(ze_driver_handle_t driver, Npu& npu) {
  uint32_t count = 0;
  require(zeDeviceGet(driver, &count, nullptr), "zeDeviceGet");
  std::vector<ze_device_handle_t> devices(count);
  require(zeDeviceGet(driver, &count, devices.data()), "zeDeviceGet");
  for (ze_device_handle_t device : devices) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    require(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
    if (properties.type != ZE_DEVICE_TYPE_VPU) continue;
    npu.driver = driver;
    npu.device = device;
    npu.properties = properties;
    return true;
  }
  return false;
}

Npu open_npu() {
  Npu npu;
  for (ze_driver_handle_t driver : drivers()) {
    npu.extensions = extensions_of(driver);
    if (npu.advertises(ZE_GRAPH_EXT_NAME) && find_vpu(driver, npu)) break;
  }
  if (npu.device == nullptr) throw std::runtime_error("no driver with an NPU was found");
  ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  require(zeContextCreate(npu.driver, &desc, &npu.context), "zeContextCreate");
  npu.graph = table_of<ze_graph_dditable_ext_t>(npu, ZE_GRAPH_EXT_NAME);
  npu.profiling = table_of<ze_graph_profiling_dditable_ext_t>(npu, ZE_PROFILING_DATA_EXT_NAME);
  npu.queue_ext = table_of<ze_command_queue_npu_dditable_ext_t>(npu, ZE_COMMAND_QUEUE_NPU_EXT_NAME);
  npu.context_ext = table_of<ze_context_npu_dditable_ext_t>(npu, ZE_CONTEXT_NPU_EXT_NAME);
  ze_device_graph_properties_t graph{};
  graph.stype = ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES;
  require(npu.graph->pfnDeviceGetGraphProperties(npu.device, &graph),
          "pfnDeviceGetGraphProperties");
  npu.compiler = graph.compilerVersion;
  return npu;
}

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

ze_context_handle_t suite_context = nullptr;

/// The suite's context ends with the suite, or leak checkers count it.
class SuiteContext : public testing::Environment {
 public:
  void TearDown() override {
    if (suite_context == nullptr) return;
    EXPECT_EQ(zeContextDestroy(suite_context), ZE_RESULT_SUCCESS);
  }
};
[[maybe_unused]] const testing::Environment* const kSuiteContext =
    testing::AddGlobalTestEnvironment(std::make_unique<SuiteContext>().release());

}  // namespace

const Npu& Npu::get() {
  static const Npu npu = open_npu();
  suite_context = npu.context;
  return npu;
}

bool Npu::graph_has(uint32_t minor) const {
  return ze_npu_version_has(extensions.at(ZE_GRAPH_EXT_NAME), 1, minor);
}

bool Npu::is_software() const {
  return std::string(properties.name).rfind("Software NPU", 0) == 0;
}

void* loader_symbol(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

void* driver_function(const char* name) {
  void* address = nullptr;
  const ze_result_t found = zeDriverGetExtensionFunctionAddress(Npu::get().driver, name, &address);
  return found == ZE_RESULT_SUCCESS ? address : nullptr;
}

LiveObjects live_objects() {
  using Count = ze_result_t(ZE_APICALL*)(uint32_t*, const char**);
  void* const address = driver_function("softnpuGetLiveObjects");
  if (address == nullptr) return {};
  LiveObjects live{true, 0, ""};
  const char* text = "";
  require(reinterpret_cast<Count>(address)(&live.count, &text), "softnpuGetLiveObjects");
  live.text = text;
  return live;
}

size_t shared_memory_fds() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.rfind("/memfd:", 0) == 0 || target.find("dmabuf") != std::string::npos) {
      ++count;
    }
  }
  return count;
}

bool parameter_validation() {
  return is_on("ZE_ENABLE_VALIDATION_LAYER") && is_on("ZE_ENABLE_PARAMETER_VALIDATION");
}

bool handles_are_wrapped() {
  return is_on("ZE_ENABLE_LOADER_INTERCEPT");
}

}  // namespace conformance

// zeDriverGetExtension*.
#include "extensions.hpp"

#include <cstring>
#include <vector>

#include <ze_npu/ze_npu.h>

#include "abi/api.hpp"
#include "abi/ddi.hpp"
#include "abi/handles.hpp"
#include "base/config.hpp"
#include "base/version.hpp"
#include "machine/device.hpp"

namespace softnpu {
namespace {

struct Extension {
  const char* name;
  uint32_t version;
};

// Names that old clients ask for; the table behind them is the same.
constexpr Extension kLegacyGraphNames[] = {
    {ZE_GRAPH_EXT_NAME_1_2, ZE_GRAPH_EXT_VERSION_1_2},
    {ZE_GRAPH_EXT_NAME_1_3, ZE_GRAPH_EXT_VERSION_1_3},
    {ZE_GRAPH_EXT_NAME_1_4, ZE_GRAPH_EXT_VERSION_1_4},
    {ZE_GRAPH_EXT_NAME_1_5, ZE_GRAPH_EXT_VERSION_1_5},
    {ZE_GRAPH_EXT_NAME_1_6, ZE_GRAPH_EXT_VERSION_1_6},
    {ZE_GRAPH_EXT_NAME_1_7, ZE_GRAPH_EXT_VERSION_1_7},
    {ZE_GRAPH_EXT_NAME_1_8, ZE_GRAPH_EXT_VERSION_1_8},
};

// The specification whose tables have the functions of mutable command lists.
constexpr int kMutableListsMinor = 9;

std::vector<Extension> offered() {
  std::vector<Extension> extensions{
      {ZE_GRAPH_EXT_NAME, ze_npu_version(1, graph_minor())},
      {ZE_PROFILING_DATA_EXT_NAME, ZE_PROFILING_DATA_EXT_VERSION_1_0},
      {ZE_COMMAND_QUEUE_NPU_EXT_NAME, ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_1},
      {ZE_CONTEXT_NPU_EXT_NAME, ZE_CONTEXT_NPU_EXT_VERSION_1_0},
  };
  for (const Extension& legacy : kLegacyGraphNames) {
    if (graph_has(ze_npu_version_minor(legacy.version))) {
      extensions.push_back(legacy);
    }
  }
  // A client that finds this name calls functions that loaders before 1.9 lack.
  if (asked_minor() >= kMutableListsMinor) {
    extensions.push_back(
        {ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME, kZeNpuCoreMutableCommandListExpVersion_1_1});
  }
  if (imports_system_memory()) {
    extensions.push_back({ZE_NPU_CORE_EXTERNAL_MEMMAP_SYSMEM_EXT_NAME,
                          kZeNpuCoreExternalMemmapSysmemExtVersion_1_0});
  }
  if (config().allow_memfd) {
    extensions.push_back({ZE_SOFTNPU_MEMFD_IMPORT_EXT_NAME, ze_npu_version(1, 0)});
  }
  return extensions;
}

const std::vector<Extension>& advertised_extensions() {
  static const auto* const extensions = new std::vector<Extension>(offered());
  return *extensions;
}

// The table behind an extension's name, null for an unknown one. Any name that contains
// "ZE_extension_graph" means the graph extension.
void* extension_table(std::string_view name) {
  if (name.find(ZE_GRAPH_EXT_NAME) != std::string_view::npos) return graph_table();
  if (name == ZE_PROFILING_DATA_EXT_NAME) return profiling_table();
  if (name == ZE_COMMAND_QUEUE_NPU_EXT_NAME) return queue_table();
  if (name == ZE_CONTEXT_NPU_EXT_NAME) return context_table();
  return test_tool(name);
}

}  // namespace

ze_result_t driver_get_extension_properties(ze_driver_handle_t driver, uint32_t* count,
                                            ze_driver_extension_properties_t* properties) {
  check_driver(driver);
  require(count != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  const auto& known = advertised_extensions();
  const auto all = static_cast<uint32_t>(known.size());
  if (*count == 0 || *count > all) {
    *count = all;
  }
  if (properties == nullptr) return ZE_RESULT_SUCCESS;
  for (uint32_t i = 0; i < *count; ++i) {
    std::memset(&properties[i], 0, sizeof properties[i]);
    std::strncpy(properties[i].name, known[i].name, sizeof properties[i].name - 1);
    properties[i].version = known[i].version;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t driver_get_extension_function_address(ze_driver_handle_t driver, const char* name,
                                                  void** address) {
  check_driver(driver);
  require(name != nullptr && address != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  void* const table = extension_table(name);
  require(table != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
  *address = table;
  return ZE_RESULT_SUCCESS;
}

}  // namespace softnpu

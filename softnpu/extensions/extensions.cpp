#include "extensions.hpp"

#include "ddi.hpp"
#include "device.hpp"
#include "test_tools.hpp"
#include "version.hpp"

namespace softnpu {

namespace {

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
  for (const Extension& legacy : kLegacyGraphNames)
    if (graph_has(ze_npu_version_minor(legacy.version))) extensions.push_back(legacy);
  // A client that finds the name calls functions that loaders before 1.9 do not have.
  if (asked_minor() >= kMutableListsMinor)
    extensions.push_back(
        {ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME, kZeNpuCoreMutableCommandListExpVersion_1_1});
  if (imports_system_memory())
    extensions.push_back({ZE_NPU_CORE_EXTERNAL_MEMMAP_SYSMEM_EXT_NAME,
                          kZeNpuCoreExternalMemmapSysmemExtVersion_1_0});
  return extensions;
}

}  // namespace

const std::vector<Extension>& advertised_extensions() {
  static const auto* const extensions = new std::vector<Extension>(offered());
  return *extensions;
}

void* extension_table(std::string_view name) {
  if (name.find(ZE_GRAPH_EXT_NAME) != std::string_view::npos) return graph_table();
  if (name == ZE_PROFILING_DATA_EXT_NAME) return profiling_table();
  if (name == ZE_COMMAND_QUEUE_NPU_EXT_NAME) return queue_table();
  if (name == ZE_CONTEXT_NPU_EXT_NAME) return context_table();
  return test_tool(name);
}

}  // namespace softnpu

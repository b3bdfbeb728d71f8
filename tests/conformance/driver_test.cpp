// Discovery: rows 1 to 6 of the conformance list, the tables' guards, the device's properties.
#include <array>
#include <cstdlib>

#include "fixture.hpp"

namespace conformance {
namespace {

// Exit code of a child in which nothing has touched Level Zero yet.
[[noreturn]] void exit_with(bool held) {
  std::_Exit(held ? 0 : 1);
}

class FreshProcess : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(FreshProcess, DriverGetBeforeInitIsUninitialized) {
  EXPECT_EXIT(
      {
        uint32_t count = 0;
        exit_with(zeDriverGet(&count, nullptr) == ZE_RESULT_ERROR_UNINITIALIZED);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(FreshProcess, InitForGpusOnlyFindsNoNpuDriver) {
  EXPECT_EXIT(exit_with(zeInit(ZE_INIT_FLAG_GPU_ONLY) == ZE_RESULT_ERROR_UNINITIALIZED),
              testing::ExitedWithCode(0), "");
}

class Driver : public NpuTest {};

TEST_F(Driver, HasOneVpuDevice) {
  uint32_t count = 0;
  ASSERT_EQ(zeDeviceGet(npu().driver, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(npu().properties.type, ZE_DEVICE_TYPE_VPU);
}

TEST_F(Driver, HasIntelsUuid) {
  ze_driver_properties_t properties{ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
  ASSERT_EQ(zeDriverGetProperties(npu().driver, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::memcmp(&properties.uuid, &ze_intel_npu_driver_uuid, sizeof properties.uuid), 0);
}

TEST_F(Driver, SpeaksApiMajorOne) {
  ze_api_version_t version{};
  ASSERT_EQ(zeDriverGetApiVersion(npu().driver, &version), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ZE_MAJOR_VERSION(version), 1);
}

TEST_F(Driver, AdvertisesItsExtensions) {
  EXPECT_TRUE(npu().graph_has(5)) << "graph extension older than 1.5";
  EXPECT_TRUE(npu().advertises(ZE_PROFILING_DATA_EXT_NAME));
  EXPECT_TRUE(npu().advertises(ZE_COMMAND_QUEUE_NPU_EXT_NAME));
  EXPECT_TRUE(npu().advertises(ZE_CONTEXT_NPU_EXT_NAME));
}

TEST_F(Driver, RefusesAnUnknownExtension) {
  void* table = nullptr;
  EXPECT_EQ(zeDriverGetExtensionFunctionAddress(npu().driver, "ZE_extension_unheard_of", &table),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(Driver, RefusesNullNameAndNullAddress) {
  void* table = nullptr;
  EXPECT_EQ(zeDriverGetExtensionFunctionAddress(npu().driver, nullptr, &table),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeDriverGetExtensionFunctionAddress(npu().driver, ZE_GRAPH_EXT_NAME, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

class GraphTableName : public NpuTest, public testing::WithParamInterface<const char*> {};

TEST_P(GraphTableName, GivesTheOneTable) {
  void* table = nullptr;
  ASSERT_EQ(zeDriverGetExtensionFunctionAddress(npu().driver, GetParam(), &table),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(table, npu().graph);
}

INSTANTIATE_TEST_SUITE_P(Driver, GraphTableName,
                         testing::Values(ZE_GRAPH_EXT_NAME, ZE_GRAPH_EXT_NAME_1_2,
                                         ZE_GRAPH_EXT_NAME_1_8, "ZE_extension_graph_99_99"));

// The table as an array: slot i exists from `since` on.
TEST_F(Driver, FillsEveryGraphSlotUpToItsVersion) {
  constexpr std::array<std::pair<uint32_t, size_t>, 13> kSlotsByMinor = {{{0, 9},
                                                                          {1, 11},
                                                                          {2, 12},
                                                                          {3, 15},
                                                                          {4, 16},
                                                                          {5, 19},
                                                                          {6, 20},
                                                                          {7, 21},
                                                                          {8, 23},
                                                                          {11, 25},
                                                                          {12, 29},
                                                                          {15, 30},
                                                                          {16, 31}}};
  void* const* slots = reinterpret_cast<void* const*>(npu().graph);
  for (const auto& [minor, end] : kSlotsByMinor) {
    if (!npu().graph_has(minor)) break;
    for (size_t i = 0; i < end; ++i) EXPECT_NE(slots[i], nullptr) << "slot " << i;
  }
}

TEST_F(Driver, FillsEveryProfilingSlot) {
  ASSERT_NE(npu().profiling, nullptr);
  void* const* slots = reinterpret_cast<void* const*>(npu().profiling);
  for (size_t i = 0; i < sizeof(*npu().profiling) / sizeof(void*); ++i) {
    EXPECT_NE(slots[i], nullptr) << "slot " << i;
  }
}

class Device : public NpuTest {};

TEST_F(Device, IsAnIntegratedIntelNpuOfAKnownPlatform) {
  const auto& properties = npu().properties;
  EXPECT_TRUE(properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED);
  EXPECT_EQ(properties.vendorId, kZeNpuPciVendorId);
  EXPECT_NE(ze_npu_platform_of_pci_id(properties.deviceId), nullptr);
  EXPECT_GT(properties.numSlices, 0u);
  EXPECT_GT(properties.maxMemAllocSize, 0u);
  EXPECT_EQ(std::memcmp(&properties.uuid, &ze_intel_npu_device_uuid, sizeof properties.uuid), 0);
}

TEST_F(Device, RefusesAnUnknownStructureBehindItsProperties) {
  if (parameter_validation()) {
    GTEST_SKIP() << "the layer may answer first";
  }
  ze_base_properties_t unknown{static_cast<ze_structure_type_t>(0x7abcdef)};
  ze_device_properties_t properties{ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  properties.pNext = &unknown;
  EXPECT_EQ(zeDeviceGetProperties(npu().device, &properties), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(Device, TellsWhatItsCommandListsMayHaveChanged) {
  if (!npu().advertises(ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME)) {
    GTEST_SKIP() << "no mutable lists";
  }
  ze_npu_core_mutable_command_list_exp_properties_t changes{
      kZeNpuCoreStypeMutableCommandListExpProperties};
  ze_device_properties_t properties{ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  properties.pNext = &changes;
  ASSERT_EQ(zeDeviceGetProperties(npu().device, &properties), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(changes.mutableCommandFlags & (kZeNpuCoreMutableCommandFlagGraphArguments |
                                             kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated));
}

TEST_F(Device, IsWell) {
  EXPECT_EQ(zeDeviceGetStatus(npu().device), ZE_RESULT_SUCCESS);
}

TEST_F(Device, CountsTimerCyclesASecondForTheNewerProperties) {
  ze_device_properties_t properties{
      static_cast<ze_structure_type_t>(kZeNpuCoreStypeDeviceProperties12)};
  ASSERT_EQ(zeDeviceGetProperties(npu().device, &properties), ZE_RESULT_SUCCESS);
  EXPECT_GT(properties.timerResolution, npu().properties.timerResolution);
}

TEST_F(Device, HasOneQueueGroupForComputeAndCopy) {
  uint32_t count = 0;
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(npu().device, &count, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(count, 1u);
  ze_command_queue_group_properties_t group{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
  ASSERT_EQ(zeDeviceGetCommandQueueGroupProperties(npu().device, &count, &group),
            ZE_RESULT_SUCCESS);
  constexpr uint32_t kBoth =
      ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
  EXPECT_EQ(group.flags & kBoth, kBoth);
  EXPECT_EQ(group.numQueues, 1u);
  EXPECT_EQ(group.maxMemoryFillPatternSize, 4u);
}

TEST_F(Device, ImportsAndExportsDmaBufs) {
  ze_device_external_memory_properties_t memory{
      ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
  ASSERT_EQ(zeDeviceGetExternalMemoryProperties(npu().device, &memory), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(memory.memoryAllocationImportTypes & ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF);
  EXPECT_TRUE(memory.memoryAllocationExportTypes & ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF);
}

TEST_F(Device, TellsItsGraphCompiler) {
  NEEDS_GRAPH_EXTENSION(6);
  ze_device_graph_properties_2_t properties{ZE_STRUCTURE_TYPE_DEVICE_GRAPH_PROPERTIES_2};
  ASSERT_EQ(npu().graph->pfnDeviceGetGraphProperties2(npu().device, &properties),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.graphExtensionVersion, npu().extensions.at(ZE_GRAPH_EXT_NAME));
  EXPECT_GT(properties.elfVersion.major, 0u);
  EXPECT_GT(properties.runtimeVersion.major, 0u);
}

TEST_F(Device, TellsItsProfilingVersion) {
  ze_device_profiling_data_properties_t properties{
      ZE_STRUCTURE_TYPE_DEVICE_PROFILING_DATA_PROPERTIES};
  ASSERT_EQ(npu().profiling->pfnDeviceGetProfilingDataProperties(npu().device, &properties),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.extensionVersion, npu().extensions.at(ZE_PROFILING_DATA_EXT_NAME));
}

TEST_F(Device, ListsNoDriverOptionsAndRefusesABadOptionType) {
  NEEDS_GRAPH_EXTENSION(11);
  size_t size = 1;
  EXPECT_EQ(npu().graph->pfnCompilerGetSupportedOptions(npu().device, ZE_NPU_DRIVER_OPTIONS, &size,
                                                        nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(npu().graph->pfnCompilerGetSupportedOptions(
                npu().device, static_cast<ze_npu_options_type_t>(77), &size, nullptr),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(Device, SupportsTheOptionsThatItsCompilerLists) {
  NEEDS_GRAPH_EXTENSION(11);
  const auto list = npu().graph->pfnCompilerGetSupportedOptions;
  size_t size = 0;
  ASSERT_EQ(list(npu().device, ZE_NPU_COMPILER_OPTIONS, &size, nullptr), ZE_RESULT_SUCCESS);
  std::string text(size, '\0');
  ASSERT_EQ(list(npu().device, ZE_NPU_COMPILER_OPTIONS, &size, text.data()), ZE_RESULT_SUCCESS);
  const std::string first = text.substr(0, text.find_first_of(" ,;\n\0", 0, 5));
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(npu().graph->pfnCompilerIsOptionSupported(npu().device, ZE_NPU_COMPILER_OPTIONS,
                                                      first.c_str(), nullptr),
            ZE_RESULT_SUCCESS)
      << first;
}

TEST_F(Device, RefusesToSayWhetherADriverOptionIsSupported) {
  NEEDS_GRAPH_EXTENSION(11);
  EXPECT_EQ(
      npu().graph->pfnCompilerIsOptionSupported(npu().device, ZE_NPU_DRIVER_OPTIONS, "X", nullptr),
      ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

}  // namespace
}  // namespace conformance

// How long the engine has been busy, through the newer entry (zesInit) where the loader has
// it, else through the older one (ZES_ENABLE_SYSMAN=1, core handles).
#include <level_zero/zes_api.h>

#include <cstdlib>

#include "fixture.hpp"

namespace conformance {
namespace {

using Init = ze_result_t(ZE_APICALL*)(uint32_t);
using DriverGet = ze_result_t(ZE_APICALL*)(uint32_t*, zes_driver_handle_t*);
using DeviceGet = ze_result_t(ZE_APICALL*)(zes_driver_handle_t, uint32_t*, zes_device_handle_t*);

bool older_entry_is_on() {
  const char* const value = std::getenv("ZES_ENABLE_SYSMAN");
  return value != nullptr && std::string(value) == "1";
}

// The NPU's Sysman handle through zesInit; null where the loader has no such entry.
zes_device_handle_t newer_handle() {
  const auto init = reinterpret_cast<Init>(loader_symbol("zesInit"));
  const auto driver_get = reinterpret_cast<DriverGet>(loader_symbol("zesDriverGet"));
  const auto device_get = reinterpret_cast<DeviceGet>(loader_symbol("zesDeviceGet"));
  if (init == nullptr || driver_get == nullptr || device_get == nullptr) return nullptr;
  if (init(0) != ZE_RESULT_SUCCESS) return nullptr;
  uint32_t count = 0;
  EXPECT_EQ(driver_get(&count, nullptr), ZE_RESULT_SUCCESS);
  std::vector<zes_driver_handle_t> drivers(count);
  EXPECT_EQ(driver_get(&count, drivers.data()), ZE_RESULT_SUCCESS);
  for (zes_driver_handle_t driver : drivers) {
    uint32_t devices = 1;
    zes_device_handle_t device = nullptr;
    if (device_get(driver, &devices, &device) != ZE_RESULT_SUCCESS) continue;
    zes_device_properties_t properties{ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    if (zesDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS &&
        properties.core.type == ZE_DEVICE_TYPE_VPU) {
      return device;
    }
  }
  return nullptr;
}

class Sysman : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    device_ = newer_handle();
    if (device_ == nullptr && older_entry_is_on()) {
      device_ = npu().device;
    }
    if (device_ == nullptr) {
      GTEST_SKIP() << "needs zesInit, or ZES_ENABLE_SYSMAN=1";
    }
    uint32_t count = 1;
    const ze_result_t listed = zesDeviceEnumEngineGroups(device_, &count, &engine_);
    if (listed == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE) {
      GTEST_SKIP() << "no Sysman";
    }
    ASSERT_EQ(listed, ZE_RESULT_SUCCESS);
    ASSERT_EQ(count, 1u);
  }
  zes_engine_stats_t activity() {
    zes_engine_stats_t stats{};
    EXPECT_EQ(zesEngineGetActivity(engine_, &stats), ZE_RESULT_SUCCESS);
    return stats;
  }
  zes_device_handle_t device_ = nullptr;
  zes_engine_handle_t engine_ = nullptr;
};

TEST_F(Sysman, HasOneEngineGroupForAllComputing) {
  uint32_t count = 0;
  ASSERT_EQ(zesDeviceEnumEngineGroups(device_, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_EQ(count, 1u);
  zes_engine_properties_t properties{ZES_STRUCTURE_TYPE_ENGINE_PROPERTIES};
  ASSERT_EQ(zesEngineGetProperties(engine_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.type, ZES_ENGINE_GROUP_COMPUTE_ALL);
  EXPECT_FALSE(properties.onSubdevice);
}

TEST_F(Sysman, DescribesTheDeviceOfTheCore) {
  zes_device_properties_t properties{ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES};
  ASSERT_EQ(zesDeviceGetProperties(device_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.core.deviceId, npu().properties.deviceId);
  EXPECT_EQ(properties.numSubdevices, 0u);
}

TEST_F(Sysman, CountsBusyTimeWhileTheDeviceWorks) {
  AddRelu inference;
  const Queue queue = make_queue();
  const auto before = activity();
  auto after = before;
  for (int i = 0; i < 100'000 && after.activeTime == before.activeTime; ++i) {
    ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
    after = activity();
  }
  EXPECT_GT(after.activeTime, before.activeTime);
  EXPECT_GT(after.timestamp, before.timestamp);
  EXPECT_LE(after.activeTime - before.activeTime, after.timestamp - before.timestamp + 1);
}

TEST_F(Sysman, CountsNoBusyTimeWhileTheDeviceRests) {
  if (!npu().is_software()) {
    GTEST_SKIP() << "others may use a real device";
  }
  const auto before = activity();
  auto after = before;
  while (after.timestamp < before.timestamp + 2000) after = activity();
  EXPECT_EQ(after.activeTime, before.activeTime);
}

TEST_F(Sysman, HasNoPowerTemperatureOrFrequency) {
  uint32_t count = 0;
  EXPECT_NE(zesDeviceEnumPowerDomains(device_, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_NE(zesDeviceEnumTemperatureSensors(device_, &count, nullptr), ZE_RESULT_SUCCESS);
  EXPECT_NE(zesDeviceEnumFrequencyDomains(device_, &count, nullptr), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace conformance

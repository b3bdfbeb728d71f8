// The process-address tables: what is written, and above all what is not.
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "support/expect.hpp"

// Under names of the test's own: older headers lack the functions, newer ones give their tables a
// type.
extern "C" {
ze_result_t fill_list_exp(ze_api_version_t version,
                          void* table) __asm__("zeGetCommandListExpProcAddrTable");
ze_result_t fill_zes_device(ze_api_version_t version,
                            void* table) __asm__("zesGetDeviceProcAddrTable");
ze_result_t fill_zes_engine(ze_api_version_t version,
                            void* table) __asm__("zesGetEngineProcAddrTable");
}

namespace {

constexpr size_t kSpace = 80;  // slots, more than any table has
constexpr uintptr_t kCanary = 0x5afe5afe5afe5afe;

using Fill = ze_result_t (*)(ze_api_version_t, void*);

struct Row {
  const char* name;
  Fill fill;
  uint32_t minor;
  size_t slots;  // in the table of a loader of specification 1.<minor>
};

template <auto kFunction>
ze_result_t untyped(ze_api_version_t version, void* table) {
  using Table = std::remove_pointer_t<decltype([]<class T>(ze_result_t (*)(ze_api_version_t, T*)) {
    return static_cast<T*>(nullptr);
  }(kFunction))>;
  return kFunction(version, static_cast<Table*>(table));
}

ze_api_version_t version(uint32_t minor) {
  return static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, minor));
}

std::array<uintptr_t, kSpace> filled(Fill fill, uint32_t minor) {
  std::array<uintptr_t, kSpace> table;
  table.fill(kCanary);
  EXPECT_EQ(fill(version(minor), table.data()), ZE_RESULT_SUCCESS);
  return table;
}

class Tables : public testing::TestWithParam<Row> {};

TEST_P(Tables, WriteEverySlotOfTheAskedVersionAndNothingBehind) {
  const auto table = filled(GetParam().fill, GetParam().minor);
  const auto behind = std::find(table.begin(), table.end(), kCanary);
  EXPECT_EQ(static_cast<size_t>(behind - table.begin()), GetParam().slots);
  EXPECT_TRUE(std::all_of(behind, table.end(), [](uintptr_t slot) { return slot == kCanary; }));
}

// Slot counts of the published headers: 1.8.12 is specification 1.4, 1.20.6 is 1.12, 1.32 is 1.17.
INSTANTIATE_TEST_SUITE_P(
    Loaders, Tables,
    testing::Values(Row{"global_1_4", untyped<&zeGetGlobalProcAddrTable>, 4, 1},
                    Row{"global_1_9", untyped<&zeGetGlobalProcAddrTable>, 9, 1},
                    Row{"global_1_10", untyped<&zeGetGlobalProcAddrTable>, 10, 2},
                    Row{"driver_1_0", untyped<&zeGetDriverProcAddrTable>, 0, 5},
                    Row{"driver_1_4", untyped<&zeGetDriverProcAddrTable>, 4, 6},
                    Row{"driver_1_17", untyped<&zeGetDriverProcAddrTable>, 17, 9},
                    Row{"device_1_4", untyped<&zeGetDeviceProcAddrTable>, 4, 18},
                    Row{"device_1_12", untyped<&zeGetDeviceProcAddrTable>, 12, 21},
                    Row{"list_1_4", untyped<&zeGetCommandListProcAddrTable>, 4, 28},
                    Row{"list_1_12", untyped<&zeGetCommandListProcAddrTable>, 12, 36},
                    Row{"list_1_17", untyped<&zeGetCommandListProcAddrTable>, 17, 52},
                    Row{"list_exp_1_8", &fill_list_exp, 8, 0},
                    Row{"list_exp_1_9", &fill_list_exp, 9, 6},
                    Row{"mem_1_2", untyped<&zeGetMemProcAddrTable>, 2, 9},
                    Row{"mem_1_4", untyped<&zeGetMemProcAddrTable>, 4, 10},
                    Row{"zes_engine_1_4", &fill_zes_engine, 4, 2},
                    Row{"zes_engine_1_7", &fill_zes_engine, 7, 3},
                    Row{"zes_device_1_5", &fill_zes_device, 5, 36}),
    by_name);

TEST(Tables, FitTheHeadersThatThisWasBuiltWith) {
  const auto slots = [](Fill fill, uint32_t minor) {
    const auto table = filled(fill, minor);
    return static_cast<size_t>(std::find(table.begin(), table.end(), kCanary) - table.begin());
  };
  const uint32_t minor = ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT);
  EXPECT_EQ(slots(untyped<&zeGetDeviceProcAddrTable>, minor) * sizeof(void*),
            sizeof(ze_device_dditable_t));
  EXPECT_EQ(slots(untyped<&zeGetCommandListProcAddrTable>, minor) * sizeof(void*),
            sizeof(ze_command_list_dditable_t));
  EXPECT_EQ(slots(untyped<&zeGetKernelProcAddrTable>, minor) * sizeof(void*),
            sizeof(ze_kernel_dditable_t));
}

TEST(Tables, PutEachFunctionIntoItsOwnSlot) {
  ze_fence_dditable_t fence{};
  ASSERT_EQ(zeGetFenceProcAddrTable(version(4), &fence), ZE_RESULT_SUCCESS);
  EXPECT_EQ(fence.pfnQueryStatus(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(fence.pfnReset(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST(Tables, AnswerForWhatTheDriverDoesNotHave) {
  ze_image_dditable_t image{};
  ASSERT_EQ(zeGetImageProcAddrTable(version(4), &image), ZE_RESULT_SUCCESS);
  EXPECT_EQ(image.pfnDestroy(nullptr), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST(Tables, RefuseANullTable) {
  EXPECT_EQ(zeGetGlobalProcAddrTable(version(4), nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST(Tables, RefuseAnotherMajorVersion) {
  ze_global_dditable_t table{};
  EXPECT_EQ(zeGetGlobalProcAddrTable(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(2, 0)), &table),
            ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
}

}  // namespace

// A device by its PCI address or UUID, among several.
#include "device/choose_device.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support.hpp"

namespace npu::test {
namespace {

using internal::choose_device;
using internal::is_address;

constexpr const char* kShared = "80d1d11eb73811eab3de0242ac130004";
constexpr const char* kOwn = "00000000000000000000000000000abc";

DeviceInfo device(const std::string& pci_address, const std::string& uuid, bool is_software) {
  DeviceInfo info;
  info.name = is_software ? "Software NPU" : "Intel(R) AI Boost";
  info.pci_address = pci_address;
  info.uuid = uuid;
  info.is_software = is_software;
  return info;
}

const std::vector<DeviceInfo> kDevices{
    device("0000:00:0b.0", kShared, false), device("0001:03:00.1", kShared, false),
    device("0000:04:00.0", kOwn, false), device("0000:00:0b.0", kShared, true)};

struct Choice : Named {
  const char* address;
  std::size_t index;
};
class Chosen : public ::testing::TestWithParam<Choice> {};

TEST_P(Chosen, IsTheDeviceWithTheAddress) {
  EXPECT_TRUE(is_address(GetParam().address));
  EXPECT_EQ(choose_device(kDevices, GetParam().address, ""), GetParam().index);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Chosen,
    ::testing::Values(Choice{"a_real_one_before_the_software_npu", "0000:00:0b.0", 0},
                      Choice{"capitals", "0000:00:0B.0", 0},
                      Choice{"without_the_domain", "00:0b.0", 0},
                      Choice{"another_domain", "0001:03:00.1", 1}, Choice{"uuid", kOwn, 2},
                      Choice{"uuid_with_dashes", "00000000-0000-0000-0000-000000000ABC", 2}),
    by_name);

TEST(Choosing, TakesTheSoftwareNpuWhereNoRealOneHasTheAddress) {
  const std::vector<DeviceInfo> devices{device("0001:03:00.1", kOwn, false), kDevices[3]};
  EXPECT_EQ(choose_device(devices, "0000:00:0b.0", ""), 1U);
  EXPECT_EQ(choose_device(devices, kShared, ""), 1U);
}

TEST(Choosing, ListsTheDevicesWhereNoneFits) {
  expect_error(ErrorCode::kNotFound,
               std::string("no NPU has the PCI address or UUID '0000:00:0c.0'; this process can "
                           "open: Intel(R) AI Boost at 0000:00:0b.0 (UUID ") +
                   kShared + "); Intel(R) AI Boost at 0001:03:00.1",
               [] { choose_device(kDevices, "0000:00:0c.0", ""); });
  expect_error(ErrorCode::kNotFound, "(UUID " + std::string(kShared) + R"(, "software"))",
               [] { choose_device(kDevices, "0000:00:0c.0", ""); });
  expect_error(ErrorCode::kNotFound, "this process can open: none; no real NPU: device node: none",
               [] { choose_device({}, "0000:00:0c.0", "device node: none"); });
}

TEST(Choosing, AsksForTheAddressWhereSeveralNpusHaveTheUuid) {
  expect_error(ErrorCode::kInvalidArgument, "2 NPUs have the UUID " + std::string(kShared),
               [] { choose_device(kDevices, kShared, ""); });
}

TEST(Addresses, AreToldFromOtherNames) {
  for (const char* name : {"", "auto", "npu", "software", "0000:00:0b", "0000:00:0g.0", "00:0b.00",
                           "80d1d11eb73811eab3de0242ac13000", "80d1d11eb73811eab3de0242ac13000x"}) {
    EXPECT_FALSE(is_address(name)) << name;
  }
}

}  // namespace
}  // namespace npu::test

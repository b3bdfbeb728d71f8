// Programs in the place of npu-compile-helper that are none.
#include "compile/helper_client.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support.hpp"

namespace npu::internal {
namespace {

using namespace std::chrono_literals;

class HelperClients : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("NPUCORE_HELPER_PATH"); }

  /// Why a helper that is this shell script cannot compile.
  std::string refusal(const std::string& script, std::chrono::milliseconds start_limit = 1min) {
    const auto program = folder_.path() / "helper";
    test::write_file(program, "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("NPUCORE_HELPER_PATH", program.c_str(), 1);
    DeviceInfo device;
    device.name = "an NPU";
    try {
      HelperClient client(device, nullptr, {}, start_limit);
      client.compile({}, [] {});
    } catch (const HelperUnavailable& unavailable) {
      return unavailable.what();
    }
    return "it compiled";
  }

 private:
  const test::TempDir folder_;
};

TEST_F(HelperClients, DoNotWaitForOneThatNeverOpensTheDevice) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal("exec sleep 60", 200ms), "it did not open an NPU within 200 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(HelperClients, DoNotReadForEverWhatOnePrints) {
  EXPECT_EQ(refusal("exec yes '' >&2", 200ms), "it did not open an NPU within 200 ms");
}

TEST_F(HelperClients, DoNotUseOneOfAnotherVersion) {
  const auto why = refusal(
      "printf 'NPUH\\011\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&0; sleep 60");
  EXPECT_NE(why.find("of another version of npucore"), std::string::npos) << why;
}

TEST_F(HelperClients, DoNotUseOneThatEnds) {
  const auto why = refusal("exit 3");
  EXPECT_NE(why.find("could not open an NPU"), std::string::npos) << why;
}

TEST_F(HelperClients, DoNotUseOneThatTalksNonsense) {
  const auto why = refusal("yes >&0");
  EXPECT_NE(why.find("of another version of npucore"), std::string::npos) << why;
}

}  // namespace
}  // namespace npu::internal

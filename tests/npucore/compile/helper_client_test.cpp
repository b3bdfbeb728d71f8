// Programs in the place of npu-compile-helper that are none.
#include "compile/helper_client.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "compile/helper_message.hpp"

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

  const test::TempDir folder_;
};

/// Bytes that go over the socket.
std::string bytes_of(const Message& message) {
  int ends[2] = {};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  send_message(ends[0], message);
  std::array<char, 4096> bytes;
  const ssize_t got = ::read(ends[1], bytes.data(), bytes.size());
  ::close(ends[0]);
  ::close(ends[1]);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST_F(HelperClients, DoNotWaitForOneThatNeverOpensTheDevice) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(refusal("exec sleep 60", 200ms), "it did not open an NPU within 200 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(HelperClients, DoNotReadForEverWhatOnePrints) {
  EXPECT_EQ(refusal("exec yes '' >&2", 200ms), "it did not open an NPU within 200 ms");
}

TEST_F(HelperClients, DoNotSpinWhenOneCanPrintNoMore) {
  const std::clock_t begin = std::clock();
  refusal("exec sleep 60 >&- 2>&-", 1s);
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 2);
}

TEST_F(HelperClients, DoNotUseOneOfAnotherVersion) {
  const auto why = refusal(
      "printf 'NPUH\\011\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&0; exec sleep "
      "60");
  EXPECT_TRUE(has(why, "of another version of npucore"));
}

TEST_F(HelperClients, DoNotSendTheTaskAgainAndAgain) {
  const auto message = folder_.path() / "message";
  const std::string ready = bytes_of({"ready", {}, {}});
  test::write_file(message, ready + ready);
  EXPECT_TRUE(has(thrown_by([&] { refusal("cat '" + message.string() + "' >&0; exec sleep 60"); }),
                  "twice"));
}

TEST_F(HelperClients, DoNotUseOneThatEnds) {
  const auto why = refusal("exit 3");
  EXPECT_TRUE(has(why, "could not open an NPU"));
}

}  // namespace
}  // namespace npu::internal

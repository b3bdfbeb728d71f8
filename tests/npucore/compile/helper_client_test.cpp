// Programs in the place of npu-compile-helper that are none.
#include "compile/helper_client.hpp"

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compile/helper_message.hpp"

#include "support.hpp"

namespace npu::internal {
namespace {

using namespace std::chrono_literals;

class HelperClients : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("NPUCORE_HELPER_PATH"); }

  /// Why a helper that is this shell script cannot compile.
  std::string refusal(
      const std::string& script, std::chrono::milliseconds start_limit = 1min,
      const std::function<void()>& once_started = [] {}) {
    const auto program = folder_.path() / "helper";
    test::write_file(program, "#!/bin/sh\n" + script);
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ::setenv("NPUCORE_HELPER_PATH", program.c_str(), 1);
    DeviceInfo device;
    device.name = "an NPU";
    try {
      HelperClient client(device, nullptr, {}, start_limit);
      once_started();
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

TEST_F(HelperClients, DoNotSpinWhereAProcessMayWaitForNothing) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto allow_no_files = [&] {
    const rlimit none = {0, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);  // poll() takes no more descriptors than that
  };
  const std::string why = refusal("exec sleep 60", 1min, allow_no_files);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(has(why, "poll: "));
}

/// Starts a child with this number; -1 where the process may not.
pid_t fork_as(pid_t number) {
  clone_args arguments = {};
  arguments.set_tid = reinterpret_cast<std::uintptr_t>(&number);
  arguments.set_tid_size = 1;
  arguments.exit_signal = SIGCHLD;
  const auto child = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof(arguments)));
  if (child != 0) return child;
  ::alarm(20);
  for (;;) ::pause();
}

TEST_F(HelperClients, DoNotWaitForAnotherChildThatGetsItsNumber) {
  HelperProcess process("/bin/true", {});
  const pid_t number = ::waitpid(-1, nullptr, 0);  // as an application's handler of SIGCHLD does
  const pid_t another = fork_as(number);
  if (another < 0) {
    GTEST_SKIP() << "this process may not choose the number of a child";
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(process.wait(), "it ended");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  ::kill(another, SIGKILL);
  EXPECT_EQ(::waitpid(another, nullptr, 0), another) << "it is the application's to wait for";
}

TEST_F(HelperClients, DoNotSpinWhenOneCanPrintNoMore) {
  const std::clock_t begin = std::clock();
  refusal("exec sleep 60 >&- 2>&-", 1s);
  EXPECT_LT(std::clock() - begin, CLOCKS_PER_SEC / 2);
}

TEST_F(HelperClients, DoNotTakeAnyNumberForALogLevel) {
  std::vector<LogLevel> levels;
  set_log_sink([&](LogLevel level, std::string_view words) {
    if (words == "from a helper") {
      levels.push_back(level);
    }
  });
  for (const char* level : {"0", "1000000", "18446744073709551611"}) {
    const auto message = folder_.path() / "message";
    test::write_file(message,
                     bytes_of({"log", {{"level", level}, {"words", "from a helper"}}, {}}));
    refusal("exec cat '" + message.string() + "' >&0");
  }
  set_log_sink({});
  EXPECT_EQ(levels, (std::vector{LogLevel::kError, LogLevel::kDebug, LogLevel::kDebug}));
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

TEST_F(HelperClients, GiveUpOneThatDoesNotReadItsTask) {
  const auto message = folder_.path() / "message";
  test::write_file(message, bytes_of({"ready", {}, {}}));
  const auto program = folder_.path() / "helper";
  test::write_file(program, "#!/bin/sh\ncat '" + message.string() + "' >&0; exec sleep 60");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ::setenv("NPUCORE_HELPER_PATH", program.c_str(), 1);
  DeviceInfo device;
  HelperTask task;
  task.build_flags.assign(std::size_t{4} << 20, ' ');  // more than a socket takes
  const auto begin = std::chrono::steady_clock::now();
  try {
    HelperClient client(device, nullptr, begin + 1s);
    client.compile(task, [] {});
    ADD_FAILURE() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kTimeout) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST_F(HelperClients, DoNotUseOneThatEnds) {
  const auto why = refusal("exit 3");
  EXPECT_TRUE(has(why, "could not open an NPU"));
}

TEST_F(HelperClients, DoNotUseOneThatTalksNonsense) {
  const auto why = refusal("yes >&0");
  EXPECT_TRUE(has(why, "of another version of npucore"));
}

}  // namespace
}  // namespace npu::internal

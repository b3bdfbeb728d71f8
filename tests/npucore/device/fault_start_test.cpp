// Driver calls that fail while a process finds and opens its device, each in a process of its own.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include <npucore/device.hpp>
#include <npucore/error.hpp>

#include "support/software_npu.hpp"

namespace npu::test {
namespace {

/// Calls are counted when one of them may fail.
constexpr const char* kNoneHit = "zeFenceReset:ERROR_UNKNOWN@1000000";

/// Result of `action` in a child process; if it returned none, how the child ended.
std::string in_child(const std::string& fault, const std::function<std::string()>& action) {
  int ends[2] = {};
  if (::pipe(ends) != 0) throw std::runtime_error("pipe");
  const auto child = ::fork();
  if (child == 0) {
    ::setenv("SOFTNPU_FAULT", fault.c_str(), 1);
    const auto told = action();
    ::_exit(::write(ends[1], told.data(), told.size()) == static_cast<ssize_t>(told.size()) ? 0
                                                                                            : 1);
  }
  ::close(ends[1]);
  std::string told(1 << 16, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got)) {
    got = ::read(ends[0], told.data() + size, told.size() - size);
    if (got < 0) throw std::runtime_error("read");
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) return "the child ended with status " + std::to_string(status);
  return told.substr(0, size);
}

/// "opened", or the error; of two attempts.
std::string open_twice() {
  std::string told;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      Device::open(DeviceKind::kSoftware);
      told += "opened\n";
    } catch (const Error& error) {
      told += std::string("error: ") + error.what() + "\n";
    }
  }
  return told;
}

std::string calls_of_opening() {
  Device::open(DeviceKind::kSoftware);
  std::string calls;
  for (const auto& [call, count] : driver_call_counts()) calls += call + "\n";
  return calls;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      found.push_back(line);
      line.clear();
    } else {
      line += c;
    }
  }
  return found;
}

TEST(FaultAtStart, EveryCallThatFailsOnceLetsTheNextOpenSucceed) {
  const auto calls = lines(in_child(kNoneHit, calls_of_opening));
  ASSERT_GT(calls.size(), 5U);
  for (const auto& call : calls) {
    for (const auto* result : {"ERROR_UNKNOWN", "ERROR_DEVICE_LOST"}) {
      SCOPED_TRACE(call + ":" + result);
      const auto told = in_child(call + ":" + result + "@1", open_twice);
      const auto attempts = lines(told);
      ASSERT_EQ(attempts.size(), 2U) << told;
      EXPECT_EQ(attempts[1], "opened") << told;
    }
  }
}

TEST(FaultAtStart, EveryCallThatFailsForGoodIsACleanErrorOrNotNeeded) {
  for (const auto& call : lines(in_child(kNoneHit, calls_of_opening))) {
    SCOPED_TRACE(call);
    const auto told = in_child(call + ":ERROR_UNKNOWN@1+", open_twice);
    ASSERT_EQ(lines(told).size(), 2U) << told;
    EXPECT_TRUE(lines(told)[0] == "opened" || told.starts_with("error: ")) << told;
  }
}

}  // namespace
}  // namespace npu::test

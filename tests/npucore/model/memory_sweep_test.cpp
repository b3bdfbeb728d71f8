// Every allocation that a public call makes in libnpucore, refused in turn: an Error or, where it
// can do without, a result; nothing left behind, no end of the process, and the next call works.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <numeric>
#include <thread>
#include <vector>

#include "support/samples.hpp"

#include "failing_memory.hpp"
#include "public_calls.hpp"
#include "support.hpp"

namespace npu::test {
namespace {

/// For each call, of this process's time. A call that compiles makes a thousand allocations, and
/// each that is refused takes two calls.
double seconds_to_try() {
  return every_row_is_wanted() ? 4 : 0.1;
}

/// All of 1 to `count`, each once, spread so that any number of the first ones reaches all parts.
std::vector<std::uint64_t> spread(std::uint64_t count) {
  auto step = std::max<std::uint64_t>(count * 618 / 1000, 1);
  while (std::gcd(step, count) != 1) ++step;
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < count; ++i) order.push_back(1 + i * step % count);
  return order;
}

class MemorySweep : public testing::TestWithParam<PublicCall> {
 protected:
  void SetUp() override {
    fds_ = count_open_fds();
    Device::open(DeviceKind::kSoftware);
    objects_ = live_driver_objects();
    prepare();
  }
  void TearDown() override {
    stage_.reset();
    EXPECT_TRUE(driver_objects_settle_at(objects_)) << describe_live_objects();
    EXPECT_EQ(count_open_fds(), fds_);
  }

  void prepare() {
    stage_.reset();
    stage_ = std::make_unique<Stage>();
    stage_->device = Device::open(DeviceKind::kSoftware);
    GetParam().prepare(*stage_);
    GetParam().run(*stage_);
  }

  /// Whether there was such an allocation.
  bool refuse(std::uint64_t nth, Refused refused = Refused::kOnce) {
    SCOPED_TRACE("allocation " + std::to_string(nth));
    fail_allocation(nth, refused);
    try {
      GetParam().run(*stage_);
    } catch (const Error& error) {
      fail_allocation(0);
      ++errors_;
      EXPECT_STRNE(error.what(), "");
    } catch (const std::exception& error) {
      fail_allocation(0);
      ADD_FAILURE() << "not an Error: " << error.what();
    }
    const bool reached = allocations() >= nth;
    fail_allocation(0);
    try {
      GetParam().run(*stage_);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "the next call fails: " << error.what();
      prepare();
    }
    return reached;
  }

  std::uint64_t count() {
    fail_allocation(0);
    GetParam().run(*stage_);
    return allocations();
  }

  std::unique_ptr<Stage> stage_;
  std::uint64_t errors_ = 0;

 private:
  std::size_t fds_ = 0;
  std::uint32_t objects_ = 0;
};

TEST_P(MemorySweep, IsACleanErrorAndTheNextCallWorks) {
  const auto all = count();
  if (all == 0) return;
  // Allocations that are made once, and kept up to a number, are made by then.
  for (std::uint64_t i = 0; i < 20 && !HasFailure(); ++i) refuse(1 + i % all);
  const auto live_before = live_allocations();
  const auto end = std::clock() + static_cast<std::clock_t>(seconds_to_try() * CLOCKS_PER_SEC);
  std::int64_t tried = 0;
  for (const auto nth : spread(all)) {
    if (HasFailure() || std::clock() > end) break;
    refuse(nth);
    ++tried;
  }
  // A leak in one place of twenty would be as many. A compilation ends on its own thread.
  const auto few = 20 + tried / 20;
  for (int i = 0; i < 500 && live_allocations() - live_before >= few; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_LT(live_allocations() - live_before, few);
  RecordProperty("tried", static_cast<int>(tried));
  RecordProperty("allocations", static_cast<int>(all));
  RecordProperty("errors", static_cast<int>(errors_));
  EXPECT_GE(errors_, 1U) << "none of " << all << " allocations was refused";
}

TEST_P(MemorySweep, IsACleanErrorWhereNoneIsLeftFromThereOn) {
  const auto all = count();
  const auto end = std::clock() + static_cast<std::clock_t>(seconds_to_try() * CLOCKS_PER_SEC);
  for (const auto nth : spread(all)) {
    if (HasFailure() || std::clock() > end) break;
    refuse(nth, Refused::kFromThere);
  }
}

INSTANTIATE_TEST_SUITE_P(PublicCalls, MemorySweep,
                         testing::ValuesIn(public_calls().begin(), public_calls().end()), by_name);

}  // namespace
}  // namespace npu::test

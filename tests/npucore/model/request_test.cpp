// Runs with SOFTNPU_EXEC=delay:100000: every inference takes 100 ms and computes nothing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <thread>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/importer.hpp>
#include <npucore/request.hpp>

#include "support/test_dmabuf.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kInference{100};

class Requests : public OnSoftwareNpu {
 protected:
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  TempDir folder_;
};

/// Whether it is in flight after a wait that long. It may have ended at `end` or later: a busy
/// machine may stop this thread for longer than an inference takes.
bool is_in_flight(Request& request, Clock::time_point end,
                  std::chrono::nanoseconds limit = milliseconds(0)) {
  const bool ended = request.wait(limit);
  EXPECT_TRUE(!ended || Clock::now() >= end) << "it has ended before its time";
  return !ended;
}

TEST_F(Requests, AreNotReadyBeforeTheirTime) {
  Request request = model().create_request();
  bool seen_in_flight = false;  // not in each turn, where the machine is busy
  for (int turn = 0; turn < 20 && !seen_in_flight; ++turn) {
    const auto end = Clock::now() + kInference;
    request.submit();
    seen_in_flight = is_in_flight(request, end) && is_in_flight(request, end, milliseconds(20));
    EXPECT_TRUE(request.wait());
  }
  EXPECT_TRUE(seen_in_flight) << "a wait with a limit waits for the inference";
}

TEST_F(Requests, WithNothingInFlightAreReady) {
  Request request = model().create_request();
  EXPECT_TRUE(request.wait(milliseconds(0)));
  request.infer();
  EXPECT_TRUE(request.wait(milliseconds(0)));
}

TEST_F(Requests, AreSubmittedOnceAtATime) {
  Request request = model().create_request();
  request.submit();
  expect_error(ErrorCode::kInvalidArgument, "already in flight", [&] { request.submit(); });
  EXPECT_TRUE(request.wait());
  EXPECT_NO_THROW(request.infer());
}

TEST_F(Requests, BindNothingWhileInFlight) {
  Request request = model().create_request();
  const Tensor other = Tensor::allocate(device_, 192, MemoryUse::kInput);
  request.submit();
  expect_error(ErrorCode::kInvalidArgument, "while the inference is in flight",
               [&] { request.set_input(0, other); });
}

TEST_F(Requests, InFlightTogetherEndInOrder) {
  const CompiledModel shared = model();
  Request first = shared.create_request();
  Request second = shared.create_request();
  Request third = shared.create_request();
  bool seen_in_flight = false;  // not in each turn, where the machine is busy
  for (int turn = 0; turn < 20 && !seen_in_flight; ++turn) {
    const auto end = Clock::now() + 3 * kInference;
    first.submit();
    second.submit();
    third.submit();
    seen_in_flight = is_in_flight(third, end);
    EXPECT_TRUE(first.wait());
    seen_in_flight = seen_in_flight && is_in_flight(third, end);
    EXPECT_TRUE(third.wait());
    EXPECT_TRUE(second.wait(milliseconds(0)));
  }
  EXPECT_TRUE(seen_in_flight) << "submit, or the first one's wait, waits for the third";
}

TEST_F(Requests, AreWaitedForWhenTheyAreDestroyed) {
  const CompiledModel shared = model();
  const auto start = Clock::now();
  {
    Request request = shared.create_request();
    request.submit();
  }
  EXPECT_GE(Clock::now() - start, kInference);
}

TEST_F(Requests, ThatCannotBeWaitedForEndAllTheSame) {
  Request request = model().create_request();
  set_fault("zeFenceHostSynchronize:OUT_OF_HOST_MEMORY@1");
  const auto start = Clock::now();
  request.submit();
  expect_error(ErrorCode::kOutOfMemory, "zeFenceHostSynchronize", [&] { request.wait(); });
  EXPECT_GE(Clock::now() - start, kInference) << "its memory may be used, and it is still running";
  set_fault("");
  request.infer();
}

TEST_F(Requests, AreWaitedForWhenTheyAreReplaced) {
  const CompiledModel shared = model();
  Request request = shared.create_request();
  const auto start = Clock::now();
  request.submit();
  request = shared.create_request();
  EXPECT_GE(Clock::now() - start, kInference);
}

TEST_F(Requests, AreWaitedForHoweverLongTheLimit) {
  using std::chrono::nanoseconds;
  Request request = model().create_request();
  bool seen_in_flight = false;
  for (const bool with_callback : {false, true}) {
    if (with_callback) {
      request.set_callback([](std::exception_ptr) {});
    }
    for (const nanoseconds limit :
         {nanoseconds::max() - nanoseconds(1), nanoseconds(std::chrono::hours(24 * 365 * 280))}) {
      const auto end = Clock::now() + kInference;
      request.submit();
      seen_in_flight |= is_in_flight(request, end, nanoseconds(-5));
      EXPECT_TRUE(request.wait(limit));
    }
  }
  EXPECT_TRUE(seen_in_flight) << "a limit below zero waits for the inference";
}

TEST_F(Requests, PastTheQueuesPlacesWaitForTheOldest) {
  const CompiledModel shared = model();
  std::vector<Request> requests;
  for (int count = 0; count < 61; ++count) requests.push_back(shared.create_request());
  for (int count = 0; count < 60; ++count) requests[static_cast<std::size_t>(count)].submit();
  requests.back().submit();
  EXPECT_TRUE(requests.front().wait(milliseconds(0))) << "its place was taken before it had ended";
  EXPECT_FALSE(requests.back().wait(milliseconds(0)));
  for (Request& request : requests) EXPECT_TRUE(request.wait());
}

TEST_F(Requests, OfABatchTakeAPlaceForEachItem) {
  const CompiledModel shared = model();
  Request first = shared.create_request(40);
  Request second = shared.create_request(40);
  first.submit();
  second.submit();
  EXPECT_TRUE(first.wait(milliseconds(0)));
  EXPECT_TRUE(second.wait());
  // All places are free again: a further one does not wait for the oldest.
  Request oldest = shared.create_request();
  Request further = shared.create_request();
  bool seen_in_flight = false;  // not in each turn, where the machine is busy
  for (int turn = 0; turn < 20 && !seen_in_flight; ++turn) {
    oldest.submit();
    further.submit();
    seen_in_flight = !oldest.wait(milliseconds(0));
    EXPECT_TRUE(oldest.wait());
    EXPECT_TRUE(further.wait());
  }
  EXPECT_TRUE(seen_in_flight) << "the batches have kept places";
}

TEST_F(Requests, ThatWaitForAPlaceHoldUpNobodyElse) {
  const CompiledModel shared = model();
  std::vector<Request> full;
  for (int count = 0; count < 3; ++count) full.push_back(shared.create_request(20));
  Request waits = shared.create_request();
  Importer importer(device_);
  const int fd = make_dmabuf(4096), another = make_dmabuf(4096);
  std::optional<Tensor> idle = importer.import(fd);
  for (Request& request : full) request.submit();
  std::thread submits([&] { waits.submit(); });
  std::this_thread::sleep_for(kInference);
  idle.reset();
  importer.import(another);
  Tensor::allocate(device_, 4096, MemoryUse::kInput);
  shared.create_request();
  EXPECT_FALSE(full.front().wait(milliseconds(0))) << "these waited until a place was free";
  submits.join();
  EXPECT_TRUE(waits.wait());
  ::close(fd);
  ::close(another);
}

}  // namespace
}  // namespace npu::test

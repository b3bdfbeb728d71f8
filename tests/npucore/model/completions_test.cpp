// Ends of inferences behind a descriptor.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

using Done = Completions::Done;

/// Whether it can be read within a minute, or at all for 0.
bool is_readable(int fd, int timeout_ms = 60'000) {
  pollfd place = {fd, POLLIN, 0};
  return ::poll(&place, 1, timeout_ms) == 1 && (place.revents & POLLIN) != 0;
}

class Ends : public OnSoftwareNpu {
 protected:
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  TempDir folder_;
};

TEST_F(Ends, OfAnInferenceMakeTheDescriptorReadable) {
  Completions completions;
  Request request = model().create_request();
  completions.watch(request, 7);
  EXPECT_FALSE(is_readable(completions.fd(), 0));
  std::ranges::fill(request.input("x").as<float>(), 2.F);
  request.submit();
  ASSERT_TRUE(is_readable(completions.fd()));
  const std::vector<Done> done = completions.take();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].key, 7U);
  EXPECT_EQ(done[0].error, nullptr);
  EXPECT_EQ(request.output("y").as<float>()[0], affine(2));
  EXPECT_FALSE(is_readable(completions.fd(), 0));
  EXPECT_TRUE(completions.take().empty());
}

TEST_F(Ends, TellTheirError) {
  Completions completions;
  Request request = model().create_request();
  completions.watch(request, 1);
  request.submit();
  ASSERT_TRUE(is_readable(completions.fd()));
  completions.take();
  set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
  request.submit();
  ASSERT_TRUE(is_readable(completions.fd()));
  const std::vector<Done> done = completions.take();
  ASSERT_EQ(done.size(), 1U);
  expect_error(ErrorCode::kDeviceLost, "", [&] { std::rethrow_exception(done[0].error); });
  expect_error(ErrorCode::kDeviceLost, "", [&] { request.wait(); });
  set_fault("");
}

/// A loop over epoll, as a server has it: each end submits the request again.
TEST_F(Ends, OfManyRequestsAreToldOnceEach) {
  constexpr std::uint64_t kRequests = 4, kRounds = 50;
  Completions completions;
  const CompiledModel shared = model();
  std::vector<Request> requests;
  for (std::uint64_t key = 0; key < kRequests; ++key) {
    requests.push_back(shared.create_request());
    completions.watch(requests.back(), key);
  }
  const int loop = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event wanted = {.events = EPOLLIN, .data = {.fd = completions.fd()}};
  ASSERT_EQ(::epoll_ctl(loop, EPOLL_CTL_ADD, completions.fd(), &wanted), 0);
  for (Request& request : requests) request.submit();
  std::map<std::uint64_t, std::uint64_t> ended;
  std::uint64_t all = 0;
  while (all < kRequests * kRounds) {
    epoll_event event = {};
    ASSERT_EQ(::epoll_wait(loop, &event, 1, 60'000), 1);
    for (const Done& done : completions.take()) {
      ++all;
      if (++ended[done.key] < kRounds) {
        requests[done.key].submit();
      }
    }
  }
  for (std::uint64_t key = 0; key < kRequests; ++key) EXPECT_EQ(ended[key], kRounds);
  ::close(loop);
  EXPECT_TRUE(completions.take().empty());
}

TEST_F(Ends, OfManyModelsShareADescriptor) {
  Completions completions;
  Request first = model().create_request(), second = model().create_request();
  completions.watch(first, 1);
  completions.watch(second, 2);
  first.submit();
  second.submit();
  std::set<std::uint64_t> keys;
  while (keys.size() < 2) {
    ASSERT_TRUE(is_readable(completions.fd()));
    for (const Done& done : completions.take()) keys.insert(done.key);
  }
  EXPECT_EQ(keys, (std::set<std::uint64_t>{1, 2}));
}

TEST_F(Ends, OfARequestThatWasDestroyedAreToldToo) {
  Completions completions;
  {
    Request request = model().create_request();
    completions.watch(request, 3);
    request.submit();
  }
  ASSERT_TRUE(is_readable(completions.fd(), 0)) << "the destructor waits for the inference";
  EXPECT_EQ(completions.take().at(0).key, 3U);
}

TEST_F(Ends, MayDestroyTheirRequest) {
  Completions completions;
  auto request = std::make_unique<Request>(model().create_request());
  completions.watch(*request, 3);
  request->submit();
  ASSERT_TRUE(is_readable(completions.fd()));
  EXPECT_EQ(completions.take().size(), 1U);
  request.reset();
}

TEST_F(Ends, AreToldToNobodyOnceTheCompletionsAreGone) {
  Request request = model().create_request();
  int fd = -1;
  {
    Completions completions;
    fd = completions.fd();
    completions.watch(request, 1);
    request.submit();
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1) << "the descriptor is closed although a request is watched";
  request.wait();
  request.infer();
}

TEST_F(Ends, AreSharedByCopies) {
  std::optional<Completions> first(std::in_place);
  Completions second = *first;
  Request request = model().create_request();
  first->watch(request, 1);
  first.reset();
  request.infer();
  EXPECT_EQ(second.take().size(), 1U);
}

TEST_F(Ends, AreNoLongerToldAfterAnotherCallback) {
  Completions first, second;
  Request request = model().create_request();
  first.watch(request, 1);
  request.infer();
  second.watch(request, 2);
  request.infer();
  EXPECT_EQ(first.take().size(), 1U);
  EXPECT_EQ(second.take().size(), 1U);
  request.set_callback({});
  request.infer();
  EXPECT_TRUE(first.take().empty());
  EXPECT_TRUE(second.take().empty());
}

TEST_F(Ends, AreTakenByAnyThread) {
  constexpr std::size_t kAll = 200;
  Completions completions;
  const CompiledModel shared = model();
  std::atomic<std::size_t> taken = 0;
  std::vector<std::thread> takers;
  for (int i = 0; i < 2; ++i) {
    takers.emplace_back([&] {
      while (taken < kAll && is_readable(completions.fd(), 60'000)) {
        taken += completions.take().size();
      }
    });
  }
  std::vector<std::thread> users;
  for (int i = 0; i < 4; ++i) {
    users.emplace_back([&] {
      Request request = shared.create_request();
      completions.watch(request, 1);
      for (std::size_t round = 0; round < kAll / 4; ++round) request.infer();
    });
  }
  for (std::thread& user : users) user.join();
  while (taken < kAll) std::this_thread::yield();
  Request last = shared.create_request();  // wakes a taker that waits for nothing
  completions.watch(last, 2);
  last.infer();
  for (std::thread& taker : takers) taker.join();
  EXPECT_EQ(taken + completions.take().size(), kAll + 1);
}

TEST_F(Ends, CannotBeWatchedInFlight) {
  Completions completions;
  Request request = model().create_request();
  request.submit();
  expect_error(ErrorCode::kInvalidArgument, "in flight", [&] { completions.watch(request, 1); });
  request.wait();
  EXPECT_TRUE(completions.take().empty());
}

TEST_F(Ends, NeedADescriptor) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  expect_error(ErrorCode::kIo, "raise the limit of open files", [] { const Completions refused; });
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace npu::test

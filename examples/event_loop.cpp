// Waits for inferences and for a timer in one loop over epoll, without a thread of its own.
//
// usage: event_loop models/square.xml
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <npucore/npucore.hpp>

namespace {

constexpr int kFrames = 20;

/// An epoll and a timer that is a camera: it gives a frame each 2 ms.
struct Loop {
  int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

  explicit Loop(int completions) {
    const itimerspec period = {.it_interval = {0, 2'000'000}, .it_value = {0, 2'000'000}};
    ::timerfd_settime(timer, 0, &period, nullptr);
    for (const int fd : {timer, completions}) {
      epoll_event event = {.events = EPOLLIN, .data = {.fd = fd}};
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
  }
  ~Loop() {
    ::close(timer);
    ::close(epoll);
  }
  /// The descriptor that can be read next.
  int next() const {
    epoll_event event = {};
    return ::epoll_wait(epoll, &event, 1, -1) == 1 ? event.data.fd : -1;
  }
};

/// Requests in flight and idle ones. The key of each is its index.
struct Requests {
  npu::Completions completions;
  std::vector<npu::Request> all;
  std::vector<std::size_t> idle;
  int results = 0, dropped = 0;

  explicit Requests(const npu::CompiledModel& model) {
    for (std::size_t key = 0; key < model.optimal_number_of_requests(); ++key) {
      all.push_back(model.create_request());
      completions.watch(all.back(), key);
      idle.push_back(key);
    }
  }
  void submit(int frame) {
    if (idle.empty()) {
      ++dropped;  // a camera does not wait
      return;
    }
    npu::Request& request = all[idle.back()];
    idle.pop_back();
    request.input("x").as<float>()[0] = static_cast<float>(frame);
    request.submit();  // returns at once
  }
  void take() {
    for (const auto& done : completions.take()) {
      if (done.error) {
        std::rethrow_exception(done.error);
      }
      ++results;
      std::printf("a result: %g\n", all[done.key].output("y").as<float>()[0]);
      idle.push_back(done.key);
    }
  }
};

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: event_loop models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  Requests requests(npu::CompiledModel::compile(device, npu::Model::read(arguments[1])));
  const Loop loop(requests.completions.fd());
  int frame = 0;
  while (requests.results + requests.dropped < kFrames) {
    const int ready = loop.next();
    std::uint64_t ticks = 0;
    if (ready == requests.completions.fd()) {
      requests.take();
    } else if (::read(loop.timer, &ticks, sizeof(ticks)) > 0 && frame < kFrames) {
      requests.submit(++frame);
    }
  }
  std::printf("%d frames: %d results, %d dropped\n", kFrames, requests.results, requests.dropped);
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

#include "runner.hpp"

#include <deque>

#include "interrupt.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// Decides when no more inference begins.
class Referee {
 public:
  explicit Referee(const RunLimits& limits) : limits_(limits), start_(Clock::now()) {}
  bool lets_begin() {
    if (InterruptWatch::interrupted()) return false;
    if (limits_.iterations != 0 && begun_ == limits_.iterations) return false;
    if (limits_.time.count() != 0 && Clock::now() - start_ >= limits_.time) return false;
    ++begun_;
    return true;
  }
  Clock::time_point start() const { return start_; }

 private:
  RunLimits limits_;
  Clock::time_point start_;
  std::uint64_t begun_ = 0;
};

struct InFlight {
  npu::Request* request;
  Clock::time_point submitted;
};

void submit(npu::Request& request, std::deque<InFlight>& in_flight) {
  in_flight.push_back({&request, Clock::now()});
  request.submit();
}

RunResult ended(RunResult result, Clock::time_point start, Clock::time_point last) {
  result.taken = last - start;
  result.interrupted = InterruptWatch::interrupted();
  return result;
}

}  // namespace

RunResult run_async(std::vector<npu::Request>& requests, const RunLimits& limits) {
  RunResult result;
  std::deque<InFlight> in_flight;
  Referee referee(limits);
  auto last = referee.start();
  for (auto& request : requests) {
    if (referee.lets_begin()) {
      submit(request, in_flight);
    }
  }
  while (!in_flight.empty()) {
    const InFlight oldest = in_flight.front();
    in_flight.pop_front();
    oldest.request->wait();
    last = Clock::now();
    result.latencies.push_back(last - oldest.submitted);
    if (referee.lets_begin()) {
      submit(*oldest.request, in_flight);
    }
  }
  return ended(std::move(result), referee.start(), last);
}

RunResult run_sync(npu::Request& request, const RunLimits& limits) {
  RunResult result;
  Referee referee(limits);
  auto last = referee.start();
  while (referee.lets_begin()) {
    const auto begun = Clock::now();
    request.infer();
    last = Clock::now();
    result.latencies.push_back(last - begun);
  }
  return ended(std::move(result), referee.start(), last);
}

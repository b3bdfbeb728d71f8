#include "pairs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace bench {
namespace {

double now_ms(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

Cost measure(const std::function<void()>& call, int calls) {
  // Worker threads spin for a moment after their last task: wait, so that one side's do not count
  // for the other.
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
  const double wall = now_ms(CLOCK_MONOTONIC);
  for (int i = 0; i < calls; ++i) call();
  return {(now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / calls,
          (now_ms(CLOCK_MONOTONIC) - wall) / calls};
}

struct Series {
  std::vector<double> cpu_ms, wall_ms;
  void add(const Cost& cost) {
    cpu_ms.push_back(cost.cpu_ms);
    wall_ms.push_back(cost.wall_ms);
  }
};

double median_ratio(const std::vector<double>& subject, const std::vector<double>& peer) {
  std::vector<double> ratios;
  for (size_t i = 0; i < subject.size(); ++i) ratios.push_back(subject[i] / peer[i]);
  return summarise(ratios).median;
}

}  // namespace

Summary summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = (values[(n - 1) / 2] + values[n / 2]) / 2;
  const auto rank = static_cast<size_t>(std::ceil(0.99 * static_cast<double>(n)));
  return {median, values[rank - 1]};
}

PairResult run_pairs(const std::function<void()>& subject, const std::function<void()>& peer,
                     int warm_up_calls, int pairs, int calls) {
  for (int i = 0; i < warm_up_calls; ++i) {
    subject();
    peer();
  }
  Series ours;
  Series theirs;
  for (int i = 0; i < pairs; ++i) {
    if (i % 2 == 0) {
      ours.add(measure(subject, calls));
    }
    theirs.add(measure(peer, calls));
    if (i % 2 != 0) {
      ours.add(measure(subject, calls));
    }
  }
  return {summarise(ours.cpu_ms),
          summarise(ours.wall_ms),
          summarise(theirs.cpu_ms),
          summarise(theirs.wall_ms),
          median_ratio(ours.cpu_ms, theirs.cpu_ms),
          median_ratio(ours.wall_ms, theirs.wall_ms)};
}

}  // namespace bench

#include "turns.hpp"

namespace bench {
namespace {

double now_us(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

std::vector<double> time_calls(const Side& side, int calls, clockid_t clock) {
  std::vector<double> us;
  us.reserve(static_cast<size_t>(calls));
  for (int i = 0; i < calls; ++i) {
    const double start = now_us(clock);
    side.call();
    us.push_back(now_us(clock) - start);
  }
  return us;
}

struct Samples {
  std::vector<double> all, above_first;
};

void run_round(const std::vector<Side>& sides, const TurnPlan& plan, size_t round,
               std::vector<Samples>& samples) {
  std::vector<double> medians(sides.size());
  for (size_t turn = 0; turn < sides.size(); ++turn) {
    const size_t index = (round + turn) % sides.size();
    const auto us = time_calls(sides[index], plan.calls, plan.clock);
    medians[index] = summarise(us).median;
    samples[index].all.insert(samples[index].all.end(), us.begin(), us.end());
  }
  for (size_t i = 0; i < sides.size(); ++i) {
    samples[i].above_first.push_back(medians[i] - medians[0]);
  }
}

}  // namespace

std::vector<SideResult> run_turns(const std::vector<Side>& sides, const TurnPlan& plan) {
  for (const Side& side : sides) time_calls(side, plan.warm_up_calls, plan.clock);
  std::vector<Samples> samples(sides.size());
  for (int round = 0; round < plan.rounds; ++round) {
    run_round(sides, plan, static_cast<size_t>(round), samples);
  }
  std::vector<SideResult> results;
  for (size_t i = 0; i < sides.size(); ++i) {
    results.push_back(
        {sides[i].name, summarise(samples[i].all), summarise(samples[i].above_first).median});
  }
  return results;
}

nlohmann::ordered_json to_json(const SideResult& result) {
  return {{"name", result.name},
          {"median", result.us.median},
          {"p99", result.us.p99},
          {"above_first", result.above_first}};
}

}  // namespace bench

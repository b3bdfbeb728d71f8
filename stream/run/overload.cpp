#include "overload.hpp"

#include <algorithm>
#include <map>

namespace npustream {
namespace {

/// Raises the rates of these streams to one common level, each as far as it wants, until `room` is
/// used up. Returns what is left of it.
double raise(const std::vector<std::size_t>& streams, const std::vector<Demand>& demands,
             double room, std::vector<double>* rates) {
  double low = 0, high = 0;
  for (const std::size_t i : streams) high = std::max(high, demands[i].wanted);
  const auto rate_at = [&](std::size_t i, double level) {
    return std::max((*rates)[i], std::min(level, demands[i].wanted));
  };
  const auto used_at = [&](double level) {
    double used = 0;
    for (const std::size_t i : streams) used += rate_at(i, level) - (*rates)[i];
    return used;
  };
  constexpr int kSteps = 50;  // halvings
  if (used_at(high) <= room) {
    low = high;
  }
  for (int step = 0; step < kSteps && low < high; ++step) {
    const double middle = (low + high) / 2;
    (used_at(middle) <= room ? low : high) = middle;
  }
  const double used = used_at(low);
  for (const std::size_t i : streams) (*rates)[i] = rate_at(i, low);
  return std::max(0.0, room - used);
}

}  // namespace

std::vector<double> shares_of(const std::vector<Demand>& demands, double capacity) {
  std::vector<double> rates;
  double floors = 0;
  for (const Demand& demand : demands) {
    rates.push_back(std::min(demand.floor, demand.wanted));
    floors += rates.back();
  }
  if (floors > capacity) {
    for (double& rate : rates) rate *= capacity / floors;
    return rates;
  }
  std::map<std::uint32_t, std::vector<std::size_t>, std::greater<>> by_priority;
  for (std::size_t i = 0; i < demands.size(); ++i) by_priority[demands[i].priority].push_back(i);
  double room = capacity - floors;
  for (const auto& [priority, streams] : by_priority) room = raise(streams, demands, room, &rates);
  return rates;
}

void Overload::update(const DeviceLoad& load) {
  constexpr double kBearable = 0.05;  // of all frames: a busy moment is no overload
  constexpr double kUsable = 0.9;     // of the device's time
  constexpr double kSmoothing = 0.2;  // weight of the last second
  constexpr int kBadSeconds = 3, kGoodSeconds = 10;
  if (load.busy <= 0 || load.inferred <= 0) return;
  const double seen = kUsable * load.inferred / load.busy;
  if (!is_overloaded()) {
    const bool is_bad =
        load.missed > kBearable * (load.inferred + load.missed) && load.wanted > seen;
    bad_seconds_ = is_bad ? bad_seconds_ + 1 : 0;
    if (bad_seconds_ >= kBadSeconds) {
      capacity_ = seen;
    }
    good_seconds_ = 0;
    return;
  }
  capacity_ += kSmoothing * (seen - capacity_);
  good_seconds_ = load.wanted <= capacity_ ? good_seconds_ + 1 : 0;
  if (good_seconds_ < kGoodSeconds) return;
  capacity_ = 0;
  bad_seconds_ = 0;
}

}  // namespace npustream

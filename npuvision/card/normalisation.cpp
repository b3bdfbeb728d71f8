#include "sources.hpp"

namespace npu::vision {
namespace {

float checked(const Value& from, double value, double lowest) {
  if (value >= lowest && value <= CardLimits::kGreyLevels) return static_cast<float>(value);
  from.refuse("gives a mean or a scale that no grey levels have");
}

}  // namespace

void set_normalisation(const Value& from, const std::vector<float>& mean,
                       const std::vector<float>& deviation, double factor, double offset,
                       ModelCard* card) {
  card->mean.clear();
  card->scale.clear();
  const auto add_mean = [&](double value) {
    card->mean.push_back(checked(from, (value + offset) / factor, -CardLimits::kGreyLevels));
  };
  const auto add_scale = [&](double value) {
    card->scale.push_back(checked(from, value / factor, CardLimits::kSmallScale));
  };
  for (const float value : mean) add_mean(value);
  if (mean.empty() && offset != 0) {
    add_mean(0);
  }
  for (const float value : deviation) add_scale(value);
  if (deviation.empty()) {
    add_scale(1);
  }
}

}  // namespace npu::vision

#include "analytics/map_models.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace gstnpu {
namespace {

TEST(MapModelsTest, KnowsWhatTheCardSays) {
  MapModels models;
  EXPECT_TRUE(models.of(nullptr).labels.empty());
  EXPECT_TRUE(models.of("{nonsense").labels.empty());
  for (int i = 0; i < 100; ++i) {
    const std::string label = std::to_string(i);
    const MapModel& model =
        models.of((R"({"task":"anomaly","labels":[")" + label + "\"]}").c_str());
    EXPECT_EQ(model.labels, std::vector{label});
    EXPECT_TRUE(model.finds_anomalies);
  }
}

TEST(ValueRangeTest, IsOfTheFiniteValues) {
  const auto range = range_of({INFINITY, 3, NAN, 1, 2});
  ASSERT_TRUE(range);
  EXPECT_EQ(range->least, 1);
  EXPECT_EQ(range->most, 3);
  EXPECT_EQ(range->mean, 2);
  EXPECT_FALSE(range_of({NAN, INFINITY}));
}

}  // namespace
}  // namespace gstnpu

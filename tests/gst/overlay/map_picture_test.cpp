#include "overlay/map_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "overlay/drawing.hpp"
#include "overlay/palette.hpp"

namespace gstnpu {
namespace {

using npu::vision::Map;

std::tuple<int, int, int> parts(const Color& color) {
  return {color.red, color.green, color.blue};
}

std::vector<guint8> scaled(const ColoredMap& map, int width, int height) {
  std::vector<guint8> numbers(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  scale(map, {0, 0, static_cast<double>(width), static_cast<double>(height)}, width, height,
        numbers.data());
  return numbers;
}

TEST(ClassMap, BackgroundHasNoColor) {
  const ColoredMap map = color_classes({2, 2, {0, 1, 2, 1}}, {"Background", "cat", "dog"});
  EXPECT_EQ(map.numbers, (std::vector<guint8>{0, 1, 2, 1}));
  ASSERT_EQ(map.classes.size(), 2U);
  EXPECT_EQ(map.classes[0].label, "cat");
  EXPECT_DOUBLE_EQ(map.classes[0].share, 0.5);
  EXPECT_EQ(map.classes[1].label, "dog");
  EXPECT_TRUE(color_classes({1, 1, {0}}, {"background"}).colors.empty());
}

TEST(ClassMap, AClassKeepsItsColorInEveryFrame) {
  const ColoredMap few = color_classes({2, 1, {7, 9}}, {});
  const ColoredMap many = color_classes({4, 1, {1, 7, 3, 9}}, {});
  EXPECT_EQ(parts(few.colors[few.numbers[0] - 1U]), parts(many.colors[many.numbers[1] - 1U]));
  EXPECT_EQ(parts(few.colors[few.numbers[1] - 1U]), parts(many.colors[many.numbers[3] - 1U]));
  EXPECT_EQ(few.classes[0].label, "class 7");
}

TEST(ClassMap, EachOfManyClassesHasAColorOfItsOwn) {
  std::set<std::tuple<int, int, int>> colors;
  for (std::uint32_t id = 0; id < 150; ++id) colors.insert(parts(color_of_class(id)));
  EXPECT_EQ(colors.size(), 150U);
}

int distance(const Color& a, const Color& b) {
  return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue);
}

TEST(ClassMap, ColorsOfNeighboursAreFarFromEachOther) {
  for (std::uint32_t id = 0; id < 150; ++id) {
    for (std::uint32_t other = id + 1; other < id + 4; ++other) {
      EXPECT_GT(distance(color_of_class(id), color_of_class(other)), 80) << id << " " << other;
    }
  }
}

TEST(ClassMap, OfMoreThan255ClassesTheLargestHaveAColor) {
  Map<guint16> many{400, 2, std::vector<guint16>(800, 999)};
  std::iota(many.values.begin(), many.values.begin() + 400, guint16{0});
  const ColoredMap map = color_classes(many, {});
  EXPECT_EQ(map.colors.size(), 255U);
  EXPECT_EQ(map.classes.front().id, 999);
  EXPECT_EQ(parts(map.colors.at(map.numbers[400] - 1U)), parts(color_of_class(999)));
  EXPECT_EQ(map.numbers[399], 0);
}

TEST(ClassMap, OfAsLargeOnesTheFirstDo) {
  Map<guint16> all{1000, 1, std::vector<guint16>(1000)};
  std::iota(all.values.begin(), all.values.end(), guint16{64536});
  const ColoredMap map = color_classes(all, {"a label"});
  EXPECT_EQ(map.colors.size(), 255U);
  EXPECT_EQ(map.numbers[254], 255);
  EXPECT_EQ(map.numbers[255], 0);
}

TEST(ClassMap, AreasAreScaled) {
  const auto numbers = scaled(color_classes({2, 1, {4, 5}}, {}), 8, 2);
  EXPECT_EQ(numbers, (std::vector<guint8>{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2}));
}

// In a map of stairs the edge is a line, not stairs.
TEST(ClassMap, EdgesAreSmooth) {
  const auto numbers = scaled(color_classes({3, 3, {1, 2, 2, 1, 1, 2, 1, 1, 1}}, {}), 30, 30);
  std::vector<long> lengths;
  for (int y = 5; y < 25; ++y) {
    lengths.push_back(std::count(numbers.begin() + 30L * y, numbers.begin() + 30L * (y + 1), 1));
  }
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    EXPECT_GE(lengths[i], lengths[i - 1]);
    EXPECT_LE(lengths[i] - lengths[i - 1], 7) << "row " << i + 5;
  }
}

TEST(ValueMap, GoesFromBlueToRed) {
  const ColoredMap map = color_values(Map<float>{3, 1, {-5, 0, 5}}, false);
  EXPECT_EQ(map.numbers, (std::vector<guint8>{1, 128, 255}));
  EXPECT_EQ(parts(map.colors.front()), std::tuple(0, 0, 128));
  EXPECT_EQ(parts(map.colors.back()), std::tuple(128, 0, 0));
  EXPECT_TRUE(map.classes.empty());
}

TEST(ValueMap, ValuesBetweenPlacesAreBetween) {
  const auto numbers = scaled(color_values(Map<float>{2, 1, {0, 1}}, false), 16, 1);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_GT(std::set<guint8>(numbers.begin(), numbers.end()).size(), 6U);
}

// Else it would have a ring of values that are nowhere.
TEST(ValueMap, BetweenNoNumberAndAnotherLiesNothing) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (const Map<float>& map :
       {Map<float>{4, 1, {0, 1, kNone, 1}}, Map<float>{1, 4, {0, 1, kNone, 1}}}) {
    const bool is_row = map.width > 1;
    const auto numbers = scaled(color_values(map, false), is_row ? 40 : 1, is_row ? 1 : 40);
    EXPECT_EQ(numbers[10], 141) << "between numbers it is graded";
    for (std::size_t i = 15; i < 20; ++i) EXPECT_EQ(numbers[i], 255) << i;
    for (std::size_t i = 20; i < 30; ++i) EXPECT_EQ(numbers[i], 0) << i;
    for (std::size_t i = 30; i < 40; ++i) EXPECT_EQ(numbers[i], 255) << i;
  }
}

TEST(ValueMap, OfAnomaliesWhatIsNormalHasNoColor) {
  const ColoredMap map = color_values(Map<float>{4, 1, {0, 0.49F, 0.5F, 2}}, true);
  EXPECT_EQ(map.numbers, (std::vector<guint8>{0, 0, 1, 255}));
}

class DrawnMap : public testing::Test {
 protected:
  DrawnMap() { drawing_.begin({640, 360}); }

  Drawing drawing_{Look{}.for_height(360)};
  const ColoredMap map_ = color_classes({2, 1, {3, 4}}, {"", "", "", "road", "sky"});
};

TEST_F(DrawnMap, CoversItsPlace) {
  drawing_.add_map(map_, {160, 0, 480, 180});
  ASSERT_EQ(drawing_.sprites().size(), 1U);
  const Sprite& sprite = drawing_.sprites().front();
  EXPECT_EQ(std::vector({sprite.x, sprite.y, sprite.width, sprite.height}),
            std::vector({160, 0, 320, 180}));
  EXPECT_EQ(sprite.coverage[159], 1);
  EXPECT_EQ(sprite.coverage[160], 2);
  EXPECT_EQ(sprite.palette.size(), 2U);
  EXPECT_EQ(sprite.opacity, 102);
}

// At its own scale: the left three quarters of this one are out of the frame.
TEST_F(DrawnMap, OfWhatStandsOutOfTheFrameTheRestIsSeen) {
  drawing_.add_map(map_, {-1920, -360, 640, 720});
  ASSERT_EQ(drawing_.sprites().size(), 1U);
  const Sprite& sprite = drawing_.sprites().front();
  EXPECT_EQ(std::vector({sprite.x, sprite.y, sprite.width, sprite.height}),
            std::vector({0, 0, 640, 360}));
  EXPECT_EQ(sprite.coverage[0], 2);
}

TEST_F(DrawnMap, TheLegendNamesTheLargestClassesInTheirColors) {
  drawing_.add_legend(map_);
  const auto sprites = drawing_.sprites();
  ASSERT_EQ(sprites.size(), 6U) << "paper, name and share of each";
  EXPECT_EQ(parts(sprites[0].color), parts(color_of_class(3)));
  EXPECT_EQ(parts(sprites[3].color), parts(color_of_class(4)));
  EXPECT_EQ(sprites[3].y, sprites[0].height) << "the second line";
}

TEST_F(DrawnMap, TheLegendKeepsItsOrder) {
  drawing_.add_legend(color_classes({3, 1, {9, 9, 2}}, {}));
  EXPECT_EQ(parts(drawing_.sprites()[0].color), parts(color_of_class(2)));
  EXPECT_EQ(parts(drawing_.sprites()[3].color), parts(color_of_class(9)));
}

TEST_F(DrawnMap, TheLegendLeavesOutWhatIsHardlyThere) {
  Map<guint16> map{1000, 1, std::vector<guint16>(1000, 9)};
  std::fill_n(map.values.begin(), 4, guint16{2});
  drawing_.add_legend(color_classes(map, {}));
  ASSERT_EQ(drawing_.sprites().size(), 3U);
  EXPECT_EQ(parts(drawing_.sprites()[0].color), parts(color_of_class(9)));
}

TEST_F(DrawnMap, TheLegendIsShort) {
  Map<guint16> all{1000, 1, std::vector<guint16>(1000)};
  for (std::size_t i = 0; i < 1000; ++i) all.values[i] = static_cast<guint16>(i / 50);
  drawing_.add_legend(color_classes(all, {}));
  EXPECT_EQ(drawing_.sprites().size(), 3 * 8U);
}

// The largest classes, in as many lines as there is room for, one at least.
TEST(SmallFrames, HaveAShortLegend) {
  Drawing drawing{Look{}.for_height(64)};
  for (const std::uint32_t height : {64U, 16U, 1U}) {
    drawing.begin({64, height});
    drawing.add_legend(color_classes({10, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9}}, {}));
    const auto sprites = drawing.sprites();
    ASSERT_GE(sprites.size(), 3U) << height;
    EXPECT_EQ(parts(sprites[sprites.size() - 3].color), parts(color_of_class(9))) << height;
    if (height < 64) continue;
    for (const Sprite& sprite : sprites) EXPECT_LE(sprite.y + sprite.height, 32);
  }
}

}  // namespace
}  // namespace gstnpu

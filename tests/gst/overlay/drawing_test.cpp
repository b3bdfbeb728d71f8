#include "overlay/drawing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "overlay/lettering.hpp"
#include "overlay/palette.hpp"

namespace gstnpu::drawing_test {
namespace {

constexpr npu::vision::FrameSize kFrame{640, 360};

FoundObject region(const std::string& label, double x = 100, double y = 80, double width = 60,
                   double height = 40) {
  FoundObject made;
  made.label = label;
  made.x = x;
  made.y = y;
  made.width = width;
  made.height = height;
  return made;
}

class DrawingTest : public testing::Test {
 protected:
  DrawingTest() { drawing_.begin(kFrame); }

  std::vector<Sprite> of(const FoundObject& drawn) {
    drawing_.forget_sprites();
    drawing_.add(drawn);
    drawing_.add_label(drawn);
    drawing_.draw_labels();
    return {drawing_.sprites().begin(), drawing_.sprites().end()};
  }
  /// Color of a region's outline, which is drawn in the region's color.
  Color color(const FoundObject& drawn) { return of(drawn).back().color; }

  Drawing drawing_{Look{.with_labels = false}.for_height(360)};
};

bool same(const Color& one, const Color& other) {
  return one.red == other.red && one.green == other.green && one.blue == other.blue;
}

TEST_F(DrawingTest, ALabelKeepsItsColor) {
  EXPECT_TRUE(same(color(region("person")), color(region("person", 5, 6, 7, 8))));
  EXPECT_TRUE(same(color(region("person")), color_of_label("person")));
  EXPECT_FALSE(same(color(region("person")), color(region("car"))));
}

TEST_F(DrawingTest, AnIdentityHasAColorOfItsOwn) {
  FoundObject one = region("person"), other = region("person");
  one.identity = Identity{1};
  other.identity = Identity{2};
  EXPECT_FALSE(same(color(one), color(other)));
  FoundObject again = region("car");
  again.identity = Identity{1};
  EXPECT_TRUE(same(color(one), color(again)));
}

TEST_F(DrawingTest, AnOutlineIsWhereTheObjectIs) {
  int left = 1000, top = 1000, right = 0, bottom = 0;
  for (const Sprite& sprite : of(region("person"))) {
    left = std::min(left, sprite.x);
    top = std::min(top, sprite.y);
    right = std::max(right, sprite.x + sprite.width);
    bottom = std::max(bottom, sprite.y + sprite.height);
  }
  EXPECT_EQ(std::vector({left, top, right, bottom}), std::vector({100, 80, 160, 120}));
}

TEST_F(DrawingTest, AMaskCoversItsBox) {
  FoundObject masked = region("person");
  masked.mask = FoundMask{100, 80, 4, 2, 2, 1, {255, 0}};
  const Sprite sprite = of(masked).front();
  ASSERT_EQ(std::vector({sprite.x, sprite.y, sprite.width, sprite.height}),
            std::vector({100, 80, 4, 2}));
  EXPECT_EQ(std::vector<guint8>(sprite.coverage, sprite.coverage + 8),
            (std::vector<guint8>{255, 255, 0, 0, 255, 255, 0, 0}));
}

// At its own scale: the left half of this one is out of the frame, and so is the lower one.
TEST_F(DrawingTest, OfAMaskThatStandsOutOfTheFrameTheRestIsSeen) {
  FoundObject masked = region("person");
  masked.mask = FoundMask{-2, 358, 4, 4, 2, 2, {255, 0, 0, 255}};
  const Sprite sprite = of(masked).front();
  ASSERT_EQ(std::vector({sprite.x, sprite.y, sprite.width, sprite.height}),
            std::vector({0, 358, 2, 2}));
  EXPECT_EQ(std::vector<guint8>(sprite.coverage, sprite.coverage + 4),
            (std::vector<guint8>{0, 0, 0, 0}));
}

TEST_F(DrawingTest, ATrailFadesOutTowardsItsBegin) {
  Trails::Trail trail;
  for (int i = 0; i < 20; ++i) trail.points.push_back({100.0 + 10 * i, 50, i / 20.0});
  drawing_.add_trail(3, trail);
  const auto sprites = drawing_.sprites();
  ASSERT_FALSE(sprites.empty());
  EXPECT_TRUE(same(sprites.front().color, color_of_track(3)));
  EXPECT_LT(sprites.front().x, sprites.back().x);
  EXPECT_LT(sprites.front().opacity, sprites.back().opacity);
}

/// Whether the middle between the first two points of such an object is covered.
bool joins(const Sprite& lines) {
  return lines.coverage[static_cast<std::size_t>(100 - lines.y) * lines.coverage_stride +
                        static_cast<std::size_t>(250 - lines.x)] > 0;
}

TEST_F(DrawingTest, OfKeyPointsTheSkeletonIsDrawn) {
  FoundObject posed = region("crane", 190, 90, 130, 20);
  posed.key_points = {{200, 100, 1}, {300, 100, 1}, {250, 105, 0}};
  EXPECT_FALSE(joins(of(posed).back())) << "nobody knows what they are";
  posed.skeleton = {{0, 1}};
  EXPECT_TRUE(joins(of(posed).back()));
  posed.skeleton = {{0, 2}, {1, 2}, {0, 3}, {4000000000U, 1}};
  EXPECT_FALSE(joins(of(posed).back())) << "to a point that is not seen, or is none";
}

// A decoder that divides by zero, or another's: what is left of the object is drawn as it is.
TEST_F(DrawingTest, AKeyPointThatIsNoPlaceIsNotDrawn) {
  FoundObject posed = region("crane", 190, 90, 130, 20);
  posed.key_points = {{200, 100, 1}, {300, 100, 1}};
  posed.skeleton = {{0, 1}, {0, 2}, {1, 2}};
  const Sprite whole = of(posed).back();
  const std::vector<guint8> wanted(
      whole.coverage, whole.coverage + whole.coverage_stride * static_cast<gsize>(whole.height));
  for (const npu::vision::KeyPoint& odd : {npu::vision::KeyPoint{NAN, NAN, 1},
                                           {INFINITY, 100, 1},
                                           {250, -INFINITY, 1},
                                           {250, 100, NAN}}) {
    posed.key_points.resize(2);
    posed.key_points.push_back(odd);
    const Sprite lines = of(posed).back();
    ASSERT_EQ(std::vector({lines.x, lines.y, lines.width, lines.height}),
              std::vector({whole.x, whole.y, whole.width, whole.height}));
    EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), lines.coverage)) << odd.x;
  }
}

TEST_F(DrawingTest, ALineGoesToWhereItsEndIsHoweverFar) {
  FoundObject posed = region("crane", 190, 90, 130, 20);
  posed.skeleton = {{0, 1}};
  for (const double far : {1e4, 1e7, 1e9, 1e300}) {
    posed.key_points = {{200, 100, 1}, {far, 100, 1}};
    EXPECT_TRUE(joins(of(posed).back())) << far;
    posed.key_points = {{240, 100, 1}, {-far, 100, 1}};
    EXPECT_FALSE(joins(of(posed).back())) << "from there to the left, " << far;
  }
}

TEST_F(DrawingTest, ABoxThatIsTurnedByNoAngleIsDrawnAsItStands) {
  FoundObject odd = region("ship");
  odd.oriented = npu::vision::OrientedBox{130, 100, 60, 40, NAN};
  const auto sprites = of(odd), wanted = of(region("ship"));
  ASSERT_EQ(sprites.size(), wanted.size());
  EXPECT_EQ(sprites.back().x, wanted.back().x);
}

TEST_F(DrawingTest, AKeyPointThatIsHardlyThereIsNotDrawn) {
  FoundObject posed = region("crane", 190, 90, 130, 20);
  posed.skeleton = {{0, 1}};
  posed.key_points = {{200, 100, 1}, {300, 100, 0.29}};
  EXPECT_FALSE(joins(of(posed).back()));
  posed.key_points[1].confidence = 0.3;
  EXPECT_TRUE(joins(of(posed).back()));
}

TEST_F(DrawingTest, OfManyKeyPointsEachIsSmall) {
  const auto covered = [this](std::size_t count) {
    FoundObject posed = region("face", 190, 90, 130, 20);
    posed.key_points.assign(count, {200, 100, 1});
    const Sprite dots = of(posed).back();
    return std::accumulate(
        dots.coverage, dots.coverage + dots.coverage_stride * static_cast<gsize>(dots.height), 0L);
  };
  EXPECT_LT(covered(31), covered(30) / 2);
}

TEST_F(DrawingTest, SeventeenKeyPointsOfOthersAreAPersons) {
  FoundObject person = region("person", 190, 90, 130, 20);
  person.key_points.assign(17, {200, 100, 0});
  person.key_points[15] = {200, 100, 1};
  person.key_points[13] = {300, 100, 1};
  EXPECT_TRUE(joins(of(person).back()));
  person.skeleton.emplace();
  EXPECT_FALSE(joins(of(person).back())) << "the model says that they are not";
}

TEST_F(DrawingTest, AZoneIsFilledALittle) {
  npu::vision::ZoneCount zone;
  zone.corners = {{0.25, 0.25}, {0.75, 0.25}, {0.75, 0.75}, {0.25, 0.75}};
  drawing_.add_zone(zone);
  ASSERT_EQ(drawing_.sprites().size(), 5U) << "and four edges";
  const Sprite ground = drawing_.sprites().front();
  const auto covered = [&](int x, int y) {
    return ground.coverage[static_cast<std::size_t>(y - ground.y) * ground.coverage_stride +
                           static_cast<std::size_t>(x - ground.x)];
  };
  EXPECT_EQ(covered(320, 180), 255);
  EXPECT_EQ(covered(158, 180), 0);
  EXPECT_LT(ground.opacity, 100);
}

/// Pixels of a zone's sprites but its ground.
long pixels_of_edges(const std::vector<npu::vision::FramePoint>& points) {
  Drawing drawing{Look{}.for_height(360)};
  drawing.begin(kFrame);
  drawing.add_zone({{.name = {}, .corners = points}});
  const auto sprites = drawing.sprites();
  return std::accumulate(
      sprites.begin() + 1, sprites.end(), 0L,
      [](long sum, const Sprite& sprite) { return sum + long{sprite.width} * sprite.height; });
}

// Each drawn pixel costs time in each frame.
TEST(EdgesOfZones, TouchFewPixels) {
  EXPECT_LT(pixels_of_edges({{0.1, 0.1}, {0.9, 0.1}, {0.9, 0.9}, {0.1, 0.9}}), 640 * 360 / 5);
  std::vector<npu::vision::FramePoint> star;
  for (int i = 0; i < 101; ++i) {
    star.push_back({0.5 + 0.4 * std::cos(i * 3.05), 0.5 + 0.4 * std::sin(i * 3.05)});
  }
  EXPECT_LE(pixels_of_edges(star), 640 * 360) << "not once for each of many that cross";
}

TEST(EdgesOfZones, AreClosed) {
  Drawing drawing{Look{}.for_height(360)};
  drawing.begin(kFrame);
  drawing.add_zone(
      {{.name = {}, .corners = {{0.25, 0.25}, {0.75, 0.25}, {0.75, 0.75}, {0.25, 0.75}}}});
  const auto edges = drawing.sprites().subspan(1);
  for (const auto& [x, y] : {std::pair(320, 90), {480, 180}, {320, 270}, {160, 180}}) {
    const bool is_drawn =
        std::any_of(edges.begin(), edges.end(), [x = x, y = y](const Sprite& one) {
          const int column = x - one.x, row = y - one.y;
          return column >= 0 && row >= 0 && column < one.width && row < one.height &&
                 one.coverage[static_cast<std::size_t>(row) * one.coverage_stride +
                              static_cast<std::size_t>(column)] == 255;
        });
    EXPECT_TRUE(is_drawn) << x << " " << y;
  }
}

// Forward is to the right of who walks along the line.
TEST_F(DrawingTest, ALineHasItsArrowOnTheSideThatIsForward) {
  npu::vision::LineCount line;
  line.from = {0.25, 0.5};
  line.to = {0.75, 0.5};
  drawing_.add_count_line(line);
  const Sprite to_the_right = drawing_.sprites().front();
  std::swap(line.from, line.to);
  drawing_.forget_sprites();
  drawing_.add_count_line(line);
  const Sprite to_the_left = drawing_.sprites().front();
  EXPECT_LT(180 - to_the_right.y, to_the_right.y + to_the_right.height - 180);
  EXPECT_GT(180 - to_the_left.y, to_the_left.y + to_the_left.height - 180);
}

TEST_F(DrawingTest, AWayOfOnePointIsNone) {
  Trails::Trail trail;
  drawing_.add_trail(3, trail);
  trail.points.push_back({100, 50, 0});
  drawing_.add_trail(3, trail);
  EXPECT_TRUE(drawing_.sprites().empty());
}

TEST(LookTest, AnOpacityThatIsNoNumberHidesNothing) {
  const Look look = Look{.mask_opacity = NAN}.for_height(360);
  EXPECT_EQ(look, Look{.mask_opacity = NAN}.for_height(360)) << "it is drawn with as before";
  EXPECT_EQ(look.mask_opacity, 0);
}

// Whatever others attach: no sprite is larger than the frame, and no memory than a frame's pixels.
TEST_F(DrawingTest, TakesAnyNumbers) {
  const double kNumbers[] = {0,   -1,       1e-300,    1e300, -1e300, 639.9,
                             NAN, INFINITY, -INFINITY, 1e9,   -1e9,   320};
  for (const double one : kNumbers) {
    for (const double other : kNumbers) {
      FoundObject odd = region("odd", one, other, other, one);
      odd.oriented = npu::vision::OrientedBox{one, other, other, one, one};
      odd.key_points = {{one, other, 1},
                        {other, one, static_cast<float>(other)},
                        {320, 180, static_cast<float>(one)}};
      odd.mask = FoundMask{one, other, other, one, 1, 1, {255}};
      odd.confidence = one;
      Trails::Trail trail;
      trail.points = {{one, other, 0}, {other, one, 1}, {320, 180, 2}};
      drawing_.add_trail(1, trail);
      drawing_.add_zone({{.name = {}, .corners = {{one, other}, {other, one}, {0.5, one}}}});
      drawing_.add_count_line({{.name = {}, .from = {one, other}, .to = {other, 0.5}}});
      for (const Sprite& sprite : drawing_.sprites()) {
        EXPECT_LE(sprite.width, 640) << one << " " << other;
      }
      for (const Sprite& sprite : of(odd)) {
        EXPECT_LE(sprite.width, 640) << one << " " << other;
        EXPECT_LE(sprite.height, 360) << one << " " << other;
      }
    }
  }
}

TEST_F(DrawingTest, LinesEndWithTheFrame) {
  std::size_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    before = drawing_.sprites().size();
    drawing_.add_line("a class among many");
  }
  EXPECT_EQ(drawing_.sprites().size(), before);
  EXPECT_LT(before, 100U);
}

TEST(LabelsOfObjects, StayInsideTheFrame) {
  Drawing drawing{Look{}.for_height(360)};
  drawing.begin(kFrame);
  for (const double x : {0.0, 300.0, 600.0, 639.0}) {
    for (const double y : {0.0, 5.0, 300.0}) {
      drawing.add_label(region("a label", x, y, 20, 20));
    }
  }
  drawing.draw_labels();
  ASSERT_EQ(drawing.sprites().size(), 24U) << "paper and text";
  for (const Sprite& sprite : drawing.sprites()) {
    EXPECT_GE(sprite.x, 0);
    EXPECT_GE(sprite.y, 0);
    EXPECT_LE(sprite.x + sprite.width, 640);
  }
}

// At 320x240, where letters are small and places few.
TEST(LabelsOfPlaces, DoNotCoverEachOtherWhereLinesCross) {
  Drawing drawing{Look{}.for_height(240)};
  drawing.begin({320, 240});
  const std::vector<npu::vision::FramePoint> zone{{0.1, 0.1}, {0.9, 0.1}, {0.9, 0.9}, {0.1, 0.9}};
  for (const char* name : {"street", "lane"}) drawing.add_zone_tag({{name, zone}});
  drawing.add_line_tag({{"one", {0.1, 0.1}, {0.9, 0.9}}});
  drawing.add_line_tag({{"two", {0.1, 0.9}, {0.9, 0.1}}});
  drawing.draw_labels();
  std::vector<Box> papers;
  for (const Sprite& sprite : drawing.sprites()) {
    if (sprite.coverage != nullptr) continue;
    papers.push_back({sprite.x, sprite.y, sprite.x + sprite.width, sprite.y + sprite.height});
  }
  ASSERT_EQ(papers.size(), 4U);
  for (std::size_t i = 0; i < papers.size(); ++i) {
    EXPECT_EQ(common(papers[i], {0, 0, 320, 240}), papers[i]) << i;
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_TRUE(common(papers[i], papers[j]).is_empty()) << i << " and " << j;
    }
  }
}

// Letters that the font has not are of another one, which may be taller.
TEST(LabelsOfObjects, StandOnOneLine) {
  Drawing drawing{Look{}.for_height(360)};
  Lettering lettering(static_cast<int>(Look{}.for_height(360).text_height));
  bool has_others = false;
  for (const std::string name : {"plain", "\xf0\x9d\x92\x9c", "\xe2\xa8\x8c \xe4\xb8\xad"}) {
    drawing.begin(kFrame);
    FoundObject labelled = region(name);
    labelled.confidence = 0.5;
    ASSERT_TRUE(drawing.add_label(labelled));
    drawing.draw_labels();
    const auto sprites = drawing.sprites();
    ASSERT_EQ(sprites.size(), 3U) << "paper, name and number";
    EXPECT_EQ(sprites[1].y + lettering.of(name).baseline,
              sprites[2].y + lettering.of(" 50%").baseline)
        << name;
    has_others = has_others || lettering.of(name).baseline != lettering.of(" 50%").baseline;
    for (const Sprite& text : sprites.subspan(1)) {
      EXPECT_GE(text.y, sprites[0].y) << name;
      EXPECT_LE(text.y + text.height, sprites[0].y + sprites[0].height) << name;
    }
  }
  if (!has_others) {
    GTEST_SKIP() << "no font of this machine is taller than the usual one";
  }
}

TEST(LetteringTest, WritesSharesThatAreNumbers) {
  EXPECT_EQ(percent(0), " 0%");
  EXPECT_EQ(percent(0.867), " 87%");
  EXPECT_EQ(percent(7.3), " 730%");
  EXPECT_EQ(percent(NAN), "");
  EXPECT_EQ(percent(-INFINITY), "");
  EXPECT_EQ(percent(1e300), " 100000000%");
}

TEST(LetteringTest, TakesAnyText) {
  Lettering lettering(16);
  EXPECT_EQ(lettering.of("").width, 0);
  const int narrow = lettering.of("ill").width;
  EXPECT_GT(narrow, 0);
  EXPECT_GT(lettering.of("mmm").width, narrow);
  const std::string longest(10000, 'm');
  EXPECT_LT(lettering.of(longest).width, 100 * lettering.of("m").width);
  for (const std::string text : {"\xff\xfe", "a\nb\rc\td", "\x01\x02\x1b[31m", "\xd7\xa9\xd7\x9c",
                                 "\xe4\xb8\xad\xe6\x96\x87", "<b>&amp;", "\xe2\x80\xae"}) {
    const Bitmap& bitmap = lettering.of(text);
    EXPECT_LT(bitmap.height, 64) << text;
    EXPECT_EQ(bitmap.coverage.size(),
              static_cast<std::size_t>(bitmap.width) * static_cast<std::size_t>(bitmap.height));
  }
}

// Else there would be up to twice as much as it counts.
TEST(LetteringTest, KeepsNoSpareMemory) {
  Lettering lettering(40);
  for (const char* text : {"1", "a label", "a line of statistics, 30 frames/s"}) {
    const Bitmap& bitmap = lettering.of(text);
    EXPECT_EQ(bitmap.coverage.capacity(), bitmap.coverage.size()) << text;
  }
}

TEST(LetteringTest, ForgetsWhatHasBecomeTooMuch) {
  Lettering lettering(40);
  const Bitmap* first = &lettering.of("0");
  lettering.clean_up();
  EXPECT_EQ(first, &lettering.of("0")) << "a little is kept";
  for (int i = 0; i < 1000; ++i) {
    lettering.begin_frame();
    lettering.of(std::string(40, 'm') + std::to_string(i));
  }
  EXPECT_GT(lettering.known_bytes(), 8U << 20);
  lettering.clean_up();
  EXPECT_EQ(lettering.known_bytes(), 0U);
}

}  // namespace
}  // namespace gstnpu::drawing_test

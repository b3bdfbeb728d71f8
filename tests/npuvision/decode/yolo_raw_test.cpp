// Raw heads of YOLO: boxes, key points, angles, masks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <npucore/error.hpp>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision::yolo_raw_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Box {
  double x, y, width, height;
  std::vector<double> scores;
};

TestTensor tensor_of(const std::vector<Box>& boxes, bool channels_first = true,
                     std::size_t row_padding = 0, ElementType type = ElementType::kF32) {
  std::vector<std::vector<double>> rows;
  for (const Box& box : boxes) {
    rows.push_back({box.x, box.y, box.width, box.height});
    rows.back().insert(rows.back().end(), box.scores.begin(), box.scores.end());
  }
  return tensor_of_rows(rows, channels_first, row_padding, type);
}

/// One whose orientation is said.
ModelCard detector(std::size_t classes, bool channels_first = true) {
  ModelCard card = card_of(Task::kDetect, classes);
  card.channels_first = channels_first;
  return card;
}

Answer decode(const std::vector<Box>& boxes, const DecodeOptions& options = {},
              const Frame& frame = {}) {
  return decoded(detector(boxes.at(0).scores.size()), tensor_of(boxes), options, frame);
}

/// Boxes for `count` cells of a graph that scales its picture of 512x512 to 256x256 first: the
/// first of them is an object.
Answer decode_scaled(std::size_t count, const ModelCard& card) {
  std::vector<Box> boxes(count, {0, 0, 1, 1, {0}});
  boxes[0] = {100, 50, 40, 20, {0.9F}};
  const Frame frame{{.model_width = 512, .model_height = 512, .offset_x = 64}, {384, 512}};
  return decoded(card, tensor_of(boxes), {}, frame, {512, 512});
}

ModelCard scaled_detector() {
  ModelCard card = detector(1);
  card.inner_width = card.inner_height = 256;
  return card;
}

// On grids of 8, 16 and 32 pixels, or of 8 and 16.
TEST(YoloRaw, BoxesThatAreCellsOfAScaledPictureAreInItsPixels) {
  for (const std::size_t cells : {1344U, 1280U}) {
    const Answer found = decode_scaled(cells, scaled_detector());
    ASSERT_EQ(found.objects.size(), 1U);
    expect_box(found.objects[0], 96, 80, 176, 120);
  }
}

TEST(YoloRaw, ANetworkThatScalesInsideAnswersInPixelsOfItsInput) {
  const Answer found = decode_scaled(5376, scaled_detector());
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 16, 40, 56, 60);
}

TEST(YoloRaw, BoxesOfNeitherPictureAreRefusedWithBothSizes) {
  const std::string told = refusal_of([] { decode_scaled(1000, scaled_detector()); });
  EXPECT_TRUE(has(told, "has 1000 boxes")) << told;
  EXPECT_TRUE(has(told, "512x512 (5376 cells)")) << told;
  EXPECT_TRUE(has(told, "256x256 (1344 cells)")) << told;
  EXPECT_EQ(decode_scaled(1000, detector(1)).objects.size(), 1U) << "without such a step";
}

TEST(YoloRaw, DoubtsAboutPixelsAreTold) {
  const auto doubt = [](std::size_t boxes, const ModelCard& card) {
    const TestTensor tensor = tensor_of(std::vector<Box>(boxes, {0, 0, 1, 1, {0}}));
    const std::vector<TensorView> views{tensor.view_without_data()};
    return doubt_about_pixels(card, views, {512, 512});
  };
  EXPECT_TRUE(has(doubt(1344, scaled_detector()), "are taken as pixels of 256x256, as they are"));
  EXPECT_TRUE(doubt(5376, scaled_detector()).empty());
  EXPECT_TRUE(doubt(1344, detector(1)).empty());
}

TEST(YoloRaw, EndToEndBoxesOfAScaledPictureAreDoubted) {
  ModelCard card = card_of(Task::kDetect, 1);
  card.end_to_end = true;
  card.inner_width = card.inner_height = 256;
  const TestTensor tensor{"output0", ElementType::kF32, {1, 300, 6}, std::vector<double>(1800), 0};
  const std::vector<TensorView> views{tensor.view_without_data()};
  EXPECT_TRUE(has(doubt_about_pixels(card, views, {512, 512}),
                  "are taken as pixels of 512x512, though nothing shows which ones they are"));
}

TEST(YoloRaw, TurnsCentreAndSizeIntoEdges) {
  const Answer found = decode({{100, 50, 40, 20, {0.1F, 0.9F}}});
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 80, 40, 120, 60);
  EXPECT_EQ(found.objects[0].label_id, 1U);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.9F);
  EXPECT_FALSE(found.objects[0].oriented);
}

TEST(YoloRaw, KeepsAScoreThatEqualsTheThreshold) {
  EXPECT_EQ(decode({{10, 10, 4, 4, {0.5F}}}, {.confidence_threshold = 0.5F}).objects.size(), 1U);
}

TEST(YoloRaw, DropsAScoreBelowTheThreshold) {
  EXPECT_TRUE(decode({{10, 10, 4, 4, {0.49F}}}, {.confidence_threshold = 0.5F}).objects.empty());
}

TEST(YoloRaw, OrdersByConfidenceThenByBox) {
  const Answer found = decode({{50, 50, 4, 4, {0.6F}},
                               {90, 90, 4, 4, {0.9F}},
                               {130, 90, 4, 4, {0.6F}},
                               {170, 90, 4, 4, {0.7F}}});
  ASSERT_EQ(found.objects.size(), 4U);
  EXPECT_EQ(found.objects[0].left, 88);
  EXPECT_EQ(found.objects[1].left, 168);
  EXPECT_EQ(found.objects[2].left, 48);
  EXPECT_EQ(found.objects[3].left, 128);
}

TEST(YoloRaw, KeepsTheBestOfOverlappingBoxesOfOneClass) {
  const Answer found = decode({{100, 100, 40, 40, {0.7F}}, {104, 100, 40, 40, {0.8F}}});
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].left, 84);
}

TEST(YoloRaw, KeepsOverlappingBoxesOfTwoClasses) {
  const Answer found = decode({{100, 100, 40, 40, {0.7F, 0}}, {104, 100, 40, 40, {0, 0.8F}}});
  EXPECT_EQ(found.objects.size(), 2U);
}

// Two 40 x 40 boxes 20 apart share 800 of 2400 pixels.
TEST(YoloRaw, SuppressesOnlyAboveTheIouThreshold) {
  const std::vector<Box> boxes{{100, 100, 40, 40, {0.7F}}, {120, 100, 40, 40, {0.8F}}};
  EXPECT_EQ(decode(boxes, {.iou_threshold = 0.34F}).objects.size(), 2U);
  EXPECT_EQ(decode(boxes, {.iou_threshold = 0.33F}).objects.size(), 1U);
}

// The middle box is suppressed by the left one, so it may not suppress the right one.
TEST(YoloRaw, ASuppressedBoxSuppressesNothing) {
  const Answer found =
      decode({{100, 100, 40, 40, {0.9F}}, {112, 100, 40, 40, {0.8F}}, {124, 100, 40, 40, {0.7F}}},
             {.iou_threshold = 0.4F});
  ASSERT_EQ(found.objects.size(), 2U);
  EXPECT_EQ(found.objects[1].left, 104);
}

TEST(YoloRaw, StopsAtTheMostObjectsAsked) {
  const Answer found = decode(
      {{10, 10, 4, 4, {0.6F}}, {50, 50, 4, 4, {0.9F}}, {90, 90, 4, 4, {0.7F}}}, {.max_objects = 2});
  ASSERT_EQ(found.objects.size(), 2U);
  EXPECT_FLOAT_EQ(found.objects[1].confidence, 0.7F);
}

struct BadBox {
  const char* name;
  Box box;
};

class YoloRawNoise : public testing::TestWithParam<BadBox> {};

TEST_P(YoloRawNoise, IsNoObject) {
  const Answer found =
      decode({GetParam().box, {100, 100, 20, 20, {0.9F, 0}}}, {.confidence_threshold = 0});
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].left, 90);
}

INSTANTIATE_TEST_SUITE_P(All, YoloRawNoise,
                         testing::Values(BadBox{"NanScores", {10, 10, 4, 4, {kNaN, kNaN}}},
                                         BadBox{"InfiniteScore", {10, 10, 4, 4, {kInf, 0}}},
                                         BadBox{"NegativeScores", {10, 10, 4, 4, {-1, -0.5F}}},
                                         BadBox{"NanCentre", {kNaN, 10, 4, 4, {1, 0}}},
                                         BadBox{"InfiniteWidth", {10, 10, kInf, 4, {1, 0}}},
                                         BadBox{"InfiniteCentre", {10, -kInf, 4, 4, {1, 0}}},
                                         BadBox{"NoWidth", {10, 10, 0, 4, {1, 0}}},
                                         BadBox{"NegativeHeight", {10, 10, 4, -4, {1, 0}}},
                                         BadBox{"LeftOfTheFrame", {-10, 10, 10, 10, {1, 0}}},
                                         BadBox{"BelowTheFrame", {10, 700, 10, 10, {1, 0}}}),
                         by_name);

TEST(YoloRaw, ANanScoreHidesNoOtherClass) {
  const Answer found = decode({{10, 10, 4, 4, {kNaN, 0.8F, kNaN}}});
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].label_id, 1U);
}

TEST(YoloRaw, HugeFiniteBoxesAreClipped) {
  const double huge = std::numeric_limits<float>::max();
  const Answer found = decode({{0, 0, huge, huge, {0.9F}}, {0, 0, huge, huge, {0.8F}}});
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 0, 0, 640, 640);
}

// 1919 x 1081 into 640 x 640: the picture is 640 x 360.52 high, in the middle.
TEST(YoloRaw, MapsALetterboxedFrameOfOddSize) {
  const double scale = 1919 / 640.0;
  const double border = (640 - 1081 / scale) / 2;
  const Frame frame{.geometry = {640, 640, 0, border, scale, scale}, .size = {1919, 1081}};
  const Answer found = decode({{320, 320, 64, 32, {0.9F}}}, {}, frame);
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 959.5 - 32 * scale, 540.5 - 16 * scale, 959.5 + 32 * scale,
             540.5 + 16 * scale);
}

TEST(YoloRaw, ABoxInTheLetterboxBorderIsNoObject) {
  const Frame frame{.geometry = {640, 640, 0, 140, 3, 3}, .size = {1920, 1080}};
  EXPECT_TRUE(decode({{320, 70, 64, 64, {0.9F}}}, {}, frame).objects.empty());
}

// Key points, mask coefficients and logits are no scores.
TEST(YoloRaw, RefusesAScoreThatIsNoProbability) {
  for (const double score : {310.0, 1.7, 1.01}) {
    const std::string why = refusal_of([&] { decode({{100, 100, 50, 50, {0.02, score}}}); });
    EXPECT_TRUE(has(why, "which is no probability"));
  }
  EXPECT_EQ(decode({{100, 100, 50, 50, {1.0005}}}).objects.at(0).confidence, 1) << "a half's";
}

// As exports for TensorFlow Lite have them.
TEST(YoloRaw, RefusesBoxesThatAreNoPixels) {
  const Frame frame;
  const auto decode_in = [&](std::uint32_t input, const std::vector<Box>& boxes) {
    return decoded(detector(1), tensor_of(boxes), {}, frame, {input, input}).objects.size();
  };
  const std::vector<Box> parts = {{0.5, 0.5, 0.2, 0.4, {0.9F}}, {0.98, 0.98, 0.1, 0.1, {0.1F}}};
  EXPECT_TRUE(has(refusal_of([&] { decode_in(640, parts); }), "and not in pixels"));
  EXPECT_EQ(decode_in(16, parts), 1U) << "a picture of a few pixels";
  EXPECT_EQ(decode_in(640, {parts[0], {300, 200, 40, 40, {0.1F}}}), 1U) << "a tiny object";
  EXPECT_EQ(decode_in(640, {parts[1]}), 0U) << "nothing is found";
}

// All of the picture is found in one pixel, which is one of the border here.
TEST(YoloRaw, RefusesBoxesThatAreNoPixelsBesideALetterbox) {
  const Frame wide{{.model_width = 640, .model_height = 640, .offset_y = 140}, {640, 360}};
  const std::vector<Box> boxes = {{0.5, 0.5, 0.2, 0.4, {0.9F}}};
  const std::string why = refusal_of([&] {
    decoded(detector(1), tensor_of(boxes), {}, wide, {640, 640});
  });
  EXPECT_TRUE(has(why, "and not in pixels"));
}

TEST(YoloRaw, KeepsNothingFromTheFrameBefore) {
  TestTensor tensor = tensor_of({{10, 10, 4, 4, {0.9F}}, {50, 50, 4, 4, {0.9F}}});
  const auto decoder = make_decoder(detector(1), std::vector{tensor.view_without_data()}, {});
  Answer answer;
  decoder->decode(std::vector{tensor.view()}, {}, {64, 64}, {}, &answer);
  EXPECT_EQ(answer.objects.size(), 2U);
  tensor.set(8, 0.1);
  decoder->decode(std::vector{tensor.view()}, {}, {64, 64}, {}, &answer);
  EXPECT_EQ(answer.objects.size(), 1U);
}

struct LayoutRow {
  const char* name;
  bool channels_first;
  std::size_t boxes, classes, row_padding;
  ElementType type = ElementType::kF32;
};

class YoloRawLayouts : public testing::TestWithParam<LayoutRow> {};

// Every box has a class of its own and lies alone: what is found is what was put in.
TEST_P(YoloRawLayouts, GiveTheSameObjects) {
  const LayoutRow& row = GetParam();
  std::vector<Box> boxes(row.boxes);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i] = {4.0 + 8 * static_cast<double>(i % 64), 4.0 + 8 * static_cast<double>(i / 64), 4, 4,
                std::vector<double>(row.classes, 0.125)};
    boxes[i].scores[i % row.classes] = 0.75;
  }
  const Answer found = decoded(detector(row.classes, row.channels_first),
                               tensor_of(boxes, row.channels_first, row.row_padding, row.type),
                               {.max_objects = boxes.size()});
  ASSERT_EQ(found.objects.size(), boxes.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    EXPECT_EQ(found.objects[i].confidence, 0.75F) << i;
    EXPECT_EQ(found.objects[i].label_id, i % row.classes) << i;
    expect_box(found.objects[i], boxes[i].x - 2, boxes[i].y - 2, boxes[i].x + 2, boxes[i].y + 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, YoloRawLayouts,
    testing::Values(LayoutRow{"ChannelsFirst", true, 1300, 5, 0},
                    LayoutRow{"ChannelsFirstOneBlock", true, 512, 5, 0},
                    LayoutRow{"ChannelsFirstFewBoxes", true, 10, 20, 0},
                    LayoutRow{"ChannelsFirstPaddedRows", true, 700, 3, 9},
                    LayoutRow{"ChannelsFirstHalves", true, 700, 3, 9, ElementType::kF16},
                    LayoutRow{"BoxesFirst", false, 1300, 5, 0},
                    LayoutRow{"BoxesFirstFewBoxes", false, 10, 20, 0},
                    LayoutRow{"BoxesFirstPaddedRows", false, 700, 3, 9},
                    LayoutRow{"BoxesFirstHalves", false, 700, 3, 1, ElementType::kF16}),
    by_name);

// ---- Tasks

TEST(YoloPose, KeepsKeyPointsInTheFrame) {
  ModelCard card = card_of(Task::kPose, 1);
  card.key_points = 2;
  card.key_point_values = 3;
  card.channels_first = true;
  const std::vector<double> row{50, 50, 20, 20, 0.9, -5, 45, 0.5, 55, 900, 1};
  const Answer found = decoded(card, tensor_of_rows({row}, true));
  ASSERT_EQ(found.key_points_per_object, 2U);
  const auto points = found.key_points_of(0);
  EXPECT_EQ(points[0].x, 0);
  EXPECT_EQ(points[0].y, 45);
  EXPECT_FLOAT_EQ(points[0].confidence, 0.5F);
  EXPECT_EQ(points[1].y, 640);
}

TEST(YoloPose, AnObjectWithoutAFinitePointIsNone) {
  ModelCard card = card_of(Task::kPose, 1);
  card.channels_first = true;
  const std::vector<double> good{50, 50, 20, 20, 0.9, 1, 2, 0.5};
  const std::vector<double> bad{150, 50, 20, 20, 0.9, 1, kNaN, 0.5};
  const Answer found = decoded(card, tensor_of_rows({good, bad}, true));
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_EQ(found.objects[0].left, 40);
  EXPECT_EQ(found.key_points.size(), 1U);
}

TEST(YoloPose, RefusesAVisibilityThatIsNone) {
  ModelCard card = card_of(Task::kPose, 1);
  card.channels_first = true;
  const std::vector<double> row{50, 50, 20, 20, 0.9, 1, 2, 3};
  const std::string why = refusal_of([&] { decoded(card, tensor_of_rows({row}, true)); });
  EXPECT_TRUE(has(why, "no probability"));
}

struct AngleRow {
  const char* name;
  double angle, expected;
};

class YoloAngles : public testing::TestWithParam<AngleRow> {};

TEST_P(YoloAngles, AreHalfATurn) {
  ModelCard card = card_of(Task::kOriented, 1);
  card.channels_first = true;
  const std::vector<double> row{100, 100, 40, 10, 0.9, GetParam().angle};
  const Answer found = decoded(card, tensor_of_rows({row}, true));
  ASSERT_EQ(found.objects.size(), 1U);
  ASSERT_TRUE(found.objects[0].oriented);
  EXPECT_NEAR(found.objects[0].oriented->angle, GetParam().expected, 1e-5);
  EXPECT_NEAR(found.objects[0].oriented->width, 40, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, YoloAngles,
                         testing::Values(AngleRow{"None", 0, 0}, AngleRow{"Small", 0.5, 0.5},
                                         AngleRow{"ThreeQuarters", 2.3561944902, -0.7853981634},
                                         AngleRow{"Many", 100, 100 - 32 * 3.14159265359},
                                         AngleRow{"Back", -2, -2 + 3.14159265359}),
                         by_name);

// Clockwise as the frame is seen: a turn of 45 degrees leads down to the right.
TEST(YoloOriented, EdgesEncloseTheBox) {
  ModelCard card = card_of(Task::kOriented, 1);
  card.channels_first = true;
  const std::vector<double> row{100, 100, 40, 0.001, 0.9, 0.78539816339};
  const Object object = decoded(card, tensor_of_rows({row}, true)).objects.at(0);
  expect_box(object, 100 - 14.1425, 100 - 14.1425, 100 + 14.1425, 100 + 14.1425);
}

TEST(YoloOriented, AStretchedFrameTurnsTheLongerSide) {
  ModelCard card = card_of(Task::kOriented, 1);
  card.channels_first = true;
  const std::vector<double> row{100, 100, 40, 10, 0.9, 0.78539816339};
  const Frame frame{.geometry = {640, 640, 0, 0, 2, 1}, .size = {1280, 640}};
  const Object object = decoded(card, tensor_of_rows({row}, true), {}, frame).objects.at(0);
  ASSERT_TRUE(object.oriented);
  EXPECT_NEAR(object.oriented->center_x, 200, 1e-4);
  EXPECT_NEAR(object.oriented->angle, std::atan2(1, 2), 1e-5);
  EXPECT_NEAR(object.oriented->width, 40 * std::sqrt(2.5), 1e-4);
  EXPECT_NEAR(object.oriented->width * object.oriented->height, 800, 1e-3);
}

TEST(YoloOriented, AScaleNearZeroLeavesNone) {
  ModelCard card = card_of(Task::kOriented, 1);
  card.channels_first = true;
  const std::vector<double> row{100, 100, 2, 0.1, 0.9, 0.5};
  const Frame frame{.geometry = {640, 640, 0, 0, 5e-324, 4}, .size = {640, 640}};
  EXPECT_TRUE(decoded(card, tensor_of_rows({row}, true), {}, frame).objects.empty());
}

// The left half of the prototypes is positive: so is that of each mask.
TEST(YoloSegment, AMaskIsThePartOfTheBoxAboveZero) {
  ModelCard card = card_of(Task::kSegment, 1);
  card.channels_first = true;
  std::vector<double> protos(16 * 16);
  for (std::size_t i = 0; i < protos.size(); ++i) protos[i] = i % 16 < 8 ? 1 : -1;
  std::vector<TestTensor> tensors;
  tensors.push_back(tensor_of_rows({{32, 32, 40, 20, 0.9, 2}}, true));
  tensors.emplace_back("output1", ElementType::kF32, std::vector<std::size_t>{1, 1, 16, 16},
                       protos);
  const Frame frame{.geometry = {64, 64, 0, 0, 2, 2}, .size = {128, 128}};
  const Answer found = decoded(card, std::move(tensors), {}, frame);
  ASSERT_EQ(found.masks.size(), 1U);
  const Mask& mask = found.masks[0];
  EXPECT_EQ(mask.x, 24U);
  EXPECT_EQ(mask.y, 44U);
  EXPECT_EQ(mask.width, 80U);
  EXPECT_EQ(mask.height, 40U);
  for (std::size_t y = 0; y < mask.height; ++y) {
    for (std::size_t x = 0; x < mask.width; ++x) {
      const int pixel = found.mask_pixels.at(mask.first + y * mask.width + x);
      ASSERT_EQ(pixel, mask.x + x < 64 ? 255 : 0) << x << " " << y;
    }
  }
}

TEST(YoloSegment, AnObjectWithoutAPixelIsNone) {
  ModelCard card = card_of(Task::kSegment, 1);
  card.channels_first = true;
  std::vector<TestTensor> tensors;
  tensors.push_back(tensor_of_rows({{16, 16, 20, 20, 0.9, -1}, {40, 40, 20, 20, 0.8, 1}}, true));
  tensors.emplace_back("output1", ElementType::kF32, std::vector<std::size_t>{1, 1, 16, 16},
                       std::vector<double>(16 * 16, 1.0));
  const Frame frame{.geometry = {64, 64, 0, 0, 1, 1}, .size = {64, 64}};
  const Answer found = decoded(card, std::move(tensors), {}, frame);
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.8F);
  ASSERT_EQ(found.masks.size(), 1U);
  EXPECT_EQ(found.mask_pixels.size(), 400U);
}

// A hundred objects that fill a frame of 16384x16384 would be 27 GB.
TEST(YoloSegment, MasksOfLargeFramesAreCoarser) {
  ModelCard card = card_of(Task::kSegment, 1);
  card.channels_first = true;
  std::vector<double> protos(16 * 16);
  for (std::size_t i = 0; i < protos.size(); ++i) protos[i] = i % 16 < 8 ? 1 : -1;
  std::vector<TestTensor> tensors;
  const std::vector<double> row{32, 32, 64, 64, 0.9, 2};
  tensors.push_back(tensor_of_rows(std::vector(100, row), true));
  tensors.emplace_back("output1", ElementType::kF32, std::vector<std::size_t>{1, 1, 16, 16},
                       protos);
  const Frame frame{.geometry = {64, 64, 0, 0, 256, 256}, .size = {16384, 16384}};
  const Answer found = decoded(card, std::move(tensors), {.iou_threshold = 1}, frame);
  ASSERT_EQ(found.masks.size(), 100U);
  EXPECT_LE(found.mask_pixels.size(), kMostMaskPixels);
  EXPECT_GT(found.mask_pixels.size(), kMostMaskPixels / 2);
  const Mask& mask = found.masks.back();
  EXPECT_EQ(mask.width, 16384U);
  ASSERT_EQ(mask.first + std::size_t{mask.columns} * mask.rows, found.mask_pixels.size());
  for (std::uint32_t column = 0; column < mask.columns; ++column) {
    const int pixel = found.mask_pixels.at(mask.first + column);
    ASSERT_EQ(pixel, 2 * column + 1 < mask.columns ? 255 : 0) << column;
  }
}

TEST(YoloRaw, TakesTheTensorThatTheCardNames) {
  ModelCard card = card_of(Task::kDetect, 1);
  card.output = "second";
  std::vector<TestTensor> tensors;
  tensors.push_back(tensor_of({{10, 10, 4, 4, {0.9F}}}));
  tensors.emplace_back("second", ElementType::kF32, std::vector<std::size_t>{1, 5, 1},
                       std::vector<double>{50, 50, 4, 4, 0.9});
  card.channels_first = true;
  EXPECT_EQ(decoded(card, std::move(tensors)).objects.at(0).left, 48);
}

// ---- Memory

TEST(YoloRaw, RefusesMemoryThatEndsTooEarly) {
  const TestTensor tensor = tensor_of({{10, 10, 4, 4, {0.9F}}, {50, 50, 4, 4, {0.9F}}});
  const auto decoder = make_decoder(detector(1), std::vector{tensor.view_without_data()}, {});
  TensorView view = tensor.view();
  Answer answer;
  const auto refused = [&] {
    return refusal_of([&] { decoder->decode(std::vector{view}, {}, {64, 64}, {}, &answer); });
  };
  view.size_bytes -= 1;
  EXPECT_TRUE(has(refused(), "does not fit into its memory of 39 bytes"));
  view = tensor.view();
  view.strides_bytes[1] = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_TRUE(has(refused(), "does not fit"));
  view = tensor.view();
  view.dims[2] = 1;
  EXPECT_TRUE(has(refused(), "came where the model has"));
  EXPECT_TRUE(has(refusal_of([&] {
                    decoder->decode({}, {}, {64, 64}, {}, &answer);
                  }),
                  "came without it"));
}

}  // namespace
}  // namespace npu::vision::yolo_raw_test

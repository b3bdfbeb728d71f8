#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include <npucore/error.hpp>
#include <npuvision/yolo.hpp>

namespace {

using npu::vision::as_yolo_tensor;
using npu::vision::Detection;
using npu::vision::TensorView;
using npu::vision::YoloDecoder;
using npu::vision::YoloLayout;
using npu::vision::YoloOptions;
using npu::vision::YoloTensor;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Box {
  float x, y, width, height;
  std::vector<float> scores;
};

// Values as a model would write them, in a heap block of exactly their size, so that a sanitizer
// sees every byte read too far.
class Output {
 public:
  Output(const std::vector<Box>& boxes, bool channels_first, std::size_t row_padding = 0)
      : channels_(4 + boxes.at(0).scores.size()) {
    const std::size_t rows = channels_first ? channels_ : boxes.size();
    const std::size_t columns = channels_first ? boxes.size() : channels_;
    const std::size_t pitch = columns + row_padding;
    values_.assign((rows - 1) * pitch + columns, -1.0F);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      std::vector<float> channel{boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height};
      channel.insert(channel.end(), boxes[i].scores.begin(), boxes[i].scores.end());
      for (std::size_t c = 0; c < channels_; ++c) {
        values_[channels_first ? c * pitch + i : i * pitch + c] = channel[c];
      }
    }
    view_.name = "output0";
    view_.type = npu::ElementType::kF32;
    view_.rank = 3;
    view_.dims = {1, rows, columns};
    view_.strides_bytes = {rows * pitch * 4, pitch * 4, 4};
    view_.data = reinterpret_cast<const std::byte*>(values_.data());
    view_.size_bytes = values_.size() * 4;
  }

  TensorView& view() { return view_; }
  const std::vector<float>& values() const { return values_; }

 private:
  std::size_t channels_;
  std::vector<float> values_;
  TensorView view_;
};

struct Frame {
  npu::FrameGeometry geometry;
  npu::vision::FrameSize size{640, 640};
};

std::vector<Detection> decode(const std::vector<Box>& boxes, const YoloOptions& options = {},
                              const Frame& frame = {}) {
  Output output(boxes, true);
  const YoloTensor tensor = as_yolo_tensor(output.view(), YoloLayout::kChannelsFirst, 0);
  YoloDecoder decoder;
  const auto found = decoder.decode(tensor, frame.geometry, frame.size, options);
  return {found.begin(), found.end()};
}

void expect_box(const Detection& detection, double left, double top, double right, double bottom) {
  EXPECT_NEAR(detection.left, left, 1e-4);
  EXPECT_NEAR(detection.top, top, 1e-4);
  EXPECT_NEAR(detection.right, right, 1e-4);
  EXPECT_NEAR(detection.bottom, bottom, 1e-4);
}

TEST(Yolo, TurnsCentreAndSizeIntoEdges) {
  const auto found = decode({{100, 50, 40, 20, {0.1F, 0.9F}}});
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 80, 40, 120, 60);
  EXPECT_EQ(found[0].label_id, 1u);
  EXPECT_FLOAT_EQ(found[0].confidence, 0.9F);
}

TEST(Yolo, KeepsAScoreThatEqualsTheThreshold) {
  EXPECT_EQ(decode({{10, 10, 4, 4, {0.5F}}}, {.threshold = 0.5F}).size(), 1u);
}

TEST(Yolo, DropsAScoreBelowTheThreshold) {
  EXPECT_TRUE(decode({{10, 10, 4, 4, {0.49F}}}, {.threshold = 0.5F}).empty());
}

TEST(Yolo, OrdersByConfidence) {
  const auto found =
      decode({{10, 10, 4, 4, {0.6F}}, {50, 50, 4, 4, {0.9F}}, {90, 90, 4, 4, {0.7F}}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_FLOAT_EQ(found[0].confidence, 0.9F);
  EXPECT_FLOAT_EQ(found[1].confidence, 0.7F);
  EXPECT_FLOAT_EQ(found[2].confidence, 0.6F);
}

TEST(Yolo, OrdersEqualScoresByBox) {
  const auto found = decode({{50, 50, 4, 4, {0.8F}}, {10, 10, 4, 4, {0.8F}}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].left, 48);
  EXPECT_EQ(found[1].left, 8);
}

TEST(Yolo, KeepsTheBestOfOverlappingBoxesOfOneClass) {
  const auto found = decode({{100, 100, 40, 40, {0.7F}}, {104, 100, 40, 40, {0.8F}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].left, 84);
}

TEST(Yolo, KeepsOverlappingBoxesOfTwoClasses) {
  EXPECT_EQ(decode({{100, 100, 40, 40, {0.7F, 0}}, {104, 100, 40, 40, {0, 0.8F}}}).size(), 2u);
}

// Two 40 x 40 boxes 20 apart share 800 of 2400 pixels.
TEST(Yolo, SuppressesOnlyAboveTheIouThreshold) {
  const std::vector<Box> boxes{{100, 100, 40, 40, {0.7F}}, {120, 100, 40, 40, {0.8F}}};
  EXPECT_EQ(decode(boxes, {.iou_threshold = 0.34F}).size(), 2u);
  EXPECT_EQ(decode(boxes, {.iou_threshold = 0.33F}).size(), 1u);
}

// The middle box is suppressed by the left one, so it may not suppress the right one.
TEST(Yolo, ASuppressedBoxSuppressesNothing) {
  const auto found =
      decode({{100, 100, 40, 40, {0.9F}}, {112, 100, 40, 40, {0.8F}}, {124, 100, 40, 40, {0.7F}}},
             {.iou_threshold = 0.4F});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].left, 104);
}

TEST(Yolo, StopsAtTheMostDetectionsAsked) {
  const auto found =
      decode({{10, 10, 4, 4, {0.6F}}, {50, 50, 4, 4, {0.9F}}, {90, 90, 4, 4, {0.7F}}},
             {.max_detections = 2});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FLOAT_EQ(found[1].confidence, 0.7F);
}

struct BadBox {
  const char* name;
  Box box;
};

class YoloNoise : public testing::TestWithParam<BadBox> {};

TEST_P(YoloNoise, IsNoDetection) {
  const Box good{100, 100, 20, 20, {0.9F, 0}};
  const auto found = decode({GetParam().box, good}, {.threshold = 0});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].left, 90);
}

INSTANTIATE_TEST_SUITE_P(All, YoloNoise,
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
                         [](const auto& row) { return row.param.name; });

TEST(Yolo, ANanScoreHidesNoOtherClass) {
  const auto found = decode({{10, 10, 4, 4, {kNaN, 0.8F, kNaN}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label_id, 1u);
}

TEST(Yolo, HugeFiniteBoxesAreClipped) {
  const float huge = std::numeric_limits<float>::max();
  const auto found = decode({{0, 0, huge, huge, {0.9F}}, {0, 0, huge, huge, {0.8F}}});
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 0, 0, 640, 640);
}

TEST(Yolo, ClipsToTheFrame) {
  const auto found = decode({{0, 635, 20, 30, {0.9F}}});
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 0, 620, 10, 640);
}

TEST(Yolo, MapsAStretchedFrame) {
  Frame frame{.geometry = {640, 640, 0, 0, 1920 / 640.0, 1080 / 640.0}, .size = {1920, 1080}};
  const auto found = decode({{320, 320, 64, 64, {0.9F}}}, {}, frame);
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 864, 486, 1056, 594);
}

// 1919 x 1081 into 640 x 640: the picture is 640 x 360.52 high, in the middle.
TEST(Yolo, MapsALetterboxedFrameOfOddSize) {
  const double scale = 1919 / 640.0;
  const double border = (640 - 1081 / scale) / 2;
  Frame frame{.geometry = {640, 640, 0, border, scale, scale}, .size = {1919, 1081}};
  const auto found = decode({{320, 320, 64, 32, {0.9F}}}, {}, frame);
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 959.5 - 32 * scale, 540.5 - 16 * scale, 959.5 + 32 * scale,
             540.5 + 16 * scale);
}

TEST(Yolo, ABoxInTheLetterboxBorderIsNoDetection) {
  Frame frame{.geometry = {640, 640, 0, 140, 3, 3}, .size = {1920, 1080}};
  EXPECT_TRUE(decode({{320, 70, 64, 64, {0.9F}}}, {}, frame).empty());
}

std::vector<Box> random_boxes(std::size_t count, std::size_t classes) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> position(0, 640), size(5, 80), score(0, 1);
  std::vector<Box> boxes(count);
  for (Box& box : boxes) {
    box = {position(random), position(random), size(random), size(random), {}};
    for (std::size_t c = 0; c < classes; ++c) box.scores.push_back(score(random));
  }
  return boxes;
}

// The definition, written without any of the decoder's steps: the best class of each box, then
// repeatedly the best box left, without what it covers.
std::vector<Detection> reference(const std::vector<Box>& boxes, const YoloOptions& options) {
  struct Entry {
    double l, t, r, b;
    float score;
    std::uint32_t label;
  };
  std::vector<Entry> left;
  for (const Box& box : boxes) {
    std::uint32_t label = 0;
    for (std::uint32_t c = 0; c < box.scores.size(); ++c) {
      if (box.scores[c] > box.scores[label]) {
        label = c;
      }
    }
    if (box.scores[label] < options.threshold) continue;
    left.push_back({box.x - box.width / 2.0, box.y - box.height / 2.0, box.x + box.width / 2.0,
                    box.y + box.height / 2.0, box.scores[label], label});
  }
  const auto area = [](const Entry& e) {
    return std::max(0.0, e.r - e.l) * std::max(0.0, e.b - e.t);
  };
  std::vector<Detection> result;
  while (!left.empty() && result.size() < options.max_detections) {
    const auto best = std::max_element(
        left.begin(), left.end(), [](const Entry& a, const Entry& b) { return a.score < b.score; });
    const Entry top = *best;
    left.erase(best);
    result.push_back({std::max(0.0, top.l), std::max(0.0, top.t), std::min(640.0, top.r),
                      std::min(640.0, top.b), top.score, top.label});
    std::erase_if(left, [&](const Entry& e) {
      const Entry shared{std::max(e.l, top.l),
                         std::max(e.t, top.t),
                         std::min(e.r, top.r),
                         std::min(e.b, top.b),
                         0,
                         0};
      return e.label == top.label &&
             area(shared) / (area(e) + area(top) - area(shared)) > options.iou_threshold;
    });
  }
  return result;
}

struct LayoutRow {
  const char* name;
  bool channels_first;
  std::size_t boxes, classes, row_padding;
};

class YoloLayouts : public testing::TestWithParam<LayoutRow> {};

TEST_P(YoloLayouts, GiveTheDefinedDetections) {
  const LayoutRow& row = GetParam();
  const std::vector<Box> boxes = random_boxes(row.boxes, row.classes);
  Output output(boxes, row.channels_first, row.row_padding);
  const YoloOptions options{.threshold = 0.6F, .iou_threshold = 0.3F, .max_detections = 5000};
  const YoloTensor tensor = as_yolo_tensor(output.view(), YoloLayout::kAuto, row.classes);
  YoloDecoder decoder;
  const auto found = decoder.decode(tensor, {}, {640, 640}, options);
  const auto expected = reference(boxes, options);
  ASSERT_GT(expected.size(), 3u);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].confidence, expected[i].confidence) << i;
    EXPECT_EQ(found[i].label_id, expected[i].label_id) << i;
    expect_box(found[i], expected[i].left, expected[i].top, expected[i].right, expected[i].bottom);
  }
}

INSTANTIATE_TEST_SUITE_P(All, YoloLayouts,
                         testing::Values(LayoutRow{"ChannelsFirst", true, 1300, 5, 0},
                                         LayoutRow{"ChannelsFirstOneBlock", true, 512, 5, 0},
                                         LayoutRow{"ChannelsFirstFewBoxes", true, 10, 20, 0},
                                         LayoutRow{"ChannelsFirstPaddedRows", true, 700, 3, 9},
                                         LayoutRow{"BoxesFirst", false, 1300, 5, 0},
                                         LayoutRow{"BoxesFirstFewBoxes", false, 10, 20, 0},
                                         LayoutRow{"BoxesFirstPaddedRows", false, 700, 3, 9}),
                         [](const auto& row) { return row.param.name; });

std::uint16_t to_half(float value) {  // rounds towards zero; normal numbers only
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t exponent = ((bits >> 23) & 0xFF) - 112;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3FF));
}

struct HalfRow {
  const char* name;
  std::uint16_t bits;
  float value;
};

class YoloHalf : public testing::TestWithParam<HalfRow> {};

TEST_P(YoloHalf, ReadsTheScore) {
  const std::array<std::uint16_t, 5> values{to_half(100), to_half(64), to_half(32), to_half(16),
                                            GetParam().bits};
  TensorView view;
  view.type = npu::ElementType::kF16;
  view.rank = 3;
  view.dims = {1, 1, 5};
  view.strides_bytes = {10, 10, 2};
  view.data = reinterpret_cast<const std::byte*>(values.data());
  view.size_bytes = sizeof(values);
  YoloDecoder decoder;
  const auto found = decoder.decode(as_yolo_tensor(view, YoloLayout::kBoxesFirst, 0), {},
                                    {640, 640}, {.threshold = -100000});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].confidence, GetParam().value);
  expect_box(found[0], 84, 56, 116, 72);
}

INSTANTIATE_TEST_SUITE_P(All, YoloHalf,
                         testing::Values(HalfRow{"One", 0x3C00, 1},
                                         HalfRow{"Third", 0x3555, 0x1.554p-2F},
                                         HalfRow{"Zero", 0x0000, 0},
                                         HalfRow{"BelowOne", 0x3BFF, 0x1.FFCp-1F},
                                         HalfRow{"SmallestNormal", 0x0400, 0x1p-14F},
                                         HalfRow{"LargestSubnormal", 0x03FF, 0x1.FF8p-15F},
                                         HalfRow{"SmallestSubnormal", 0x0001, 0x1p-24F}),
                         [](const auto& row) { return row.param.name; });

TEST(Yolo, HalfInfinityAndNanAreNoScores) {
  for (const std::uint16_t bits : {0x7C00, 0xFC00, 0x7E00, 0x7C01}) {
    const std::array<std::uint16_t, 5> values{to_half(9), to_half(9), to_half(9), to_half(9), bits};
    TensorView view;
    view.type = npu::ElementType::kF16;
    view.rank = 3;
    view.dims = {1, 5, 1};
    view.strides_bytes = {10, 2, 2};
    view.data = reinterpret_cast<const std::byte*>(values.data());
    view.size_bytes = sizeof(values);
    YoloDecoder decoder;
    EXPECT_TRUE(decoder
                    .decode(as_yolo_tensor(view, YoloLayout::kChannelsFirst, 0), {}, {64, 64},
                            {.threshold = -1e30F})
                    .empty())
        << std::hex << bits;
  }
}

struct ShapeRow {
  const char* name;
  std::size_t second, third;
  YoloLayout layout;
  std::size_t labels;
  std::size_t boxes, classes;
};

TensorView view_of(std::size_t second, std::size_t third, const std::vector<std::byte>& memory) {
  TensorView view;
  view.name = "output0";
  view.type = npu::ElementType::kF32;
  view.rank = 3;
  view.dims = {1, second, third};
  view.strides_bytes = {second * third * 4, third * 4, 4};
  view.data = memory.data();
  view.size_bytes = memory.size();
  return view;
}

class YoloShapes : public testing::TestWithParam<ShapeRow> {};

TEST_P(YoloShapes, AreUnderstood) {
  const ShapeRow& row = GetParam();
  const std::vector<std::byte> memory(row.second * row.third * 4);
  const YoloTensor tensor =
      as_yolo_tensor(view_of(row.second, row.third, memory), row.layout, row.labels);
  EXPECT_EQ(tensor.boxes, row.boxes);
  EXPECT_EQ(tensor.classes, row.classes);
}

INSTANTIATE_TEST_SUITE_P(
    All, YoloShapes,
    testing::Values(ShapeRow{"YoloV8", 84, 8400, YoloLayout::kAuto, 0, 8400, 80},
                    ShapeRow{"Transposed", 8400, 84, YoloLayout::kAuto, 0, 8400, 80},
                    ShapeRow{"LabelsDecide", 84, 21, YoloLayout::kAuto, 80, 21, 80},
                    ShapeRow{"LabelsDecideTransposed", 21, 84, YoloLayout::kAuto, 80, 21, 80},
                    ShapeRow{"OtherNumberOfLabels", 84, 8400, YoloLayout::kAuto, 3, 8400, 80},
                    ShapeRow{"SquareByHand", 84, 84, YoloLayout::kChannelsFirst, 0, 84, 80},
                    ShapeRow{"AgainstTheRule", 8400, 84, YoloLayout::kChannelsFirst, 0, 84, 8396}),
    [](const auto& row) { return row.param.name; });

std::string refusal(const TensorView& view, YoloLayout layout = YoloLayout::kAuto,
                    std::size_t labels = 0) {
  try {
    as_yolo_tensor(view, layout, labels);
  } catch (const npu::Error& error) {
    EXPECT_EQ(error.code(), npu::ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(YoloRefusal, NamesTensorShapeAndExpectation) {
  const std::vector<std::byte> memory(400);
  TensorView view = view_of(6, 10, memory);
  view.type = npu::ElementType::kU8;
  EXPECT_EQ(
      refusal(view),
      "tensor \"output0\" u8 [1,6,10] has the wrong element type; a YOLO output is f32 or f16 "
      "of shape [1, 4 + classes, boxes] or [1, boxes, 4 + classes], or, end to end, [1, boxes, 6]");
}

TEST(YoloRefusal, OfAnotherRank) {
  const std::vector<std::byte> memory(400);
  TensorView view = view_of(6, 10, memory);
  view.rank = 4;
  EXPECT_NE(refusal(view).find("wrong shape"), std::string::npos);
}

TEST(YoloRefusal, OfABatch) {
  const std::vector<std::byte> memory(400);
  TensorView view = view_of(6, 10, memory);
  view.dims[0] = 2;
  EXPECT_NE(refusal(view).find("[2,6,10] has the wrong shape"), std::string::npos);
}

TEST(YoloRefusal, OfNoBoxes) {
  const std::vector<std::byte> memory(400);
  EXPECT_NE(refusal(view_of(6, 0, memory)).find("wrong shape"), std::string::npos);
}

TEST(YoloRefusal, OfNoClasses) {
  const std::vector<std::byte> memory(400);
  EXPECT_NE(refusal(view_of(4, 10, memory)).find("4 values per box"), std::string::npos);
}

TEST(YoloRefusal, OfASquareTensor) {
  const std::vector<std::byte> memory(400);
  EXPECT_NE(refusal(view_of(10, 10, memory)).find("set tensor-layout"), std::string::npos);
}

TEST(YoloRefusal, OfObjectness) {
  const std::vector<std::byte> memory(std::size_t{25200} * 85 * 4);
  EXPECT_NE(refusal(view_of(25200, 85, memory), YoloLayout::kAuto, 80).find("objectness"),
            std::string::npos);
}

TEST(YoloRefusal, OfMemoryThatEndsTooEarly) {
  const std::vector<std::byte> memory(6 * 10 * 4 - 1);
  EXPECT_NE(refusal(view_of(6, 10, memory)).find("does not fit into its memory of 239 bytes"),
            std::string::npos);
}

TEST(YoloRefusal, OfStridesThatOverflow) {
  const std::vector<std::byte> memory(240);
  TensorView view = view_of(6, 10, memory);
  view.strides_bytes[1] = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_NE(refusal(view).find("does not fit"), std::string::npos);
}

TEST(YoloRefusal, OfNoMemory) {
  TensorView view = view_of(6, 10, {});
  view.data = nullptr;
  view.size_bytes = 1000;
  EXPECT_NE(refusal(view).find("does not fit"), std::string::npos);
}

// Shapes and strides as nobody would make them: what is accepted lies inside its memory, which a
// sanitizer watches, and what lies inside is accepted.
TEST(Yolo, NeverReadsBeyondTheTensorsMemory) {
  std::mt19937 random(11);
  const auto up_to = [&](std::size_t most) { return random() % (most + 1); };
  YoloDecoder decoder;
  std::size_t accepted = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    // A probability, as two halves too.
    const std::vector<float> memory(1 + up_to(60), std::bit_cast<float>(0x38003800U));
    TensorView view;
    view.type = up_to(1) == 0 ? npu::ElementType::kF32 : npu::ElementType::kF16;
    const std::size_t element_bytes = view.type == npu::ElementType::kF32 ? 4 : 2;
    view.rank = 3;
    view.dims = {1, 1 + up_to(9), 1 + up_to(9)};
    view.strides_bytes = {up_to(64), up_to(16) * element_bytes, up_to(16) * element_bytes};
    view.data = reinterpret_cast<const std::byte*>(memory.data());
    view.size_bytes = memory.size() * 4;
    const bool channels_first = up_to(1) == 0;
    const bool fits = (view.dims[1] - 1) * view.strides_bytes[1] +
                          (view.dims[2] - 1) * view.strides_bytes[2] + element_bytes <=
                      view.size_bytes;
    const bool has_class = view.dims[channels_first ? 1 : 2] > 4;
    try {
      const YoloTensor tensor = as_yolo_tensor(
          view, channels_first ? YoloLayout::kChannelsFirst : YoloLayout::kBoxesFirst, 0);
      EXPECT_LE(decoder.decode(tensor, {}, {64, 64}, {.threshold = 0}).size(), tensor.boxes);
      EXPECT_TRUE(fits && has_class);
      ++accepted;
    } catch (const npu::Error&) {
      EXPECT_FALSE(fits && has_class);
      ++refused;
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

// ---- End to end: edges, score, class

struct EndToEnd {
  float left, top, right, bottom, score, label;
};

/// Rows as a head of 300 boxes has them, filled up with zeros.
Output end_to_end(const std::vector<EndToEnd>& rows, std::size_t boxes = 300) {
  std::vector<Box> values(boxes, Box{0, 0, 0, 0, {0, 0}});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EndToEnd& row = rows[i];
    values[i] = {row.left, row.top, row.right, row.bottom, {row.score, row.label}};
  }
  return Output(values, false);
}

std::vector<Detection> decode_end_to_end(const std::vector<EndToEnd>& rows,
                                         std::size_t labels = 80) {
  Output output = end_to_end(rows);
  const YoloTensor tensor = as_yolo_tensor(output.view(), YoloLayout::kAuto, labels);
  EXPECT_TRUE(tensor.is_end_to_end);
  YoloDecoder decoder;
  const auto found = decoder.decode(tensor, {}, {640, 640}, {});
  return {found.begin(), found.end()};
}

std::string refusal_of(const std::function<void()>& decoding) {
  try {
    decoding();
  } catch (const npu::Error& error) {
    EXPECT_EQ(error.code(), npu::ErrorCode::kInvalidArgument);
    return error.what();
  }
  return {};
}

TEST(YoloEndToEnd, TakesEdgesScoreAndClassAsTheyAre) {
  const auto found = decode_end_to_end({{100, 120, 200, 260, 0.91F, 16}});
  ASSERT_EQ(found.size(), 1u);
  expect_box(found[0], 100, 120, 200, 260);
  EXPECT_FLOAT_EQ(found[0].confidence, 0.91F);
  EXPECT_EQ(found[0].label_id, 16u);
}

TEST(YoloEndToEnd, SuppressesNothing) {
  EXPECT_EQ(decode_end_to_end({{0, 0, 50, 50, 0.9F, 1}, {0, 0, 50, 50, 0.8F, 1}}).size(), 2u);
}

TEST(YoloEndToEnd, LeavesOutLowScoresEmptyBoxesAndNan) {
  EXPECT_TRUE(decode_end_to_end({{0, 0, 50, 50, 0.1F, 1},
                                 {50, 0, 50, 50, 0.9F, 1},
                                 {60, 0, 50, 50, 0.9F, 1},
                                 {kNaN, 0, 50, 50, 0.9F, 1},
                                 {0, 0, 50, 50, kNaN, 1}})
                  .empty());
}

TEST(YoloEndToEnd, RefusesWhatIsNoClassOrNoScore) {
  for (const EndToEnd& row : {EndToEnd{0, 0, 50, 50, 0.9F, 80}, EndToEnd{0, 0, 50, 50, 0.9F, 1.5F},
                              EndToEnd{0, 0, 50, 50, 0.9F, -1}, EndToEnd{0, 0, 50, 50, 0.9F, kNaN},
                              EndToEnd{0, 0, 50, 50, 16, 1}}) {
    EXPECT_NE(refusal_of([&] { decode_end_to_end({row}); }).find("of another kind"),
              std::string::npos)
        << row.score << " " << row.label;
  }
}

TEST(YoloEndToEnd, IsAskedForWhereTwoClassesHaveTheSameShape) {
  for (const std::size_t labels : {0, 2}) {
    Output output = end_to_end({});
    EXPECT_NE(refusal_of([&] {
                as_yolo_tensor(output.view(), YoloLayout::kAuto, labels);
              }).find("end-to-end"),
              std::string::npos);
    EXPECT_FALSE(as_yolo_tensor(output.view(), YoloLayout::kBoxesFirst, labels).is_end_to_end);
    EXPECT_TRUE(as_yolo_tensor(output.view(), YoloLayout::kEndToEnd, labels).is_end_to_end);
    Output many = end_to_end({}, 8400);
    EXPECT_FALSE(as_yolo_tensor(many.view(), YoloLayout::kAuto, labels).is_end_to_end);
  }
}

TEST(YoloRefusal, OfEndToEndWithOtherValues) {
  Output output({{0, 0, 0, 0, {0, 0, 0}}, {0, 0, 0, 0, {0, 0, 0}}}, false);
  EXPECT_NE(
      refusal_of([&] { as_yolo_tensor(output.view(), YoloLayout::kEndToEnd, 0); }).find("7 values"),
      std::string::npos);
}

// Key points, mask coefficients and logits are no scores.
TEST(YoloRefusal, OfAScoreThatIsNoProbability) {
  for (const float score : {310.F, 1.7F, 1.01F}) {
    const std::string why = refusal_of([&] { decode({{100, 100, 50, 50, {0.02F, score}}}); });
    EXPECT_NE(why.find("which is no probability"), std::string::npos) << why;
  }
  EXPECT_EQ(decode({{100, 100, 50, 50, {1.0005F}}}).at(0).confidence, 1.F) << "a half's rounding";
}

TEST(Yolo, NoValueGivesAScoreOutsideZeroToOne) {
  std::minstd_rand random(7);
  const auto value = [&] {
    const float special[] = {kNaN, kInf, -kInf, 0, 1, -1, 1e30F, 0.5F};
    if (random() % 16 == 0) return special[random() % std::size(special)];
    return static_cast<float>(random() % 1000) / 1000;
  };
  int refused = 0, found = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<Box> boxes(7 + random() % 8);
    const std::size_t scores = 1 + random() % 3;
    for (Box& box : boxes) {
      box = {value() * 600, value() * 600, value() * 600, value() * 600, {}};
      for (std::size_t i = 0; i < scores; ++i) box.scores.push_back(value());
    }
    const bool channels_first = random() % 2 == 0;
    Output output(boxes, channels_first);
    const auto layout = channels_first ? YoloLayout::kChannelsFirst
                        : scores == 2  ? YoloLayout::kEndToEnd
                                       : YoloLayout::kBoxesFirst;
    YoloDecoder decoder;
    const std::string why = refusal_of([&] {
      for (const Detection& d :
           decoder.decode(as_yolo_tensor(output.view(), layout, 0), {}, {640, 480}, {})) {
        ++found;
        EXPECT_TRUE(d.confidence >= 0 && d.confidence <= 1) << d.confidence;
        EXPECT_TRUE(d.left >= 0 && d.left < d.right && d.right <= 640);
        EXPECT_TRUE(d.top >= 0 && d.top < d.bottom && d.bottom <= 480);
      }
    });
    refused += why.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(found, 1000);
}

TEST(Yolo, KeepsNothingFromTheFrameBefore) {
  Output many({{10, 10, 4, 4, {0.9F}}, {50, 50, 4, 4, {0.9F}}}, true);
  Output none({{10, 10, 4, 4, {0.1F}}, {50, 50, 4, 4, {0.1F}}}, true);
  YoloDecoder decoder;
  const auto layout = YoloLayout::kChannelsFirst;
  EXPECT_EQ(decoder.decode(as_yolo_tensor(many.view(), layout, 0), {}, {64, 64}, {}).size(), 2u);
  EXPECT_TRUE(decoder.decode(as_yolo_tensor(none.view(), layout, 0), {}, {64, 64}, {}).empty());
}

}  // namespace

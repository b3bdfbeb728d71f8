#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "answers/frame_answer.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;

constexpr FrameSize kFrame{8, 4};
constexpr FrameSize kTurned{4, 8};
constexpr FrameMove kClockwise{true, -1, 1, 4, 0};
constexpr FrameMove kMirrored{false, -1, 1, 8, 0};

FrameMove crop(double x, double y) {
  return {.move_x = -x, .move_y = -y};
}

FoundObject object_at(double x, double y, double width, double height, double confidence = 0.5) {
  return {.confidence = confidence, .x = x, .y = y, .width = width, .height = height};
}

FrameAnswer answer_of(FoundObject object) {
  FrameAnswer answer;
  answer.frame = kFrame;
  answer.objects = {std::move(object)};
  return answer;
}

TEST(FrameMove, ThenIsOneAfterTheOther) {
  const FrameMove moves[] = {
      kClockwise, kMirrored, crop(1, 2), {false, 0.5, 3, 7, -1}, {true, 2, -3, 1, 5}};
  for (const FrameMove& first : moves) {
    for (const FrameMove& second : moves) {
      const FrameMove both = then(first, second);
      const FrameMove::Point half = first.of(3, 1.5);
      const FrameMove::Point expected = second.of(half.x, half.y), found = both.of(3, 1.5);
      EXPECT_DOUBLE_EQ(found.x, expected.x);
      EXPECT_DOUBLE_EQ(found.y, expected.y);
      const FrameMove::Point back = both.back(found.x, found.y);
      EXPECT_DOUBLE_EQ(back.x, 3);
      EXPECT_DOUBLE_EQ(back.y, 1.5);
    }
  }
}

TEST(MovedAnswer, DropsObjectsThatAreCutOff) {
  FrameAnswer answer = answer_of(object_at(0, 0, 2, 2));
  answer.objects.push_back(object_at(4, 1, 3, 2, 0.25));
  answer.objects[1].key_points = {{5, 2, 0.5F}};
  const FrameAnswer result = moved(answer, crop(3, 1), {5, 3});
  ASSERT_EQ(result.objects.size(), 1U);
  EXPECT_EQ(result.objects[0].area(), (FrameArea{1, 0, 4, 2}));
  EXPECT_EQ(result.objects[0].confidence, 0.25);
  EXPECT_EQ(result.objects[0].key_points.at(0).x, 2);
  EXPECT_EQ(result.objects[0].key_points.at(0).confidence, 0.5F);
  EXPECT_EQ(result.frame.width, 5U);
}

TEST(MovedAnswer, KnowsNothingOfKeyPointsThatAreCutOff) {
  FrameAnswer answer = answer_of(object_at(0, 0, 8, 4));
  answer.objects[0].key_points = {{1, 1, 0.75F}, {6, 2, 0.75F}};
  const auto points = moved(answer, crop(3, 0), {5, 4}).objects.at(0).key_points;
  EXPECT_EQ(points[0].x, 0);
  EXPECT_EQ(points[0].confidence, 0);
  EXPECT_EQ(points[1].x, 3);
  EXPECT_EQ(points[1].confidence, 0.75F);
}

TEST(MovedAnswer, TurnsOrientedBoxes) {
  constexpr double kPi = std::numbers::pi;
  FrameAnswer answer = answer_of(object_at(0, 0, 8, 4));
  answer.objects[0].oriented = {3, 1, 2, 1, kPi / 6};
  const auto turned = *moved(answer, kClockwise, kTurned).objects.at(0).oriented;
  EXPECT_NEAR(turned.center_x, 3, 1e-9);
  EXPECT_NEAR(turned.center_y, 3, 1e-9);
  EXPECT_NEAR(turned.width, 2, 1e-9);
  EXPECT_NEAR(turned.angle, kPi / 6 - kPi / 2, 1e-9);  // 120 degrees, from -pi/2 to pi/2
  const auto mirrored = *moved(answer, kMirrored, kFrame).objects.at(0).oriented;
  EXPECT_NEAR(mirrored.center_x, 5, 1e-9);
  EXPECT_NEAR(mirrored.angle, -kPi / 6, 1e-9);
}

/// A mask of the pixels 1..4 x 0..2.
FrameAnswer masked() {
  FrameAnswer answer = answer_of(object_at(1, 0, 3, 2));
  answer.objects[0].mask = FoundMask{1, 0, 3, 2, 3, 2, {255, 0, 0, 255, 255, 0}};
  return answer;
}

using Pixels = std::vector<guint8>;

FoundMask mask_of(const FrameAnswer& answer) {
  return answer.objects.at(0).mask.value_or(FoundMask{});
}

TEST(MovedAnswer, CutsMasks) {
  const FoundMask mask = mask_of(moved(masked(), crop(2, 1), {6, 3}));
  EXPECT_EQ(mask.area(), (FrameArea{0, 0, 2, 1}));
  EXPECT_EQ(mask.values, (Pixels{255, 0}));
}

TEST(MovedAnswer, TurnsMasks) {
  const FoundMask turned = mask_of(moved(masked(), kClockwise, kTurned));
  EXPECT_EQ(turned.area(), (FrameArea{2, 1, 4, 4}));
  EXPECT_EQ(turned.columns, 2U);
  EXPECT_EQ(turned.rows, 3U);
  EXPECT_EQ(turned.values, (Pixels{255, 255, 255, 0, 0, 0}));
  EXPECT_EQ(mask_of(moved(masked(), kMirrored, kFrame)).values, (Pixels{0, 0, 255, 0, 255, 255}));
}

TEST(MovedAnswer, KeepsTheValuesOfWhatIsScaled) {
  const FoundMask mask = mask_of(moved(masked(), {false, 0.5, 2, 0, 0}, {4, 8}));
  EXPECT_EQ(mask.area(), (FrameArea{0.5, 0, 2, 4}));
  EXPECT_EQ(mask.values, mask_of(masked()).values);
}

/// A map of 4x2 values for this area.
FrameAnswer mapped(const FrameArea& area, std::optional<gint> object_id = {}) {
  FrameAnswer answer;
  answer.frame = kFrame;
  answer.maps = {
      {.area = area, .object_id = object_id, .values = {4, 2, {1, 2, 3, 4, 5, 6, 7, 8}}}};
  return answer;
}

constexpr FrameArea kWhole{0, 0, 8, 4};

TEST(MovedAnswer, CutsMapsAsTheFrame) {
  const FoundMap map = moved(mapped(kWhole), crop(4, 0), {4, 2}).maps.at(0);
  EXPECT_EQ(map.area, (FrameArea{0, 0, 4, 2}));
  EXPECT_EQ(map.values.width, 2U);
  EXPECT_EQ(map.values.height, 1U);
  EXPECT_EQ(map.values.values, (std::vector<float>{3, 4}));
}

// The map says nothing of borders.
TEST(MovedAnswer, LeavesMapsWhereTheyAreBetweenBorders) {
  const FoundMap map = moved(mapped(kWhole), crop(-2, 0), {12, 4}).maps.at(0);
  EXPECT_EQ(map.area, (FrameArea{2, 0, 10, 4}));
  EXPECT_EQ(map.values.values, mapped(kWhole).maps[0].values.values);
}

TEST(MovedAnswer, MirrorsAndTurnsMaps) {
  const FrameArea area{2, 0, 6, 2};
  EXPECT_EQ(moved(mapped(area), kMirrored, kFrame).maps.at(0).values.values,
            (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
  const FoundMap turned = moved(mapped(area), kClockwise, kTurned).maps.at(0);
  EXPECT_EQ(turned.values.width, 2U);
  EXPECT_EQ(turned.values.height, 4U);
  EXPECT_EQ(turned.values.values, (std::vector<float>{5, 1, 6, 2, 7, 3, 8, 4}));
}

TEST(MovedAnswer, LeavesNoMapOfWhatIsGone) {
  EXPECT_TRUE(moved(mapped({2, 0, 6, 2}), crop(7, 0), {1, 4}).maps.empty());
  EXPECT_TRUE(moved(mapped(kWhole, 7), {}, kFrame).maps.empty()) << "of an object that is gone";
}

TEST(CutMap, IsThePartOfTheObject) {
  FoundMap map = mapped({2, 0, 6, 2}).maps[0];
  cut(&map, {3, 1, 5, 2});
  EXPECT_EQ(map.area, (FrameArea{3, 1, 5, 2}));
  EXPECT_EQ(map.values.width, 2U);
  EXPECT_EQ(map.values.height, 1U);
  EXPECT_EQ(map.values.values, (std::vector<float>{6, 7}));
}

TEST(MovedAnswer, KeepsWhatIsSaidOfTheWhole) {
  FrameAnswer answer;
  answer.frame = kFrame;
  answer.classes = {{"cat", 3, 0.5}};
  answer.anomaly = 0.25;
  const FrameAnswer result = moved(answer, kClockwise, kTurned);
  EXPECT_EQ(result.classes.at(0).label, "cat");
  EXPECT_EQ(result.anomaly, 0.25);
}

TEST(MovedAnswer, MovesZonesAndLinesOfCounts) {
  FrameAnswer answer;
  answer.frame = kFrame;
  answer.counts.zones.push_back({{"yard", {{0, 0}, {0.25, 0.5}, {0, 0.5}}}});
  answer.counts.lines.push_back({{"gate", {0, 0.5}, {0.25, 0.5}}});
  const FrameCounts counts = moved(answer, kMirrored, kFrame).counts;
  EXPECT_EQ(counts.zones.at(0).corners.at(1).x, 0.75);
  EXPECT_EQ(counts.zones.at(0).corners.at(1).y, 0.5);
  EXPECT_EQ(counts.lines.at(0).from.x, 1);
  EXPECT_EQ(counts.lines.at(0).to.x, 0.75);
  EXPECT_EQ(counts.lines.at(0).to.y, 0.5);
}

// ---- On buffers

/// The answer behind an element that scales from 8x4 to this size; null where it is dropped.
std::shared_ptr<const FrameAnswer> scaled(FrameSize to) {
  GstBuffer* before = gst_buffer_new();
  GstBuffer* after = gst_buffer_new();
  put_answer(before, std::make_shared<FrameAnswer>(answer_of(object_at(2, 2, 4, 2))));
  GstVideoInfo in, out;
  gst_video_info_set_format(&in, GST_VIDEO_FORMAT_RGB, kFrame.width * 100, kFrame.height * 100);
  gst_video_info_set_format(&out, GST_VIDEO_FORMAT_RGB, to.width * 100, to.height * 100);
  GstVideoMetaTransform scale = {&in, &out};
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(before, &state)) {
    meta->info->transform_func(after, meta, before, gst_video_meta_transform_scale_get_quark(),
                               &scale);
  }
  auto answer = answer_on(after);
  gst_buffer_unref(before);
  gst_buffer_unref(after);
  return answer;
}

TEST(AnswerOnABuffer, IsScaledWithItsFrame) {
  const auto answer = scaled({4, 2});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->objects.at(0).area(), (FrameArea{1, 1, 3, 2}));
  EXPECT_EQ(answer->frame.width, 400U);
}

// Nothing tells whether the frame has borders now, or was stretched.
TEST(AnswerOnABuffer, IsDroppedWithTheShapeOfItsFrame) {
  EXPECT_FALSE(scaled({4, 4}));
}

TEST(AnswerOnABuffer, IsSharedByItsCopies) {
  GstBuffer* buffer = gst_buffer_new();
  put_answer(buffer, std::make_shared<FrameAnswer>());
  GstBuffer* copy = gst_buffer_copy(buffer);
  EXPECT_EQ(answer_on(buffer), answer_on(copy));
  gst_buffer_unref(buffer);
  gst_buffer_unref(copy);
}

// ---- What filters of GStreamer 1.28 tell metas

/// As GStreamer 1.28 declares it.
struct MatrixTransform {
  const GstVideoInfo* in_info;
  GstVideoRectangle in;
  const GstVideoInfo* out_info;
  GstVideoRectangle out;
  gfloat matrix[3][3];
};

struct Buffers {
  GstBuffer* before = gst_buffer_new();
  GstBuffer* after = gst_buffer_new();
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(before, "m.xml");
  ~Buffers() {
    gst_buffer_unref(before);
    gst_buffer_unref(after);
  }

  /// Null where the meta does not follow.
  const GstNpuInferenceMeta* transform(MatrixTransform matrix) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, 8, 4);
    matrix.in_info = matrix.out_info = &info;
    auto* base = reinterpret_cast<GstMeta*>(meta);
    base->info->transform_func(after, base, before, g_quark_from_string("gst-video-matrix"),
                               &matrix);
    return gst_buffer_get_npu_inference_meta(after);
  }
};

FrameMove move_of(const GstNpuInferenceMeta& from, const GstNpuInferenceMeta* to) {
  return to ? move_between(from, *to) : FrameMove{};
}

TEST(MatrixTransform, OfACropMovesTheFrame) {
  Buffers buffers;
  buffers.meta->scale_x = 2;
  buffers.meta->offset_x = 3;
  const auto* meta = buffers.transform(
      {nullptr, {2, 1, 4, 2}, nullptr, {0, 0, 4, 2}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  EXPECT_EQ(move_of(*buffers.meta, meta), crop(2, 1));
}

// videocrop takes frames with a GstVideoCropMeta, and tells only what it cuts off beside.
TEST(MatrixTransform, OfACropFollowsTheCropBefore) {
  Buffers buffers;
  GstVideoCropMeta* before = gst_buffer_add_video_crop_meta(buffers.before);
  before->x = 5;
  before->y = 3;
  buffers.meta->crop_x = 2;  // of the frame that was inferred
  const auto* meta = buffers.transform(
      {nullptr, {2, 1, 4, 2}, nullptr, {0, 0, 4, 2}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}});
  EXPECT_EQ(move_of(*buffers.meta, meta), crop(5, 4));
  EXPECT_EQ(meta->crop_x, 0U);  // the new frame has none
}

// videoflip counts pixels from the last one, so that its constants are of their centres.
TEST(MatrixTransform, OfAFlipMirrorsEdges) {
  Buffers buffers;
  const auto* meta = buffers.transform(
      {nullptr, {0, 0, 8, 4}, nullptr, {0, 0, 8, 4}, {{-1, 0, 7}, {0, 1, 0}, {0, 0, 1}}});
  EXPECT_EQ(move_of(*buffers.meta, meta), kMirrored);
}

TEST(MatrixTransform, OfATurnTransposes) {
  Buffers buffers;
  buffers.meta->scale_x = 2;
  const auto* meta = buffers.transform(
      {nullptr, {0, 0, 8, 4}, nullptr, {0, 0, 4, 8}, {{0, -1, 3}, {1, 0, 0}, {0, 0, 1}}});
  ASSERT_NE(meta, nullptr);
  EXPECT_TRUE(meta->is_transposed);
  EXPECT_EQ(move_of(*buffers.meta, meta), kClockwise);
}

TEST(MatrixTransform, OfAScaleWithBordersScalesAndMoves) {
  Buffers buffers;
  const auto* meta = buffers.transform(
      {nullptr, {0, 0, 8, 4}, nullptr, {0, 2, 4, 2}, {{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 1}}});
  EXPECT_EQ(move_of(*buffers.meta, meta), (FrameMove{false, 0.5, 0.5, 0, 2}));
}

TEST(MatrixTransform, ThatSlantsIsNotFollowed) {
  Buffers buffers;
  EXPECT_EQ(
      buffers.transform(
          {nullptr, {0, 0, 8, 4}, nullptr, {0, 0, 8, 4}, {{1, 0.5, 0}, {0, 1, 0}, {0, 0, 1}}}),
      nullptr);
}

TEST(MatrixTransform, MovesTheObjectThatAModelSaw) {
  Buffers buffers;
  buffers.meta->region_x = 5;
  buffers.meta->region_y = 1;
  buffers.meta->region_w = 2;
  buffers.meta->region_h = 3;
  const auto* meta = buffers.transform(
      {nullptr, {0, 0, 8, 4}, nullptr, {0, 0, 4, 8}, {{0, -1, 3}, {1, 0, 0}, {0, 0, 1}}});
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->region_x, 0U);
  EXPECT_EQ(meta->region_y, 5U);
  EXPECT_EQ(meta->region_w, 3U);
  EXPECT_EQ(meta->region_h, 2U);
}

}  // namespace
}  // namespace gstnpu

#include "analytics/frame_move.hpp"

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <numbers>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

using npu::vision::Answer;
using npu::vision::FrameSize;
using npu::vision::Mask;

constexpr FrameSize kFrame{8, 4};
constexpr FrameSize kTurned{4, 8};
constexpr FrameMove kClockwise{true, -1, 1, 4, 0};
constexpr FrameMove kMirrored{false, -1, 1, 8, 0};

FrameMove crop(double x, double y) {
  return {.move_x = -x, .move_y = -y};
}

Answer one_object(double left, double top, double right, double bottom) {
  Answer answer;
  answer.objects.push_back(
      {.left = left, .top = top, .right = right, .bottom = bottom, .confidence = 0.5F});
  return answer;
}

TEST(FrameMove, ComesBack) {
  const FrameMove moves[] = {
      kClockwise, kMirrored, crop(1, 2), {false, 0.5, 3, 7, -1}, {true, 2, -3, 1, 5}};
  for (const FrameMove& move : moves) {
    const FrameMove::Point found = move.of(3, 1.5), back = move.back(found.x, found.y);
    EXPECT_DOUBLE_EQ(back.x, 3);
    EXPECT_DOUBLE_EQ(back.y, 1.5);
  }
}

TEST(FrameMove, DropsObjectsThatAreCutOffWithWhatTheyHave) {
  Answer answer = one_object(0, 0, 2, 2);
  answer.objects.push_back({.left = 4, .top = 1, .right = 7, .bottom = 3, .confidence = 0.25F});
  answer.key_points_per_object = 1;
  answer.key_points = {{1, 1, 0.75F}, {5, 2, 0.5F}};
  const Answer result = moved(answer, crop(3, 1), kFrame, {5, 3});
  ASSERT_EQ(result.objects.size(), 1U);
  EXPECT_EQ(result.objects[0].left, 1);
  EXPECT_EQ(result.objects[0].bottom, 2);
  EXPECT_EQ(result.objects[0].confidence, 0.25F);
  ASSERT_EQ(result.key_points.size(), 1U);
  EXPECT_EQ(result.key_points[0].x, 2);
  EXPECT_EQ(result.key_points[0].confidence, 0.5F);
}

TEST(FrameMove, KnowsNothingOfKeyPointsThatAreCutOff) {
  Answer answer = one_object(0, 0, 8, 4);
  answer.key_points_per_object = 2;
  answer.key_points = {{1, 1, 0.75F}, {6, 2, 0.75F}};
  const Answer result = moved(answer, crop(3, 0), kFrame, {5, 4});
  EXPECT_EQ(result.key_points[0].x, 0);
  EXPECT_EQ(result.key_points[0].confidence, 0);
  EXPECT_EQ(result.key_points[1].x, 3);
  EXPECT_EQ(result.key_points[1].confidence, 0.75F);
}

TEST(FrameMove, TurnsOrientedBoxes) {
  constexpr double kPi = std::numbers::pi;
  Answer answer = one_object(0, 0, 8, 4);
  answer.objects[0].oriented = {3, 1, 2, 1, kPi / 6};
  const auto turned = *moved(answer, kClockwise, kFrame, kTurned).objects[0].oriented;
  EXPECT_NEAR(turned.center_x, 3, 1e-9);
  EXPECT_NEAR(turned.center_y, 3, 1e-9);
  EXPECT_NEAR(turned.width, 2, 1e-9);
  EXPECT_NEAR(turned.angle, kPi / 6 - kPi / 2, 1e-9);  // 120 degrees, from -pi/2 to pi/2
  const auto mirrored = *moved(answer, kMirrored, kFrame, kFrame).objects[0].oriented;
  EXPECT_NEAR(mirrored.center_x, 5, 1e-9);
  EXPECT_NEAR(mirrored.angle, -kPi / 6, 1e-9);
}

/// A mask of the pixels 1..4 x 0..2.
Answer masked() {
  Answer answer = one_object(1, 0, 4, 2);
  answer.mask_pixels = {255, 0, 0, 255, 255, 0};
  answer.masks = {Mask{.x = 1, .y = 0, .width = 3, .height = 2, .columns = 3, .rows = 2}};
  return answer;
}

using Pixels = std::vector<std::uint8_t>;

TEST(FrameMove, CutsMasks) {
  const Answer result = moved(masked(), crop(2, 1), kFrame, {6, 3});
  const Mask& mask = result.masks.at(0);
  EXPECT_EQ(mask.x, 0U);
  EXPECT_EQ(mask.width, 2U);
  EXPECT_EQ(mask.height, 1U);
  EXPECT_EQ(result.mask_pixels, (Pixels{255, 0}));
}

TEST(FrameMove, TurnsMasks) {
  const Answer turned = moved(masked(), kClockwise, kFrame, kTurned);
  EXPECT_EQ(turned.masks.at(0).x, 2U);
  EXPECT_EQ(turned.masks.at(0).y, 1U);
  EXPECT_EQ(turned.masks.at(0).columns, 2U);
  EXPECT_EQ(turned.masks.at(0).rows, 3U);
  EXPECT_EQ(turned.mask_pixels, (Pixels{255, 255, 255, 0, 0, 0}));
  EXPECT_EQ(moved(masked(), kMirrored, kFrame, kFrame).mask_pixels,
            (Pixels{0, 0, 255, 0, 255, 255}));
}

TEST(FrameMove, CutsMapsAsTheFrame) {
  Answer answer;
  answer.class_map = {4, 2, {1, 2, 3, 4, 5, 6, 7, 8}};  // a place for 2x2 pixels
  const Answer result = moved(answer, crop(4, 0), kFrame, {4, 2});
  EXPECT_EQ(result.class_map.width, 2U);
  EXPECT_EQ(result.class_map.height, 1U);
  EXPECT_EQ(result.class_map.values, (std::vector<std::uint16_t>{3, 4}));
}

TEST(FrameMove, RefusesMapsOfBordersThatNobodySaw) {
  Answer answer;
  answer.value_map = {8, 4, std::vector<float>(32)};
  EXPECT_THROW(moved(answer, crop(-2, 0), kFrame, {10, 4}), npu::Error);
}

// ---- Maps of objects

/// A map of an object at (2, 0), 4x2 pixels, in a frame of 8x4.
Answer with_object_map() {
  Answer answer;
  answer.value_map = {4, 2, {1, 2, 3, 4, 5, 6, 7, 8}};
  return answer;
}
constexpr FrameArea kMapped{2, 0, 6, 2};

TEST(FrameMove, CutsMapsOfObjects) {
  const Answer whole = moved(with_object_map(), {}, MapAreas{kMapped, kMapped}, kFrame);
  EXPECT_EQ(whole.value_map.width, 4U);
  EXPECT_EQ(whole.value_map.values, with_object_map().value_map.values);
  const Answer part = moved(with_object_map(), {}, MapAreas{kMapped, {3, 1, 5, 2}}, kFrame);
  EXPECT_EQ(part.value_map.width, 2U);
  EXPECT_EQ(part.value_map.height, 1U);
  EXPECT_EQ(part.value_map.values, (std::vector<float>{6, 7}));
}

TEST(FrameMove, KeepsMapsOfSmallObjectsFiner) {
  const FrameArea small{2, 1, 4, 2};
  EXPECT_EQ(moved(with_object_map(), {}, MapAreas{small, small}, kFrame).value_map.values,
            with_object_map().value_map.values);
}

TEST(FrameMove, MovesMapsOfObjects) {
  const FrameArea mirrored = moved(kMapped, kMirrored);
  EXPECT_EQ(mirrored.left, 2);
  EXPECT_EQ(
      moved(with_object_map(), kMirrored, MapAreas{kMapped, mirrored}, kFrame).value_map.values,
      (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
  const Answer turned =
      moved(with_object_map(), kClockwise, MapAreas{kMapped, moved(kMapped, kClockwise)}, kTurned);
  EXPECT_EQ(turned.value_map.width, 2U);
  EXPECT_EQ(turned.value_map.height, 4U);
  EXPECT_EQ(turned.value_map.values, (std::vector<float>{5, 1, 6, 2, 7, 3, 8, 4}));
}

TEST(FrameMove, LeavesNoMapOfAnObjectThatIsGone) {
  const FrameArea gone = common(moved(kMapped, crop(7, 0)), {0, 0, 1, 4});
  EXPECT_TRUE(gone.is_empty());
  EXPECT_TRUE(
      moved(with_object_map(), crop(7, 0), MapAreas{kMapped, gone}, {1, 4}).value_map.empty());
}

TEST(FrameMove, KeepsWhatIsSaidOfTheWhole) {
  Answer answer;
  answer.classes = {{3, 0.5F}};
  answer.anomaly = 0.25F;
  answer.text = "7";
  const Answer result = moved(answer, kClockwise, kFrame, kTurned);
  EXPECT_EQ(result.classes.at(0).label_id, 3U);
  EXPECT_EQ(result.anomaly, 0.25F);
  EXPECT_EQ(result.text, "7");
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

#include <gst/allocators/gstfdmemory.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "element_harness.hpp"

namespace gstnpu::test::npuoverlay_test {
namespace {

constexpr int kWidth = 320, kHeight = 240;

std::vector<guint8> bytes_of(GstBuffer* buffer) {
  std::vector<guint8> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

BufferRef gray_frame(guint index = 0) {
  return frame_of("RGB", kWidth, kHeight, 128, index);
}

void add_region(GstBuffer* buffer, const char* label, guint x, guint y, guint width, guint height) {
  gst_buffer_add_video_region_of_interest_meta(buffer, label, x, y, width, height);
}

guint8 red_at(const std::vector<guint8>& rgb, int x, int y) {
  return rgb[static_cast<std::size_t>(3 * (y * kWidth + x))];
}

class NpuOverlay : public testing::Test {
 protected:
  std::vector<guint8> drawn(BufferRef frame) {
    EXPECT_EQ(harness_.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness_.pull();
    return out ? bytes_of(out.get()) : std::vector<guint8>();
  }
  void SetUp() override { harness_.set_caps(caps_of("RGB", kWidth, kHeight)); }

  ElementHarness harness_{"npuoverlay"};
};

TEST_F(NpuOverlay, AFrameWithoutResultsIsNotTouched) {
  EXPECT_EQ(drawn(gray_frame()), bytes_of(gray_frame().get()));
}

TEST_F(NpuOverlay, AGapWithoutAPictureGoesOn) {
  BufferRef gap(gst_buffer_new());
  add_region(gap.get(), "person", 100, 100, 80, 60);
  EXPECT_TRUE(drawn(std::move(gap)).empty());
  EXPECT_EQ(harness_.messages(GST_MESSAGE_ERROR).size(), 0u);
}

TEST_F(NpuOverlay, DrawsOthersRegions) {
  BufferRef frame = gray_frame();
  add_region(frame.get(), "person", 100, 100, 80, 60);
  const auto picture = drawn(std::move(frame));
  EXPECT_NE(red_at(picture, 100, 130), 128) << "the left edge";
  EXPECT_NE(red_at(picture, 179, 130), 128) << "the right edge";
  EXPECT_NE(red_at(picture, 140, 100), 128) << "the upper edge";
  EXPECT_NE(red_at(picture, 140, 159), 128) << "the lower edge";
  EXPECT_NE(red_at(picture, 104, 95), 128) << "the label";
  EXPECT_EQ(red_at(picture, 140, 130), 128) << "the middle";
  EXPECT_EQ(red_at(picture, 20, 200), 128) << "outside";
}

// Another branch of a tee sees the frame as it was.
TEST_F(NpuOverlay, WhoeverElseHasTheFrameSeesItAsItWas) {
  BufferRef frame = gray_frame();
  add_region(frame.get(), "person", 100, 100, 80, 60);
  const BufferRef other(gst_buffer_ref(frame.get()));
  const BufferRef of_the_same_memory(gst_buffer_copy(frame.get()));
  const auto picture = drawn(std::move(frame));
  EXPECT_NE(picture, bytes_of(gray_frame().get()));
  EXPECT_EQ(bytes_of(other.get()), bytes_of(gray_frame().get()));
  EXPECT_EQ(bytes_of(of_the_same_memory.get()), bytes_of(gray_frame().get()));
}

TEST_F(NpuOverlay, PropertiesChangeWhilePlaying) {
  const auto picture = [&] {
    BufferRef frame = gray_frame();
    add_region(frame.get(), "person", 100, 100, 80, 60);
    return drawn(std::move(frame));
  };
  EXPECT_NE(red_at(picture(), 104, 95), 128);
  g_object_set(harness_.element(), "labels", FALSE, "line-width", 9, nullptr);
  const auto thick = picture();
  EXPECT_EQ(red_at(thick, 104, 95), 128) << "no label";
  EXPECT_NE(red_at(thick, 107, 130), 128) << "a thick line";
}

TEST_F(NpuOverlay, TakesAnyRegions) {
  BufferRef frame = gray_frame();
  for (const guint number : {0U, 1U, 319U, 320U, 100000U, G_MAXUINT}) {
    add_region(frame.get(), "", number, number, number, number);
    add_region(frame.get(), "\xff\xfe", 0, number, number, 1);
  }
  EXPECT_EQ(drawn(std::move(frame)).size(), std::size_t{3} * kWidth * kHeight);
}

// The memory of such a frame ends in the first rows of its last plane.
TEST_F(NpuOverlay, RefusesAFrameThatIsLargerThanItsMemory) {
  constexpr gsize kLuma = gsize{4000} * 3000;
  for (const auto& [format, planes_before] :
       {std::pair("RGB", gsize{0}), std::pair("NV12", kLuma)}) {
    ElementHarness harness("npuoverlay", {}, caps_of(format, 4000, 3000));
    BufferRef frame(gst_buffer_new_allocate(nullptr, planes_before + 4096, nullptr));
    gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE,
                              gst_video_format_from_string(format), 4000, 3000);
    add_region(frame.get(), "person", 10, 1000, 3000, 1900);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
    const std::string said = harness.messages(GST_MESSAGE_ERROR).at(0);
    EXPECT_TRUE(has(said, "tells of 4000x3000 pixels of"));
  }
}

TEST_F(NpuOverlay, RefusesAFrameThatIsLargerThanItsFile) {
  const int file = memfd_create("frame", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  const ObjectRef<GstAllocator> allocator(gst_fd_allocator_new());
  BufferRef frame(gst_buffer_new());
  gst_buffer_append_memory(
      frame.get(),
      gst_fd_allocator_alloc(allocator.get(), file, kWidth * kHeight * 3, GST_FD_MEMORY_FLAG_NONE));
  add_region(frame.get(), "person", 100, 100, 80, 60);
  EXPECT_EQ(harness_.push(std::move(frame)), GST_FLOW_ERROR);
  const std::string said = harness_.messages(GST_MESSAGE_ERROR).at(0);
  EXPECT_TRUE(has(said, "needs 230400 bytes of file descriptor"));
  EXPECT_TRUE(has(said, "which has 4096"));
}

// The rest of the labels follow in the next frames.
TEST_F(NpuOverlay, DrawsAFewNewLabelsInAFrame) {
  const auto labels_in = [&](guint index) {
    BufferRef frame = gray_frame(index);
    for (guint i = 0; i < 70; ++i) {
      add_region(frame.get(), ("label " + std::to_string(i)).c_str(), 64 * (i % 5),
                 14 + 17 * (i / 5), 16, 2);
    }
    const auto picture = drawn(std::move(frame));
    int labels = 0;
    for (int i = 0; i < 70; ++i) {
      labels += red_at(picture, 64 * (i % 5) + 8, 14 + 17 * (i / 5) - 6) != 128;
    }
    return labels;
  };
  const int first = labels_in(0);
  EXPECT_LT(first, 70);
  EXPECT_EQ(stat_of(harness_.element(), "labels-left-out"), static_cast<guint64>(70 - first));
  EXPECT_EQ(labels_in(1), 70);
  EXPECT_EQ(stat_of(harness_.element(), "labels-left-out"), static_cast<guint64>(70 - first));
}

// GStreamer would call it a programmer's error of ours.
TEST_F(NpuOverlay, RefusesAFrameOfTwoFormats) {
  BufferRef frame = gray_frame();
  gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kWidth,
                            kHeight);
  add_region(frame.get(), "person", 100, 100, 80, 60);
  EXPECT_EQ(harness_.push(std::move(frame)), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness_.messages(GST_MESSAGE_ERROR).at(0), "pixels of I420"));
}

/// A frame with an object that goes to the right by 20 pixels a frame, its foot at y = 200.
BufferRef frame_of_walk(guint index) {
  BufferRef frame = gray_frame(index);
  GstVideoRegionOfInterestMeta* region = gst_buffer_add_video_region_of_interest_meta(
      frame.get(), "person", 20 + 20 * index, 160, 40, 40);
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("object_id", "id", G_TYPE_INT, 5, nullptr));
  return frame;
}

TEST_F(NpuOverlay, DrawsTheWayOfATrackForAWhile) {
  const auto last_of_walk = [&](guint length_ms) {
    g_object_set(harness_.element(), "trail-length", length_ms, nullptr);
    for (guint i = 0; i < 9; ++i) drawn(frame_of_walk(i));
    const auto picture = drawn(frame_of_walk(9));
    drawn(gray_frame(100));
    return picture;
  };
  // The object is at 220 now, and was at 60 eight frames ago: a quarter of a second.
  EXPECT_EQ(red_at(last_of_walk(0), 61, 200), 128);
  EXPECT_NE(red_at(last_of_walk(2000), 61, 200), 128);
  const auto briefly = last_of_walk(100);
  EXPECT_EQ(red_at(briefly, 61, 200), 128);
  EXPECT_NE(red_at(briefly, 190, 200), 128);
}

struct Thing {
  const char* label;
  int x, y, width, height;
};

// Side by side, over each other, and at the frame's border.
constexpr Thing kCrowd[] = {{"person", 40, 30, 60, 90},  {"person", 70, 34, 60, 90},
                            {"bicycle", 60, 90, 90, 60}, {"traffic light", 280, 20, 30, 60},
                            {"person", 284, 36, 34, 80}, {"dog", 200, 200, 60, 36},
                            {"cat", 0, 200, 40, 40}};

// Labels that cover each other have fewer pixels than each has alone.
TEST(LabelsOfACrowd, CoverNeitherEachOtherNorOutlines) {
  const auto picture_of = [&](std::span<const Thing> things, bool with_labels) {
    ElementHarness harness("npuoverlay", {}, caps_of("RGB", kWidth, kHeight));
    g_object_set(harness.element(), "labels", with_labels, nullptr);
    BufferRef frame = gray_frame();
    for (const Thing& one : things) {
      add_region(frame.get(), one.label, one.x, one.y, one.width, one.height);
    }
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    return bytes_of(harness.pull().get());
  };
  const auto pixels_of_labels = [&](std::span<const Thing> things) {
    const auto with = picture_of(things, true), without = picture_of(things, false);
    int pixels = 0;
    for (std::size_t i = 0; i < with.size(); i += 3) {
      const bool is_other = !std::equal(&with[i], &with[i] + 3, &without[i]);
      pixels += is_other ? 1 : 0;
    }
    return pixels;
  };
  int alone = 0;
  for (const Thing& one : kCrowd) alone += pixels_of_labels({&one, 1});
  EXPECT_NEAR(pixels_of_labels(kCrowd), alone, alone / 50);
  const auto with = picture_of(kCrowd, true), without = picture_of(kCrowd, false);
  for (const Thing& one : kCrowd) {
    for (int y = one.y; y < one.y + one.height; ++y) {
      EXPECT_EQ(red_at(with, one.x, y), red_at(without, one.x, y)) << one.label << " " << y;
    }
  }
}

// At x = 160 the line, and from 20 to 140 the zone.
TEST_F(NpuOverlay, DrawsWhatNpucountCountsAt) {
  ElementHarness counting("npucount", [](GstElement* element) {
    g_object_set(element, "places",
                 R"({"lines": [{"name": "gate", "points": [[0.5, 0.1], [0.5, 0.9]]}],
                     "zones": [{"name": "door", "points": [[0.0625, 0.1], [0.4375, 0.1],
                                                           [0.4375, 0.9], [0.0625, 0.9]]}]})",
                 nullptr);
  });
  counting.set_caps(caps_of("RGB", kWidth, kHeight));
  const auto counted = [&] {
    EXPECT_EQ(counting.push(gray_frame()), GST_FLOW_OK);
    return drawn(counting.pull());
  };
  const auto picture = counted();
  EXPECT_NE(red_at(picture, 160, 40), 128) << "the line";
  EXPECT_NE(red_at(picture, 20, 200), 128) << "the zone's edge";
  EXPECT_NE(red_at(picture, 100, 150), 128) << "inside of it";
  EXPECT_NE(red_at(picture, 24, 28), 128) << "its name";
  EXPECT_EQ(red_at(picture, 300, 20), 128) << "outside";
  g_object_set(harness_.element(), "places", FALSE, nullptr);
  EXPECT_EQ(counted(), bytes_of(gray_frame().get()));
}

TEST_F(NpuOverlay, WritesAStatisticsLineWhereItIsWanted) {
  g_object_set(harness_.element(), "statistics", TRUE, nullptr);
  const auto picture = drawn(gray_frame());
  EXPECT_NE(red_at(picture, 1, kHeight - 4), 128) << "at the bottom left";
  EXPECT_EQ(red_at(picture, kWidth - 1, kHeight - 4), 128);
  EXPECT_EQ(red_at(picture, 1, kHeight / 2), 128);
}

TEST_F(NpuOverlay, FollowsNoWayFromBeforeItWasAskedTo) {
  g_object_set(harness_.element(), "trail-length", 2000, nullptr);
  drawn(frame_of_walk(0));
  g_object_set(harness_.element(), "trail-length", 0, nullptr);
  drawn(frame_of_walk(4));
  g_object_set(harness_.element(), "trail-length", 2000, nullptr);
  EXPECT_EQ(red_at(drawn(frame_of_walk(9)), 100, 200), 128);
}

TEST_F(NpuOverlay, FollowsNoWayOverAFlush) {
  g_object_set(harness_.element(), "trail-length", 2000, nullptr);
  drawn(frame_of_walk(0));
  gst_harness_push_event(harness_.get(), gst_event_new_flush_start());
  gst_harness_push_event(harness_.get(), gst_event_new_flush_stop(FALSE));
  EXPECT_EQ(red_at(drawn(frame_of_walk(9)), 100, 200), 128);
}

TEST_F(NpuOverlay, FollowsNoWayOverACut) {
  g_object_set(harness_.element(), "trail-length", 2000, nullptr);
  drawn(frame_of_walk(9));
  BufferRef frame = frame_of_walk(0);
  GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);
  EXPECT_EQ(red_at(drawn(std::move(frame)), 100, 200), 128);
}

TEST_F(NpuOverlay, CountsTheFramesThatItDrewOn) {
  drawn(gray_frame(0));
  BufferRef frame = gray_frame(1);
  add_region(frame.get(), "person", 100, 100, 80, 60);
  drawn(std::move(frame));
  EXPECT_EQ(stat_of(harness_.element(), "frames"), 2U);
  EXPECT_EQ(stat_of(harness_.element(), "drawn"), 1U);
}

// Whatever a GstVideoMeta says of places, nothing outside of the memory is touched.
TEST_F(NpuOverlay, RefusesPlanesOutsideOfTheMemory) {
  const gsize kOffsets[] = {0, 1, kWidth * kHeight * 3 - 1, kWidth * kHeight * 3, G_MAXSIZE};
  const gint kStrides[] = {0, 1, -3 * kWidth, 3 * kWidth + 1, G_MAXINT, G_MININT};
  for (const gsize offset : kOffsets) {
    for (const gint stride : kStrides) {
      ElementHarness harness("npuoverlay", {}, caps_of("RGB", kWidth, kHeight));
      BufferRef frame = gray_frame();
      gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
      gint strides[GST_VIDEO_MAX_PLANES] = {stride};
      gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB,
                                     kWidth, kHeight, 1, offsets, strides);
      add_region(frame.get(), "person", 100, 100, 80, 60);
      const bool is_inside = offset <= 1 && (stride == 0 || stride == 1);
      EXPECT_EQ(harness.push(std::move(frame)), is_inside ? GST_FLOW_OK : GST_FLOW_ERROR)
          << offset << " " << stride;
    }
  }
}

TEST_F(NpuOverlay, FollowsANewSize) {
  harness_.set_caps(caps_of("NV12", 64, 48));
  BufferRef frame = frame_of("NV12", 64, 48, 128);
  add_region(frame.get(), "person", 10, 10, 20, 20);
  EXPECT_NE(drawn(std::move(frame)), bytes_of(frame_of("NV12", 64, 48, 128).get()));
}

// As videocrop leaves frames where downstream takes a GstVideoCropMeta.
TEST_F(NpuOverlay, DrawsWhereACropBegins) {
  harness_.set_caps(caps_of("RGB", 160, 120));
  BufferRef frame = gray_frame();
  gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, kWidth,
                            kHeight);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = 100;
  crop->y = 80;
  crop->width = 160;
  crop->height = 120;
  add_region(frame.get(), "person", 40, 40, 80, 60);
  const auto picture = drawn(std::move(frame));
  EXPECT_NE(red_at(picture, 140, 150), 128) << "the left edge";
  EXPECT_EQ(red_at(picture, 40, 70), 128) << "where it would be without the crop";
}

TEST_F(NpuOverlay, OffersNoFormatThatItCannotDrawOn) {
  GstPad* pad = gst_element_get_static_pad(harness_.element(), "sink");
  GstCaps* taken = gst_pad_get_pad_template_caps(pad);
  GstCaps* wide = gst_caps_from_string(caps_of("P010_10LE", 64, 48).c_str());
  GstCaps* narrow = gst_caps_from_string(caps_of("YUY2", 64, 48).c_str());
  EXPECT_FALSE(gst_caps_can_intersect(taken, wide));
  EXPECT_TRUE(gst_caps_can_intersect(taken, narrow));
  for (GstCaps* caps : {taken, wide, narrow}) gst_caps_unref(caps);
  gst_object_unref(pad);
}

}  // namespace
}  // namespace gstnpu::test::npuoverlay_test

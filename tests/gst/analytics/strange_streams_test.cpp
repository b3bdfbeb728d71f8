// nputrack in streams that nobody plans.
#include <atomic>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "tracked.hpp"

namespace strange_streams_test {
namespace {

using gstnpu_test::add_object;
using gstnpu_test::Box;
using gstnpu_test::ElementHarness;
using gstnpu_test::empty_frame;
using gstnpu_test::inferred_frame;
using gstnpu_test::kCaps;
using gstnpu_test::objects_of;
using gstnpu_test::Owned;
using gstnpu_test::Tracked;

// An element upstream that is linked anew sends all of its events again.
TEST(StrangeStreams, KeepIdentitiesOverEventsThatAreSentAgain) {
  Tracked track;
  track.send(gst_event_new_stream_start("camera"));
  track.send_segment(0);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(track.still(i), 1);
  }
  track.send_segment(0);
  EXPECT_EQ(track.still(5), 1) << "the same segment";
  track.send(gst_event_new_stream_start("camera"));
  track.send_segment(0);
  EXPECT_EQ(track.still(6), 1) << "the same stream";
  track.send(gst_event_new_stream_start("another"));
  track.send_segment(0);
  EXPECT_EQ(track.still(7), 2);
}

TEST(StrangeStreams, PassGapsAndFramesWithoutAnything) {
  Tracked track;
  EXPECT_EQ(track.still(0), 1);
  track.send(gst_event_new_gap(GST_SECOND / 30, GST_SECOND / 30));
  EXPECT_EQ(track.still(2), 1);
  EXPECT_EQ(track.push(empty_frame(3)).size(), 1u) << "predicted";
  EXPECT_EQ(track.still(4), 1);
}

TEST(StrangeStreams, InventNoNumberForALabelThatHasNone) {
  Tracked track("inference-interval=2");
  Owned<GstBuffer> buffer = empty_frame(0);
  gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 100, 100, 50, 50);
  track.push(std::move(buffer));
  const auto objects = track.push(empty_frame(1));
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].id, 1);
  EXPECT_EQ(objects[0].label_id, std::nullopt);
}

// Frames of npuinfer tell that they were inferred, those of the next stream's detector do not.
TEST(StrangeStreams, ForgetWithTheStreamThatFramesTellTheirInference) {
  Tracked track("inference-interval=2");
  EXPECT_EQ(track.still(0), 1);
  track.send(gst_event_new_stream_start("another"));
  track.send_segment(0);
  Owned<GstBuffer> found = empty_frame(1);
  add_object(found.get(), {100, 100});
  track.push(std::move(found));
  EXPECT_EQ(track.push(empty_frame(2)).size(), 1u) << "predicted";
  EXPECT_TRUE(track.push(empty_frame(3)).empty()) << "its turn: nothing was found";
}

TEST(StrangeStreams, GoOnWhereTheyArePlayedBackwards) {
  Tracked track;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = 100 * GST_SECOND;
  track.send(gst_event_new_segment(&segment));
  double x = 100;
  for (int index = 90; index > 80; --index) {
    track.push(inferred_frame(index, {{x, 100}}));
    x += 10;
  }
  const auto objects = track.push(empty_frame(80));
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].id, 1);
  EXPECT_NEAR(objects[0].box.x, x, 4);
}

/// Each identity and the number of its region.
std::map<int, int> region_numbers(GstBuffer* buffer) {
  std::map<int, int> numbers;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(base);
    gint id = 0;
    gst_structure_get_int(gst_video_region_of_interest_meta_get_param(meta, "object_id"), "id",
                          &id);
    numbers[id] = meta->id;
  }
  return numbers;
}

TEST(StrangeStreams, GoOnBesideRegionsOfTheHighestNumber) {
  for (const gint highest : {G_MAXINT - 1, G_MAXINT}) {
    Tracked track;
    track.push(inferred_frame(0, {{100, 100}, {200, 200}, {400, 200}}));
    Owned<GstBuffer> buffer = empty_frame(1);
    GstVideoRegionOfInterestMeta* other = add_object(buffer.get(), {300, 300});
    other->id = highest;
    gst_video_region_of_interest_meta_add_param(
        other, gst_structure_new("object_id", "id", G_TYPE_INT, 77, nullptr));
    track.push(std::move(buffer));
    auto numbers = region_numbers(track.last_frame());
    ASSERT_EQ(numbers.size(), 4u);
    EXPECT_EQ(numbers[77], highest);
    for (const int id : {1, 2, 3}) EXPECT_TRUE(numbers[id] >= 0 && numbers[id] < highest) << id;
  }
}

// The second one has nothing to do but for what the first left alone.
TEST(StrangeStreams, TwoTrackersDoNotDisagree) {
  ElementHarness harness("nputrack ! nputrack", kCaps);
  for (int i = 0; i < 60; ++i) {
    std::vector<Box> boxes = {{50 + 4.0 * i, 100}};
    if (i >= 10) {
      boxes.push_back({500 - 3.0 * i, 300});
    }
    EXPECT_EQ(harness.push(i % 3 == 0 ? inferred_frame(i, boxes) : empty_frame(i)), GST_FLOW_OK);
    const Owned<GstBuffer> out = harness.pull();
    std::set<std::optional<int>> ids;
    const auto objects = objects_of(out.get());
    for (const auto& object : objects) ids.insert(object.id);
    EXPECT_EQ(ids.size(), objects.size()) << i;
    EXPECT_LE(objects.size(), boxes.size()) << i;
  }
}

TEST(StrangeStreams, TakeTenThousandBoxes) {
  Tracked track;
  for (int i = 0; i < 4; ++i) {
    Owned<GstBuffer> buffer = inferred_frame(i, {});
    for (int k = 0; k < 10000; ++k) {
      add_object(buffer.get(), {std::fmod(k * 7.0, 620), std::fmod(k * 3.0, 460), 15, 15});
    }
    EXPECT_EQ(track.push(std::move(buffer)).size(), 10000u);
  }
  EXPECT_EQ(track.stat("objects-refused"), 4u * (10000 - 1024));
}

TEST(StrangeStreams, TakeSettingsAtAnyTime) {
  Tracked track;
  std::atomic<bool> is_done = false;
  std::thread setter([&] {
    for (int i = 0; !is_done; ++i) {
      g_object_set(track.element(), "min-hits", 1 + i % 3, "max-age", i % 7 * 200, "predict",
                   i % 2 == 0, "object-class", i % 5 == 0 ? "car" : "", "across-labels", i % 3 == 0,
                   "high-threshold", i % 10 / 10.0, "low-threshold", i % 8 / 8.0,
                   "inference-interval", 1 + i % 4, nullptr);
      track.stat("frames");
    }
  });
  std::set<int> ended;
  std::optional<int> last;
  for (int i = 0; i < 2000; ++i) {
    const auto objects =
        track.push(i % 3 == 0 ? inferred_frame(i, {{100.0 + i % 50, 100}}) : empty_frame(i));
    if (objects.empty() || !objects[0].id) continue;
    EXPECT_FALSE(ended.contains(*objects[0].id)) << "no identity is given twice";
    if (last && last != objects[0].id) {
      ended.insert(*last);
    }
    last = objects[0].id;
  }
  is_done = true;
  setter.join();
  EXPECT_EQ(track.stat("frames"), 2000u);
}

}  // namespace
}  // namespace strange_streams_test

#include <gst/video/gstvideometa.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "hand_made_frames.hpp"
#include "leak_check.hpp"
#include "needs_element.hpp"
#include "tracked.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace nputrack_test {
namespace {

using gstnpu_test::add_object;
using gstnpu_test::Box;
using gstnpu_test::ElementHarness;
using gstnpu_test::empty_frame;
using gstnpu_test::Found;
using gstnpu_test::inferred_frame;
using gstnpu_test::kCaps;
using gstnpu_test::objects_of;
using gstnpu_test::overlap;
using gstnpu_test::Owned;
using gstnpu_test::TempFolder;
using gstnpu_test::Tracked;

[[maybe_unused]] const bool kNeedsTracer = gstnpu_test::need_tracer(__FILE__);

// ---- Identities

TEST(NpuTrack, GivesIdentitiesThatLast) {
  Tracked track;
  for (int i = 0; i < 60; ++i) {
    const auto objects =
        track.push(inferred_frame(i, {{50 + 4.0 * i, 100}, {500 - 4.0 * i, 200 + 1.0 * i}}));
    ASSERT_EQ(objects.size(), 2u) << i;
    EXPECT_EQ(objects[0].id, 1) << i;
    EXPECT_EQ(objects[1].id, 2) << i;
  }
  EXPECT_EQ(track.stat("identities"), 2u);
  EXPECT_EQ(track.stat("objects-identified"), 120u);
}

TEST(NpuTrack, KnowsWhatWasHidden) {
  Tracked track;
  for (int i = 0; i < 60; ++i) {
    const bool is_hidden = i >= 20 && i < 35;
    const auto objects = track.push(
        inferred_frame(i, is_hidden ? std::vector<Box>{} : std::vector<Box>{{50 + 5.0 * i, 100}}));
    ASSERT_EQ(objects.size(), is_hidden ? 0u : 1u) << i;
    if (!is_hidden) {
      EXPECT_EQ(objects[0].id, 1) << i;
    }
  }
}

TEST(NpuTrack, ForgetsWhatWasHiddenForLong) {
  Tracked track("max-age=200 min-hits=1");
  EXPECT_EQ(track.still(0), 1);
  for (int i = 1; i < 10; ++i) {
    track.push(inferred_frame(i, {}));
  }
  EXPECT_EQ(track.still(10), 2);
}

TEST(NpuTrack, GivesIdentitiesToRegionsOfOthers) {
  Tracked track;
  for (int i = 0; i < 5; ++i) {
    Owned<GstBuffer> buffer = empty_frame(i);
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "face", 100, 100, 50, 50);
    const auto objects = track.push(std::move(buffer));
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].id, 1);
  }
}

TEST(NpuTrack, LeavesIdentitiesOfOthersAlone) {
  Tracked track;
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> buffer = inferred_frame(i, {{300, 300}});
    gst_video_region_of_interest_meta_add_param(
        add_object(buffer.get(), {100, 100}),
        gst_structure_new("object_id", "id", G_TYPE_INT, 77, nullptr));
    const auto objects = track.push(std::move(buffer));
    ASSERT_EQ(objects.size(), 2u);
    EXPECT_EQ(objects[0].id, 1);
    EXPECT_EQ(objects[1].id, 77);
  }
}

TEST(NpuTrack, TracksOnlyTheWantedClasses) {
  Tracked track("object-class=\"bus, car\"");
  Owned<GstBuffer> buffer = inferred_frame(0, {{100, 100}});
  add_object(buffer.get(), {300, 300}, "person");
  const auto objects = track.push(std::move(buffer));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].id, 1);
  EXPECT_EQ(objects[1].id, std::nullopt);
}

TEST(NpuTrack, BeginsNoTracksOfUnsureObjects) {
  Tracked track("high-threshold=0.6");
  Owned<GstBuffer> buffer = inferred_frame(0, {{100, 100}});
  add_object(buffer.get(), {300, 300}, "car", 0.55);
  const auto objects = track.push(std::move(buffer));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].id, 1);
  EXPECT_EQ(objects[1].id, std::nullopt);
}

TEST(NpuTrack, KeepsTwoHundredApart) {
  Tracked track;
  for (int i = 0; i < 20; ++i) {
    std::vector<Box> boxes;
    for (int k = 0; k < 200; ++k) {
      boxes.push_back({5 + 30.0 * (k % 20) + 1.5 * i, 5 + 40.0 * (k / 20) + i, 20, 20});
    }
    const auto objects = track.push(inferred_frame(i, boxes));
    ASSERT_EQ(objects.size(), 200u);
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(objects[static_cast<std::size_t>(k)].id, k + 1) << i;
    }
  }
}

// ---- Frames between inferences

TEST(NpuTrack, PredictsObjectsOfFramesBetweenInferences) {
  Tracked track;
  int predicted = 0;
  for (int i = 0; i < 60; ++i) {
    const Box truth{50 + 4.0 * i, 100 + 2.0 * i};
    const auto objects = track.push(i % 3 == 0 ? inferred_frame(i, {truth}) : empty_frame(i));
    ASSERT_EQ(objects.size(), 1u) << i;
    EXPECT_EQ(objects[0].id, 1) << i;
    EXPECT_EQ(objects[0].label, "car") << i;
    EXPECT_EQ(objects[0].label_id, 3) << i;
    if (i > 3) {  // from the second inference on it knows where the object is going
      EXPECT_GE(overlap(objects[0].box, truth), 0.8) << i;
    }
    predicted += i % 3 != 0;
  }
  EXPECT_EQ(track.stat("objects-predicted"), static_cast<guint64>(predicted));
  EXPECT_EQ(track.stat("frames-predicted"), static_cast<guint64>(predicted));
}

TEST(NpuTrack, PredictsNothingThatAnInferenceHasNotFound) {
  Tracked track;
  track.still(0);
  EXPECT_TRUE(track.push(inferred_frame(1, {})).empty());
  EXPECT_TRUE(track.push(empty_frame(2)).empty());
}

TEST(NpuTrack, PredictsNoLongerThanItWaits) {
  Tracked track("max-age=100");
  track.still(0);
  EXPECT_EQ(track.push(empty_frame(3)).size(), 1u);
  EXPECT_TRUE(track.push(empty_frame(4)).empty());
}

TEST(NpuTrack, PredictsNothingWhereThatIsNotWanted) {
  Tracked track("predict=false");
  EXPECT_EQ(track.still(0), 1);
  EXPECT_TRUE(track.push(empty_frame(1)).empty());
  EXPECT_EQ(track.still(2), 1);
}

// Detectors of others leave nothing where they find nothing.
TEST(NpuTrack, IsToldTheIntervalOfOthersDetectors) {
  Tracked track("inference-interval=3");
  const auto found = [](int index) {
    Owned<GstBuffer> buffer = empty_frame(index);
    add_object(buffer.get(), {100, 100});
    return buffer;
  };
  track.push(found(0));
  EXPECT_EQ(track.push(empty_frame(1)).size(), 1u);
  EXPECT_EQ(track.push(empty_frame(2)).size(), 1u);
  track.push(found(3));
  EXPECT_EQ(track.push(empty_frame(4)).size(), 1u);
  EXPECT_EQ(track.push(empty_frame(5)).size(), 1u);
  EXPECT_TRUE(track.push(empty_frame(6)).empty());  // inferred, and found nothing
  EXPECT_TRUE(track.push(empty_frame(7)).empty());
}

// ---- Streams

TEST(NpuTrack, EndsTracksWithAFlush) {
  Tracked track;
  EXPECT_EQ(track.still(0), 1);
  track.send(gst_event_new_flush_start());
  track.send(gst_event_new_flush_stop(TRUE));
  track.send_segment(0);
  EXPECT_EQ(track.still(1), 2);
}

// As of a cut. Lost frames are flagged, too, and a timestamp may stumble.
TEST(NpuTrack, EndsTracksWhereFlaggedFramesGoBack) {
  Tracked track;
  const auto flagged = [&track](int index) {
    Owned<GstBuffer> frame = inferred_frame(index, {{100, 100}});
    GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);
    return track.push(std::move(frame)).at(0).id;
  };
  EXPECT_EQ(flagged(8), 1);
  EXPECT_EQ(track.still(9), 1);
  EXPECT_EQ(flagged(12), 1);
  EXPECT_EQ(track.still(11), 1);
  EXPECT_EQ(flagged(5), 2);
}

TEST(NpuTrack, EndsTracksWithAnotherSegmentOnly) {
  Tracked track;
  track.send_segment(0);
  EXPECT_EQ(track.still(0), 1);
  track.send_segment(0);
  EXPECT_EQ(track.still(1), 1);
  track.send_segment(GST_MSECOND);
  EXPECT_EQ(track.still(2), 2);
}

TEST(NpuTrack, EndsTracksWithAnotherStreamOrSize) {
  Tracked track;
  EXPECT_EQ(track.still(0), 1);
  track.send(gst_event_new_stream_start("another"));
  EXPECT_EQ(track.still(1), 2);
  gst_harness_set_sink_caps_str(track.harness().get(), "video/x-raw,width=800");
  gst_harness_set_src_caps_str(track.harness().get(),
                               "video/x-raw,format=NV12,width=800,height=480,framerate=30/1");
  EXPECT_EQ(track.still(2), 3);
}

TEST(NpuTrack, NeverGivesAnIdentityAgainWhenSettingsChange) {
  Tracked track;
  EXPECT_EQ(track.still(0), 1);
  g_object_set(track.element(), "predict", FALSE, nullptr);
  EXPECT_EQ(track.still(1), 1);
  g_object_set(track.element(), "min-hits", 1, nullptr);
  EXPECT_EQ(track.still(2), 2);
}

TEST(NpuTrack, NeedsNoTimestamps) {
  Tracked track;
  for (int i = 0; i < 60; ++i) {
    const Box truth{50 + 4.0 * i, 100};
    Owned<GstBuffer> buffer = i % 3 == 0 ? inferred_frame(i, {truth}) : empty_frame(i);
    GST_BUFFER_PTS(buffer.get()) = GST_CLOCK_TIME_NONE;
    const auto objects = track.push(std::move(buffer));
    ASSERT_EQ(objects.size(), 1u) << i;
    EXPECT_EQ(objects[0].id, 1) << i;
    if (i > 3) {
      EXPECT_GE(overlap(objects[0].box, truth), 0.8) << i;
    }
  }
}

// Time is that of the frames and not their number.
TEST(NpuTrack, FollowsAStreamWithGaps) {
  Tracked track;
  int index = 0;
  for (int i = 0; i < 40; ++i) {
    index += i % 7 == 3 ? 6 : 1 + i % 2;
    const Box truth{20 + 4.0 * index, 100};
    const auto objects =
        track.push(i % 2 == 0 ? inferred_frame(index, {truth}) : empty_frame(index));
    ASSERT_EQ(objects.size(), 1u) << i;
    EXPECT_EQ(objects[0].id, 1) << i;
    if (i > 4) {
      EXPECT_GE(overlap(objects[0].box, truth), 0.8) << i;
    }
  }
}

TEST(NpuTrack, ForgivesTimestampsThatStumble) {
  Tracked track;
  EXPECT_EQ(track.still(100), 1);
  EXPECT_EQ(track.still(99), 1);
  EXPECT_EQ(track.still(101), 1);
  EXPECT_EQ(track.still(0), 2) << "the clock began anew";
}

TEST(NpuTrack, TakesTimestampsOfAnySize) {
  Tracked track;
  EXPECT_EQ(track.still(0), 1);
  for (const GstClockTime pts : {GST_CLOCK_TIME_NONE - 1, GST_CLOCK_TIME_NONE - 1}) {
    Owned<GstBuffer> buffer = inferred_frame(0, {{100, 100}});
    GST_BUFFER_PTS(buffer.get()) = pts;
    const auto objects = track.push(std::move(buffer));
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].id, 1) << "it stands still";
  }
}

TEST(NpuTrack, RefusesCapsWithoutASize) {
  ElementHarness harness("nputrack", "video/x-raw,format=NV12");
  EXPECT_NE(harness.push(empty_frame(0)), GST_FLOW_OK);
  EXPECT_EQ(
      harness.message(GST_MESSAGE_ERROR),
      "The caps have no frame size: give whoever makes these frames caps with width and height.");
}

// ---- Hostile regions

TEST(NpuTrack, RefusesBoxesThatAreNone) {
  Tracked track;
  Owned<GstBuffer> buffer = inferred_frame(0, {{100, 100}});
  const guint minus = static_cast<guint>(-30), huge = G_MAXUINT;
  const guint boxes[][4] = {{10, 10, 0, 0},     {700, 10, 20, 20}, {10, 480, 5, 5},
                            {minus, 10, 20, 5}, {5, 5, 0, 20},     {minus, 10, 60, 60},
                            {0, 0, huge, huge}};
  for (const auto& box : boxes) {
    gst_buffer_add_video_region_of_interest_meta(buffer.get(), "x", box[0], box[1], box[2], box[3]);
  }
  for (const double wrong : {std::nan(""), HUGE_VAL}) {
    add_object(buffer.get(), {100, 100}, "car", wrong);
    gst_video_region_of_interest_meta_add_param(
        gst_buffer_add_video_region_of_interest_meta(buffer.get(), "y", 0, 0, 9, 9),
        gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, wrong, "x_max", G_TYPE_DOUBLE, 1.0,
                          "y_min", G_TYPE_DOUBLE, 0.0, "y_max", G_TYPE_DOUBLE, wrong, nullptr));
  }
  const auto objects = track.push(std::move(buffer));
  ASSERT_EQ(objects.size(), 12u);
  std::set<std::string> labels;
  for (const Found& found : objects) {
    if (found.id) {
      labels.insert(found.label);
    }
  }
  EXPECT_EQ(objects[0].id, 1);
  EXPECT_FALSE(objects[1].id || objects[2].id || objects[3].id || objects[4].id || objects[5].id);
  EXPECT_TRUE(objects[6].id && objects[7].id) << "they are partly inside";
  EXPECT_EQ(labels, (std::set<std::string>{"car", "x"}));
  EXPECT_EQ(track.stat("objects-refused"), 9u);
}

TEST(NpuTrack, TracksTheBestOfVeryMany) {
  Tracked track("min-hits=1");
  Owned<GstBuffer> buffer = inferred_frame(0, {});
  for (int i = 0; i < 1500; ++i) {
    add_object(buffer.get(), {12.0 * (i % 50), 15.0 * (i / 50), 10, 10}, "car",
               i < 476 ? 0.6 : 0.9);
  }
  const auto objects = track.push(std::move(buffer));
  ASSERT_EQ(objects.size(), 1500u);
  EXPECT_EQ(track.stat("objects-refused"), 476u);
  EXPECT_EQ(track.stat("objects-identified"), 1024u);
  EXPECT_FALSE(objects[0].id);
  EXPECT_TRUE(objects[1499].id);
}

// DL Streamer's label of an object may be what was read on it.
TEST(NpuTrack, ForgetsLabelsThatComeButOnce) {
  Tracked track;
  int labels = 0;
  const auto run = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      Owned<GstBuffer> buffer = empty_frame(i);
      for (guint k = 0; k < 10; ++k) {
        gst_video_region_of_interest_meta_add_param(
            gst_buffer_add_video_region_of_interest_meta(buffer.get(), "plate", 60 * k, 20, 20, 20),
            gst_structure_new("detection", "label", G_TYPE_STRING, std::to_string(++labels).c_str(),
                              nullptr));
      }
      track.push(std::move(buffer));
    }
  };
  run(0, 500);
  const auto before = mallinfo2().uordblks;
  run(500, 2500);
  EXPECT_LT(mallinfo2().uordblks, before + 1024 * 1024);
  EXPECT_EQ(labels, 25000);
}

// Things come and go.
TEST(NpuTrack, DoesNotGrow) {
  Tracked track;
  const auto run = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      Owned<GstBuffer> buffer = i % 3 == 0 ? inferred_frame(i, {{100, 100}}) : empty_frame(i);
      if (i % 3 == 0) {
        for (int k = 0; k < 5; ++k) {
          add_object(buffer.get(), {std::fmod(40.0 * k + 3.0 * i, 580), 20 + 70.0 * k},
                     k % 2 == 0 ? "car" : "bus");
        }
      }
      track.push(std::move(buffer));
    }
  };
  run(0, 500);
  const auto before = mallinfo2().uordblks;
  run(500, 2500);
  EXPECT_LT(mallinfo2().uordblks, before + 64 * 1024);
  EXPECT_GT(track.stat("identities"), 50u);
}

// ---- With others

TEST(NpuTrack, IsReadByNpupublish) {
  NEEDS_ELEMENT("npupublish");
  const TempFolder folder;
  ElementHarness harness("nputrack ! npupublish location=" + folder.file("out.jsonl"), kCaps);
  ASSERT_EQ(harness.push(inferred_frame(0, {{100, 100}})), GST_FLOW_OK);
  ASSERT_EQ(harness.push(empty_frame(1)), GST_FLOW_OK);
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  const std::string text = folder.read("out.jsonl");
  const std::string::size_type first = text.find(R"("tracking_id":1)");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find(R"("tracking_id":1)", first + 1), std::string::npos) << text;
}

TEST(NpuTrack, LeavesTheBuffersOfOthersAlone) {
  Tracked track;
  Owned<GstBuffer> buffer = inferred_frame(0, {{100, 100}});
  const Owned<GstBuffer> kept(gst_buffer_ref(buffer.get()));
  EXPECT_EQ(track.push(std::move(buffer))[0].id, 1);
  EXPECT_EQ(objects_of(kept.get())[0].id, std::nullopt);
  EXPECT_EQ(gst_buffer_peek_memory(kept.get(), 0), gst_buffer_peek_memory(track.last_frame(), 0));
}

#ifdef GST_NPU_HAVE_ANALYTICS
/// Identity of the first object.
std::optional<guint64> analytics_id(GstBuffer* buffer) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr, related = nullptr;
  GstAnalyticsODMtd object;
  GstAnalyticsTrackingMtd tracking;
  guint64 id = 0;
  GstClockTime first = 0, last = 0;
  gboolean lost = FALSE;
  if (!relations ||
      !gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                           &object) ||
      !gst_analytics_relation_meta_get_direct_related(
          relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type(), &related, &tracking) ||
      !gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost)) {
    return std::nullopt;
  }
  return id;
}

TEST(NpuTrack, TracksObjectsOfGstAnalytics) {
  Tracked track;
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> buffer = empty_frame(i);
    GstAnalyticsODMtd object;
    gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(buffer.get()),
                                           g_quark_from_static_string("cup"), 100, 100, 50, 50,
                                           0.9F, &object);
    track.push(std::move(buffer));
    EXPECT_EQ(analytics_id(track.last_frame()), 1u);
  }
}

TEST(NpuTrack, PredictsObjectsOfGstAnalytics) {
  Tracked track;
  track.still(0);
  track.push(empty_frame(1));
  EXPECT_EQ(analytics_id(track.last_frame()), 1u);
}
#endif

TEST(NpuTrack, SurvivesAHundredStateCycles) {
  Tracked track;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(gst_element_set_state(track.harness().element(), GST_STATE_NULL),
              GST_STATE_CHANGE_SUCCESS);
    gst_harness_play(track.harness().get());
    gst_harness_set_src_caps_str(track.harness().get(), kCaps);
    track.send_segment(0);
    EXPECT_EQ(track.still(i), 1);
  }
}

}  // namespace
}  // namespace nputrack_test

#include "inference/regions.hpp"

#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include "support/expect.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu {
namespace {

GstVideoRegionOfInterestMeta* add_roi(const BufferRef& buffer, const char* label, guint x, guint y,
                                      guint w, guint h) {
  return gst_buffer_add_video_region_of_interest_meta(buffer.get(), label, x, y, w, h);
}

void set_track(GstVideoRegionOfInterestMeta* roi, gint id) {
  gst_video_region_of_interest_meta_add_param(
      roi, gst_structure_new("object_id", "id", G_TYPE_INT, id, nullptr));
}

struct BoxRow {
  const char* name;
  guint x, y, w, h;
  std::optional<PixelRect> clipped;  // to 100x50
};

class Boxes : public testing::TestWithParam<BoxRow> {};

TEST_P(Boxes, AreClippedToTheFrameOrRefused) {
  const BoxRow& row = GetParam();
  const BufferRef buffer(gst_buffer_new());
  add_roi(buffer, "thing", row.x, row.y, row.w, row.h);
  const FrameObjects found = find_objects(buffer.get(), 100, 50);
  EXPECT_EQ(found.refused, row.clipped ? 0u : 1u);
  ASSERT_EQ(found.usable.size(), row.clipped ? 1u : 0u);
  if (row.clipped) {
    EXPECT_EQ(found.usable.front().box, *row.clipped);
  }
}

constexpr guint kMinusFive = static_cast<guint>(-5);

INSTANTIATE_TEST_SUITE_P(
    All, Boxes,
    testing::Values(
        BoxRow{"inside", 10, 20, 30, 10, PixelRect{10, 20, 30, 10}},
        BoxRow{"whole_frame", 0, 0, 100, 50, PixelRect{0, 0, 100, 50}},
        BoxRow{"one_pixel", 99, 49, 1, 1, PixelRect{99, 49, 1, 1}},
        BoxRow{"over_the_right_edge", 90, 40, 30, 30, PixelRect{90, 40, 10, 10}},
        BoxRow{"over_the_left_edge", kMinusFive, kMinusFive, 15, 10, PixelRect{0, 0, 10, 5}},
        BoxRow{"around_the_frame", kMinusFive, kMinusFive, 500, 500, PixelRect{0, 0, 100, 50}},
        BoxRow{"no_width", 10, 10, 0, 10, std::nullopt},
        BoxRow{"no_height", 10, 10, 10, 0, std::nullopt},
        BoxRow{"right_of_the_frame", 100, 10, 10, 10, std::nullopt},
        BoxRow{"left_of_the_frame", kMinusFive, 0, 5, 10, std::nullopt},
        BoxRow{"as_wide_as_can_be", G_MAXINT, 0, G_MAXINT, 10, std::nullopt},
        BoxRow{"negative_size", 10, 10, kMinusFive, 10, std::nullopt}),
    by_name);

TEST(FrameObjects, TellWhichMetaTheyAreOf) {
  const BufferRef buffer(gst_buffer_new());
  add_roi(buffer, "gone", 0, 0, 0, 0);
  add_roi(buffer, "there", 1, 1, 5, 5)->id = 44;
  const FrameObjects found = find_objects(buffer.get(), 100, 50);
  ASSERT_EQ(found.usable.size(), 1u);
  EXPECT_EQ(found.usable[0].label, "there");
  EXPECT_EQ(found.usable[0].link.index, 1u);
  EXPECT_EQ(found.usable[0].link.object_id, 44);
}

// ---- Which are picked

std::vector<std::string> picked_labels(ObjectPicker& picker, const BufferRef& buffer,
                                       guint interval = 1) {
  std::vector<std::string> labels;
  for (const auto& object : picker.pick(find_objects(buffer.get(), 100, 50), interval).objects) {
    labels.push_back(object.label);
  }
  return labels;
}

using Labels = std::vector<std::string>;

TEST(ObjectPicker, TakesOnlyTheClassesThatAreWanted) {
  const BufferRef buffer(gst_buffer_new());
  for (const char* label : {"person", "car", "traffic light"}) add_roi(buffer, label, 0, 0, 9, 9);
  ObjectPicker any(""), one("car"), two(" traffic light , person,"), none("bus");
  EXPECT_EQ(picked_labels(any, buffer), (Labels{"person", "car", "traffic light"}));
  EXPECT_EQ(picked_labels(one, buffer), (Labels{"car"}));
  EXPECT_EQ(picked_labels(two, buffer), (Labels{"person", "traffic light"}));
  EXPECT_EQ(picked_labels(none, buffer), Labels{});
}

TEST(ObjectPicker, TakesUntrackedObjectsOfEveryNthFrame) {
  const BufferRef buffer(gst_buffer_new());
  add_roi(buffer, "car", 0, 0, 9, 9);
  ObjectPicker picker("");
  std::vector<std::size_t> counts;
  for (int i = 0; i < 7; ++i) counts.push_back(picked_labels(picker, buffer, 3).size());
  EXPECT_EQ(counts, (std::vector<std::size_t>{1, 0, 0, 1, 0, 0, 1}));
}

// As where a detector in front of it looks at every second frame only.
TEST(ObjectPicker, TakesUntrackedObjectsOfTheNextFrameThatHasSome) {
  const BufferRef none(gst_buffer_new()), some(gst_buffer_new());
  add_roi(some, "car", 0, 0, 9, 9);
  ObjectPicker picker("");
  std::vector<std::size_t> counts;
  for (int i = 0; i < 8; ++i) {
    counts.push_back(picked_labels(picker, i % 2 == 1 ? some : none, 4).size());
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{0, 1, 0, 0, 0, 1, 0, 0}));
}

TEST(ObjectPicker, TakesEachTrackWhenItIsNewAndEveryNthFrameFromThere) {
  ObjectPicker picker("");
  std::vector<Labels> picked;
  for (int i = 0; i < 6; ++i) {
    const BufferRef buffer(gst_buffer_new());
    set_track(add_roi(buffer, "old", 0, 0, 9, 9), 1);
    if (i >= 2) {
      set_track(add_roi(buffer, "new", 20, 0, 9, 9), 2);
    }
    picked.push_back(picked_labels(picker, buffer, 3));
  }
  EXPECT_EQ(picked, (std::vector<Labels>{{"old"}, {}, {"new"}, {"old"}, {}, {"new"}}));
}

TEST(ObjectPicker, TakesAllObjectsOfATrackAtOnce) {
  const BufferRef buffer(gst_buffer_new());
  set_track(add_roi(buffer, "body", 0, 0, 20, 40), 1);
  set_track(add_roi(buffer, "face", 5, 0, 9, 9), 1);
  ObjectPicker always(""), seldom("");
  std::vector<std::size_t> counts;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(picked_labels(always, buffer, 1), (Labels{"body", "face"})) << i;
    counts.push_back(picked_labels(seldom, buffer, 2).size());
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 0, 2, 0, 2}));
}

// They wait together with those that have none.
TEST(ObjectPicker, KnowsATrackBelowZeroAsNone) {
  const BufferRef below(gst_buffer_new()), none(gst_buffer_new());
  set_track(add_roi(below, "car", 0, 0, 9, 9), -1);
  add_roi(none, "car", 0, 0, 9, 9);
  ObjectPicker picker("");
  EXPECT_EQ(picked_labels(picker, below, 2).size(), 1u);
  EXPECT_EQ(picked_labels(picker, none, 2).size(), 0u);
  EXPECT_EQ(picked_labels(picker, below, 2).size(), 1u);
}

TEST(ObjectPicker, TakesObjectsAgainWhoseFrameWasDropped) {
  const BufferRef tracked(gst_buffer_new()), plain(gst_buffer_new());
  set_track(add_roi(tracked, "car", 0, 0, 9, 9), 1);
  add_roi(plain, "car", 0, 0, 9, 9);
  for (const BufferRef& buffer : {std::cref(tracked), std::cref(plain)}) {
    ObjectPicker picker("");
    EXPECT_EQ(picked_labels(picker, buffer, 100).size(), 1u);
    picker.take_back();
    EXPECT_EQ(picked_labels(picker, buffer, 100).size(), 1u);
    EXPECT_EQ(picked_labels(picker, buffer, 100).size(), 0u);
  }
}

TEST(ObjectPicker, TellsObjectsThatWaitFromNone) {
  const BufferRef empty(gst_buffer_new()), full(gst_buffer_new());
  add_roi(full, "car", 0, 0, 9, 9);
  ObjectPicker picker("");
  picker.pick(find_objects(full.get(), 100, 50), 2);
  EXPECT_TRUE(picker.pick(find_objects(full.get(), 100, 50), 2).has_waiting);
  EXPECT_FALSE(picker.pick(find_objects(empty.get(), 100, 50), 2).has_waiting);
}

TEST(ObjectPicker, RefusesWhatIsBeyondTheMostOfAFrame) {
  const BufferRef buffer(gst_buffer_new());
  for (int i = 0; i < 5000; ++i) add_roi(buffer, "thing", 0, 0, 9, 9);
  ObjectPicker picker("");
  const ObjectPicker::Picked picked = picker.pick(find_objects(buffer.get(), 100, 50), 1);
  EXPECT_EQ(picked.objects.size(), ObjectPicker::kMostObjects);
  EXPECT_EQ(picked.refused, 5000 - ObjectPicker::kMostObjects);
}

TEST(ObjectPicker, TakesTracksThatAreInventedForEachFrame) {
  ObjectPicker picker("");
  for (gint i = 0; i < 10000; ++i) {
    const BufferRef buffer(gst_buffer_new());
    set_track(add_roi(buffer, "thing", 0, 0, 9, 9), i);
    ASSERT_EQ(picked_labels(picker, buffer, G_MAXUINT).size(), 1u) << i;
  }
}

TEST(ObjectPicker, ForgetsTracksAfterAFlush) {
  const BufferRef buffer(gst_buffer_new());
  set_track(add_roi(buffer, "thing", 0, 0, 9, 9), 1);
  ObjectPicker picker("");
  EXPECT_EQ(picked_labels(picker, buffer, 9).size(), 1u);
  EXPECT_EQ(picked_labels(picker, buffer, 9).size(), 0u);
  picker.forget();
  EXPECT_EQ(picked_labels(picker, buffer, 9).size(), 1u);
}

#ifdef GST_NPU_HAVE_ANALYTICS
TEST(FrameObjects, OfAnalyticsCountOnce) {
  const BufferRef buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  GstAnalyticsODMtd both, alone;
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("both"), 1, 2, 3, 4, 0.5F,
                                         &both);
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("alone"), -5, 2, 30, 4,
                                         0.5F, &alone);
  add_roi(buffer, "both", 1, 2, 3, 4)->id = static_cast<gint>(both.id);
  GstAnalyticsTrackingMtd tracking;
  gst_analytics_relation_meta_add_tracking_mtd(relations, 77, 0, &tracking);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, both.id,
                                           tracking.id);
  const FrameObjects found = find_objects(buffer.get(), 100, 50);
  ASSERT_EQ(found.usable.size(), 2u);
  EXPECT_EQ(found.usable[0].label, "both");
  EXPECT_EQ(found.usable[0].track, 77u);
  EXPECT_EQ(found.usable[1].label, "alone");
  EXPECT_EQ(found.usable[1].box, (PixelRect{0, 2, 25, 4}));
  EXPECT_EQ(found.usable[1].link.object_id, static_cast<gint>(alone.id));
}

// Elements that do not know of each other count from 0.
TEST(FrameObjects, OfAnalyticsAndRegionsOfTheirIdsElsewhereAreApart) {
  BufferRef buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  GstAnalyticsODMtd object, over_the_edge;
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("object"), 1, 2, 3, 4, 0.5F,
                                         &object);
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("edge"), -5, 2, 30, 4, 0.5F,
                                         &over_the_edge);
  add_roi(buffer, "region", 20, 20, 10, 10)->id = static_cast<gint>(object.id);
  add_roi(buffer, "object", 1, 2, 3, 4)->id = static_cast<gint>(object.id);
  add_roi(buffer, "edge", 0, 2, 25, 4)->id = static_cast<gint>(over_the_edge.id);
  EXPECT_EQ(find_objects(buffer.get(), 100, 50).usable.size(), 3u);
  const auto results = std::make_shared<RegionResults>();
  results->frame_width = 100;
  results->frame_height = 50;
  buffer = finish({std::move(buffer), results});
  gpointer state = nullptr;
  std::vector<gint> ids;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer.get(), &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    ids.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta)->id);
  }
  const auto first = static_cast<gint>(object.id), second = static_cast<gint>(over_the_edge.id);
  EXPECT_EQ(ids, (std::vector<gint>{2, first, second})) << "the region's alone is new";
}

#if GST_CHECK_VERSION(1, 25, 0)
TEST(FrameObjects, OfAnalyticsThatAreTurnedAreThoseInTheirBoxes) {
  BufferRef buffer(gst_buffer_new());
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(buffer.get());
  GstAnalyticsODMtd turned;
  gst_analytics_relation_meta_add_oriented_od_mtd(relations, g_quark_from_string("ship"), 30, 20,
                                                  20, 4, 0.8F, 0.5F, &turned);
  auto* roi = add_roi(buffer, "ship", 32, 14, 16, 16);
  roi->id = static_cast<gint>(turned.id);
  EXPECT_EQ(find_objects(buffer.get(), 100, 50).usable.size(), 1u);
}
#endif
#endif

}  // namespace
}  // namespace gstnpu

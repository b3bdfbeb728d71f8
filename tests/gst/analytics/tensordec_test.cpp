// nputensordec on frames: where its boxes go, and what it leaves as it was.
#include "analytics/decoding.hpp"

namespace gstnpu_test::tensordec_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

TEST(TensorDec, AttachesARegionForEachObject) {
  const Owned<GstBuffer> out =
      decoded(frame_with({two_objects()}), "nputensordec labels=circle,square");
  const std::vector<Roi> found = rois(out.get());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].label, "square");
  EXPECT_EQ(found[0].x, 80u);
  EXPECT_EQ(found[0].y, 40u);
  EXPECT_EQ(found[0].w, 40u);
  EXPECT_EQ(found[0].h, 20u);
  EXPECT_EQ(found[1].label, "circle");
  EXPECT_NE(found[0].id, found[1].id);
}

TEST(TensorDec, WritesTheStructureOfDlStreamer) {
  const Owned<GstBuffer> out =
      decoded(frame_with({two_objects()}), "nputensordec labels=circle,square");
  const GstStructure* detection = rois(out.get()).at(0).detection;
  ASSERT_NE(detection, nullptr);
  EXPECT_DOUBLE_EQ(number(detection, "x_min"), 80 / 640.0);
  EXPECT_DOUBLE_EQ(number(detection, "x_max"), 120 / 640.0);
  EXPECT_DOUBLE_EQ(number(detection, "y_min"), 40 / 480.0);
  EXPECT_DOUBLE_EQ(number(detection, "y_max"), 60 / 480.0);
  EXPECT_DOUBLE_EQ(number(detection, "confidence"), 0.75);
  gint label_id = -1;
  EXPECT_TRUE(gst_structure_get_int(detection, "label_id", &label_id));
  EXPECT_EQ(label_id, 1);
  EXPECT_STREQ(gst_structure_get_string(detection, "label"), "square");
}

TEST(TensorDec, TouchesNeitherPixelsNorTime) {
  Owned<GstBuffer> frame = frame_with({two_objects()}, 40 * GST_MSECOND);
  GstMemory* memory = gst_buffer_peek_memory(frame.get(), 0);
  const Owned<GstBuffer> out = decoded(std::move(frame), kDetect);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 40 * GST_MSECOND);
}

TEST(TensorDec, LeavesASharedBufferAsItIs) {
  const Owned<GstBuffer> frame = frame_with({two_objects()});
  const Owned<GstBuffer> out = decoded(Owned<GstBuffer>(gst_buffer_ref(frame.get())), kDetect);
  EXPECT_TRUE(rois(frame.get()).empty());
  EXPECT_EQ(rois(out.get()).size(), 2u);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(frame.get(), 0));
}

// The second has a format that this GStreamer does not know.
TEST(TensorDec, PassesDmabufCaps) {
  for (const char* format : {"NV12", "DMA_DRM,drm-format=NV12"}) {
    const std::string caps =
        std::string("video/x-raw(memory:DMABuf),width=640,height=480,format=") + format;
    EXPECT_EQ(rois(decoded(frame_with({two_objects()}), kDetect, caps).get()).size(), 2u) << caps;
  }
}

// ---- Geometry

struct GeometryRow {
  const char* name;
  int width, height;
  double offset_x, offset_y, scale_x, scale_y;
  guint x, y, w, h;  // of the model's box 300..340 x 280..360
};

void PrintTo(const GeometryRow& row, std::ostream* out) {
  *out << row.name;
}

class TensorDecGeometry : public testing::TestWithParam<GeometryRow> {};

TEST_P(TensorDecGeometry, PutsTheBoxIntoTheFrame) {
  const GeometryRow& row = GetParam();
  Owned<GstBuffer> frame = frame_with({yolo_tensor({{320, 320, 40, 80, 0.9F}})});
  GstNpuInferenceMeta* meta = add_model(frame.get());
  meta->offset_x = row.offset_x;
  meta->offset_y = row.offset_y;
  meta->scale_x = row.scale_x;
  meta->scale_y = row.scale_y;
  const Owned<GstBuffer> out = decoded(std::move(frame), kDetect,
                                       "video/x-raw,format=RGB,width=" + std::to_string(row.width) +
                                           ",height=" + std::to_string(row.height));
  const Roi roi = rois(out.get()).at(0);
  EXPECT_EQ(roi.x, row.x);
  EXPECT_EQ(roi.y, row.y);
  EXPECT_EQ(roi.w, row.w);
  EXPECT_EQ(roi.h, row.h);
  EXPECT_LE(roi.x + roi.w, static_cast<guint>(row.width));
  EXPECT_LE(roi.y + roi.h, static_cast<guint>(row.height));
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorDecGeometry,
    testing::Values(GeometryRow{"Same", 640, 640, 0, 0, 1, 1, 300, 280, 40, 80},
                    GeometryRow{"Stretch", 1920, 1080, 0, 0, 3, 1.6875, 900, 473, 120, 135},
                    GeometryRow{"Letterbox", 1920, 1080, 0, 140, 3, 3, 900, 420, 120, 240},
                    GeometryRow{"Pillarbox", 1080, 1920, 140, 0, 3, 3, 480, 840, 120, 240},
                    // 333 x 211: 640 wide, 405.53 high, 117.237 above.
                    GeometryRow{"LetterboxOddSize", 333, 211, 0, 117.23723723723724, 0.5203125,
                                0.5203125, 156, 85, 21, 41},
                    GeometryRow{"OnePixelFrame", 1, 1, 0, 0, 1 / 640.0, 1 / 640.0, 0, 0, 1, 1}),
    [](const auto& row) { return row.param.name; });

TEST(TensorDec, FollowsNewCaps) {
  ElementHarness harness(kDetect, kCaps);
  const HandMadeTensor tensor = yolo_tensor({{600, 400, 40, 40, 0.9F}});
  EXPECT_EQ(rois(decoded_by(harness, frame_with({tensor})).get()).size(), 1u);
  const char* smaller = "video/x-raw,format=NV12,width=320,height=240,framerate=30/1";
  gst_harness_set_sink_caps_str(harness.get(), smaller);
  gst_harness_set_src_caps_str(harness.get(), smaller);
  EXPECT_TRUE(rois(decoded_by(harness, frame_with({tensor})).get()).empty());
}

TEST(TensorDec, RefusesAGeometryThatMapsNothing) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get())->scale_x = 0;
  expect_part(error_of(kDetect, std::move(frame)), "maps no model pixel");
}

TEST(TensorDecPlace, BehindWhatDropsTheGeometryIsAnError) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  GstNpuTensor tensor;
  ASSERT_TRUE(gst_npu_buffer_get_tensor(frame.get(), 0, &tensor));
  GST_MINI_OBJECT_FLAG_SET(tensor.memory, GST_NPU_MEMORY_FLAG_OF_FRAME);
  expect_part(error_of("nputensordec labels=a,b", std::move(frame)), "came without the metadata");
}

TEST(TensorDecPlace, BehindWhatChangesFramesInSilenceIsAnError) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  GstNpuInferenceMeta* meta = add_model(frame.get());
  meta->frame_width = 800;
  meta->frame_height = 600;
  gst_buffer_keep_npu_inference_origin(frame.get(), meta);
  const std::string error = error_of("nputensordec labels=a,b", std::move(frame));
  expect_part(error, "(800x600, now 640x480)");
  expect_part(error, "Put nputensordec directly behind npuinfer");
}

TEST(TensorDecPlace, WithoutTensorsIsToldAtTheEnd) {
  ElementHarness harness("nputensordec", kCaps);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_EQ(warning.find("None of the 3 frames had tensors"), 0u) << warning;
}

// ---- Frames without inference, end, and restart

TEST(TensorDec, CountsFramesWithoutTensors) {
  ElementHarness harness(kDetect, kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(harness.get()), 3u);
  EXPECT_EQ(stat_of(harness, "frames"), 3u);
  EXPECT_EQ(stat_of(harness, "frames-without-tensors"), 2u);
  EXPECT_EQ(stat_of(harness, "detections"), 2u);
}

TEST(TensorDec, KeepsTheRegionsOfOthers) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  gst_buffer_add_video_region_of_interest_meta(frame.get(), "door", 1, 2, 3, 4)->id = 7;
  const Owned<GstBuffer> out = decoded(std::move(frame), kDetect);
  const std::vector<Roi> found = rois(out.get());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].label, "door");
#ifndef GST_NPU_HAVE_ANALYTICS  // else the ids are those of the objects
  EXPECT_EQ(found[1].id, 8);
  EXPECT_EQ(found[2].id, 9);
#endif
}

#ifdef GST_NPU_HAVE_ANALYTICS
TEST(TensorDec, GivesEachRegionItsObjectInAnalytics) {
  const Owned<GstBuffer> out =
      decoded(frame_with({two_objects()}), "nputensordec labels=circle,square");
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(out.get());
  ASSERT_NE(relations, nullptr);
  EXPECT_EQ(gst_analytics_relation_get_length(relations), 2u);
  for (const Roi& roi : rois(out.get())) {
    GstAnalyticsODMtd object;
    ASSERT_TRUE(
        gst_analytics_relation_meta_get_od_mtd(relations, static_cast<guint>(roi.id), &object));
    gint x = 0, y = 0, w = 0, h = 0;
    gfloat confidence = 0;
    ASSERT_TRUE(gst_analytics_od_mtd_get_location(&object, &x, &y, &w, &h, &confidence));
    EXPECT_EQ(x, static_cast<gint>(roi.x));
    EXPECT_EQ(y, static_cast<gint>(roi.y));
    EXPECT_EQ(w, static_cast<gint>(roi.w));
    EXPECT_EQ(h, static_cast<gint>(roi.h));
    EXPECT_FLOAT_EQ(confidence, static_cast<gfloat>(number(roi.detection, "confidence")));
    EXPECT_EQ(gst_analytics_od_mtd_get_obj_type(&object), g_quark_from_string(roi.label.c_str()));
  }
}
#endif

TEST(TensorDec, PassesEos) {
  ElementHarness harness(kDetect, kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  EXPECT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_EOS);
}

TEST(TensorDec, PassesAllocationQueries) {
  ElementHarness harness(kDetect, kCaps);
  gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
  GstQuery* query = gst_query_new_allocation(nullptr, FALSE);
  EXPECT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query));
  EXPECT_TRUE(gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr));
  gst_query_unref(query);
}

TEST(TensorDec, SurvivesAHundredStateCycles) {
  ElementHarness harness("nputensordec labels=a,b", kCaps);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    gst_harness_play(harness.get());
    gst_harness_set_src_caps_str(harness.get(), kCaps);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
    const Owned<GstBuffer> out = decoded_by(harness, frame_with({two_objects()}));
    ASSERT_EQ(rois(out.get()).size(), 2u) << i;
  }
}

}  // namespace
}  // namespace gstnpu_test::tensordec_test

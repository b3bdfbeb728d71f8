// nputensordec on what models say of objects: their classes, and maps of them.
#include <limits>

#include "analytics/decoding.hpp"

namespace gstnpu_test::tensordec_objects_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

struct ScoreRow {
  const char* name;
  std::vector<float> values;
  std::vector<gsize> shape;
  gint label_id;  // -1: none
  double confidence;
};

class TensorDecClasses : public testing::TestWithParam<ScoreRow> {};

TEST_P(TensorDecClasses, AreTheBestOne) {
  const ScoreRow& row = GetParam();
  const Owned<GstBuffer> out = decoded(frame_of_object(4, classes(row.values, row.shape)));
  const std::vector<ClassOf> found = classes_of(out.get(), 4);
  ASSERT_EQ(found.size(), row.label_id < 0 ? 0u : 1u);
  if (row.label_id < 0) return;
  EXPECT_EQ(found[0].label_id, row.label_id);
  EXPECT_EQ(found[0].label,
            (Labels{"red", "green", "blue"}.at(static_cast<std::size_t>(row.label_id))));
  EXPECT_NEAR(found[0].confidence, row.confidence, 1e-5);
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

INSTANTIATE_TEST_SUITE_P(
    All, TensorDecClasses,
    testing::Values(ScoreRow{"probabilities", {0.1F, 0.7F, 0.2F}, {}, 1, 0.7},
                    ScoreRow{"rounded_probabilities", {0.1F, 0.695F, 0.2F}, {}, 1, 0.695},
                    ScoreRow{"logits", {1, 2, 3}, {}, 2, 0.66524096},
                    ScoreRow{"large_logits", {-1000, 1000, 0}, {}, 1, 1},
                    ScoreRow{"small_logits", {0, 0.5F, 0.1F}, {}, 1, 0.43920314},
                    ScoreRow{"one_dimension", {0, 0, 1}, {3}, 2, 1},
                    ScoreRow{"with_a_pixel", {0, 0, 1}, {1, 3, 1, 1}, 2, 1},
                    ScoreRow{"not_a_number", {0, kNaN, 1}, {}, -1, 0}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(TensorDecObjects, EachGetsItsOwnClass) {
  Owned<GstBuffer> frame = frame_of_object(8, classes({1, 0, 0}));
  add_object(frame.get(), 3, classes({0, 0, 1}));
  const Owned<GstBuffer> out = decoded(std::move(frame));
  EXPECT_EQ(classes_of(out.get(), 8).at(0).label, "red");
  EXPECT_EQ(classes_of(out.get(), 3).at(0).label, "blue");
  EXPECT_EQ(rois(out.get()).size(), 2u) << "no new objects";
}

TEST(TensorDecObjects, AreNotDecodedAsFramesAndBothOnlyOnce) {
  Owned<GstBuffer> frame = frame_of_model({two_objects()}, "a b");
  add_object(frame.get(), 8, classes({1, 0, 0}));
  for (int times = 0; times < 2; ++times) {
    frame = decoded(std::move(frame));
    EXPECT_EQ(rois(frame.get()).size(), 3u);
    EXPECT_EQ(classes_of(frame.get(), 8).size(), 1u);
  }
}

TEST(TensorDecObjects, TheirTensorMayBeNamed) {
  for (const bool is_decoded : {false, true}) {
    Owned<GstBuffer> frame = frame_with({two_objects()});
    add_model(frame.get(), "net.xml", "a b")->is_decoded = is_decoded;
    add_object(frame.get(), 8, classes({0, 0, 1}, {}, "other"));
    attach_to(frame.get(), 1, classes({1, 0, 0}));
    const Owned<GstBuffer> out = decoded(std::move(frame), "nputensordec tensor-name=classes");
    EXPECT_EQ(rois(out.get()).size(), 1u) << "the frame's tensor is not the one";
    EXPECT_EQ(classes_of(out.get(), 8).at(0).label, "red");
  }
}

TEST(TensorDecObjects, KeepTheirLabelsWhereNewOnesAreWrong) {
  ElementHarness harness("nputensordec labels=a,b,c", kCaps);
  for (int i = 0; i < 3; ++i) {
    const Owned<GstBuffer> out = decoded_by(harness, frame_of_object(8, classes({1, 0, 0})));
    EXPECT_EQ(classes_of(out.get(), 8).at(0).label, "a");
    if (i == 0) {
      set_wrong_labels(harness);
    }
  }
  expect_told_once_of_wrong_labels(harness);
}

TEST(TensorDecObjects, AThresholdLeavesDoubtfulClassesOut) {
  Owned<GstBuffer> frame = frame_of_object(8, classes({0.7F, 0.2F, 0.1F}));
  add_object(frame.get(), 9, classes({0.9F, 0.1F, 0}));
  const Owned<GstBuffer> out = decoded(std::move(frame), "nputensordec threshold=0.8");
  EXPECT_EQ(classes_of(out.get(), 8).size(), 0u);
  EXPECT_EQ(classes_of(out.get(), 9).size(), 1u);
}

TEST(TensorDecObjects, OneThatIsGoneTakesItsClassAlong) {
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, classes({1, 0, 0}))->object_id = 77;
  EXPECT_EQ(classes_of(decoded(std::move(frame)).get(), 8).size(), 0u);
}

TEST(TensorDecObjects, WithTensorsThatAreNoClassesAreAnError) {
  expect_part(error_of("nputensordec", frame_of_object(8, two_objects())), "no family of models");
}

TEST(TensorDecObjects, WithShortTensorsAreAnError) {
  expect_part(error_of("nputensordec", frame_of_object(8, classes({1, 0}, {1, 3}))),
              "does not fit into its memory");
}

#ifdef GST_NPU_HAVE_ANALYTICS
/// What GstAnalytics knows of an object whose left edge is there; add_object puts its own to 10.
GstAnalyticsODMtd add_known_object(GstBuffer* buffer, gint left) {
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(buffer),
                                         g_quark_from_string("thing"), left, 20, 30, 40, 0.5F,
                                         &object);
  add_object(buffer, static_cast<gint>(object.id), classes({0, 0, 1}));
  return object;
}

TEST(TensorDecObjects, ContainTheirClassInAnalytics) {
  Owned<GstBuffer> frame(gst_buffer_new());
  const GstAnalyticsODMtd object = add_known_object(frame.get(), 10);
  const Owned<GstBuffer> out = decoded(std::move(frame));
  gpointer state = nullptr;
  GstAnalyticsClsMtd found;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      gst_buffer_get_analytics_relation_meta(out.get()), object.id, GST_ANALYTICS_REL_TYPE_CONTAIN,
      gst_analytics_cls_mtd_get_mtd_type(), &state, &found));
  EXPECT_EQ(gst_analytics_cls_mtd_get_quark(&found, 0), g_quark_from_string("blue"));
  EXPECT_NEAR(gst_analytics_cls_mtd_get_level(&found, 0), 1, 1e-6);
}

TEST(TensorDecObjects, AreNotThoseOfTheirIdElsewhere) {
  Owned<GstBuffer> frame(gst_buffer_new());
  const GstAnalyticsODMtd object = add_known_object(frame.get(), 100);
  const Owned<GstBuffer> out = decoded(std::move(frame));
  EXPECT_EQ(classes_of(out.get(), static_cast<gint>(object.id)).size(), 1u);
  EXPECT_EQ(gst_analytics_relation_get_length(gst_buffer_get_analytics_relation_meta(out.get())),
            1u)
      << "the object has no class";
}
#endif

/// An object of 40x20 pixels at (100, 50) that a model of 20x20 saw between two borders of 5 rows,
/// which it takes for another class.
GstNpuInferenceMeta* add_object_with_map(GstBuffer* buffer) {
  HandMadeTensor map = of_shape("map", {1, 2, 20, 20});
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t row = i / 20;
    map.values[400 + i] = row >= 5 && row < 15 ? 1 : -1;
  }
  GstNpuInferenceMeta* meta = add_object(buffer, 8, map);
  meta->card = g_ref_string_new(R"({"task":"semantic"})");
  meta->model_width = meta->model_height = 20;
  meta->offset_x = -50;
  meta->offset_y = -20;
  meta->scale_x = meta->scale_y = 2;
  meta->region_x = 100;
  meta->region_y = 50;
  meta->region_w = 40;
  meta->region_h = 20;
  meta->frame_width = 640;
  meta->frame_height = 480;
  return meta;
}

TEST(TensorDecObjects, HaveMapsOfThemselves) {
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object_with_map(frame.get());
  const Owned<GstBuffer> out = decoded(std::move(frame));
  const GstNpuMap map = first_map_of(out.get());
  EXPECT_EQ(map.columns, 20u);
  EXPECT_EQ(map.rows, 10u) << "without its borders";
  EXPECT_EQ(classes_in(map), std::vector<guint16>(200, 1));
  EXPECT_EQ(place_of(map), (std::vector<double>{100, 140, 50, 70}));
}

// The left half of the object is cut off.
TEST(TensorDecObjects, HaveMapsOfWhatIsLeftOfThem) {
  Owned<GstBuffer> frame(gst_buffer_new());
  GstNpuInferenceMeta* meta = add_object_with_map(frame.get());
  gst_buffer_keep_npu_inference_origin(frame.get(), meta);
  gst_npu_inference_meta_move(meta, FALSE, 1, 1, -120, 0);
  const Owned<GstBuffer> out =
      decoded(std::move(frame), "nputensordec",
              "video/x-raw,format=NV12,width=520,height=480,framerate=30/1");
  const GstNpuMap map = first_map_of(out.get());
  EXPECT_EQ(classes_in(map), std::vector<guint16>(100, 1));
  EXPECT_EQ(map.columns, 10u);
  EXPECT_EQ(place_of(map), (std::vector<double>{0, 20, 50, 70}));
}

}  // namespace
}  // namespace gstnpu_test::tensordec_objects_test

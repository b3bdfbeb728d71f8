// The results that nputensordec writes beside boxes: classes of frames, maps, key points, oriented
// boxes, masks.
#include <limits>

#include "analytics/decoding.hpp"

namespace gstnpu_test::tensordec_answers_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

/// A frame of these tensors of a model with that card.
Owned<GstBuffer> frame_of(const std::vector<HandMadeTensor>& tensors, const char* card) {
  Owned<GstBuffer> frame = frame_with(tensors);
  add_model_with_card(frame.get(), card);
  return frame;
}

const GstStructure* structure_of(GstBuffer* buffer, const char* name) {
  gpointer state = nullptr;
  GstMeta* meta =
      gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  if (!meta) return nullptr;
  return gst_video_region_of_interest_meta_get_param(
      reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), name);
}

TEST(TensorDecAnswers, AreAsManyAsTheModelSaysUnlessTheUserDoes) {
  const char* card =
      R"({"task":"detect","max_objects":1,"channels_first":true,"labels":["a","b"]})";
  EXPECT_EQ(labels_of("nputensordec", frame_of({two_objects()}, card)).size(), 1u);
  EXPECT_EQ(labels_of("nputensordec max-detections=300", frame_of({two_objects()}, card)).size(),
            2u);
}

TEST(TensorDecAnswers, OfTextThatCouldLieTwoWaysAreReadAsTheUserSays) {
  const HandMadeTensor line{"line", {1, 3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0}};
  const auto read = [&](const std::string& layout) {
    const Owned<GstBuffer> out =
        decoded(frame_of({line}, R"({"task":"read-text","characters":["a","b"]})"),
                "nputensordec model-family=ctc tensor-layout=" + layout);
    return frame_classes_of(out.get());
  };
  EXPECT_EQ(read("boxes-first"), Labels{"ab"});
  EXPECT_EQ(read("channels-first"), Labels{"ba"});
}

TEST(TensorDecAnswers, OfTextHaveTheUsersLabelsForCharacters) {
  const HandMadeTensor line{"line", {1, 5, 3}, {9, 0, 0, 0, 9, 0, 0, 0, 9, 9, 0, 0, 9, 0, 0}};
  const auto read = [&](const std::string& labels, const char* card) {
    return frame_classes_of(decoded(frame_of({line}, card), "nputensordec " + labels).get());
  };
  EXPECT_EQ(read("model-task=read-text labels=a,b", "{}"), Labels{"ab"});
  EXPECT_EQ(read("labels=[blank],x,y", R"({"task":"read-text","characters":["a","b"]})"),
            Labels{"xy"});
}

TEST(TensorDecAnswers, OfMasksAreNoClasses) {
  const std::vector<HandMadeTensor> outputs{of_shape("logits", {1, 8, 5}),
                                            of_shape("pred_masks", {1, 8, 16, 16})};
  expect_part(error_of("nputensordec model-task=semantic", frame_of(outputs, "{}")),
              "set model-family to mask-queries where they are, or tensor-name to \"pred_masks\"");
  for (const char* cure : {"model-family=mask-queries", "tensor-name=pred_masks"}) {
    const std::string launch = std::string("nputensordec model-task=semantic ") + cure;
    EXPECT_TRUE(decoded(frame_of(outputs, "{}"), launch)) << cure;
  }
}

TEST(TensorDecAnswers, OfLinesOfTextAreCalledText) {
  constexpr gsize kSide = 64;
  std::vector<float> map(kSide * kSide);
  for (gsize y = 20; y < 32; ++y)
    std::fill_n(map.begin() + static_cast<int>(y * kSide + 10), 40, 1.F);
  Owned<GstBuffer> frame = frame_of({{.name = "map", .shape = {1, 1, kSide, kSide}, .values = map}},
                                    R"({"task":"find-text"})");
  EXPECT_EQ(labels_of("nputensordec", std::move(frame)), Labels{"text"});
}

TEST(TensorDecAnswers, AreTheClassesOfAWholeFrame) {
  const Owned<GstBuffer> out = decoded(frame_of(
      {classes({0.1F, 0.7F, 0.2F})}, R"({"task":"classify","labels":["cat","big dog","cow"]})"));
  EXPECT_TRUE(rois(out.get()).empty());
  EXPECT_EQ(frame_classes_of(out.get()), Labels{"big dog"});
}

TEST(TensorDecAnswers, ThatAreMissingAreToldOnce) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  ElementHarness harness("nputensordec", kCaps);
  const auto warning_of = [&](float value) {
    decoded_by(harness, frame_of({classes({value, 0.7F, 0.2F})},
                                 R"({"task":"classify","labels":["cat","dog","cow"]})"));
    return harness.message(GST_MESSAGE_WARNING);
  };
  EXPECT_EQ(warning_of(0.1F), "");
  expect_part(warning_of(kNaN), "has no answer, because values of the model's output");
  EXPECT_EQ(warning_of(kNaN), "") << "a second time";
}

/// A frame of a model of 240x240 that saw it at this place.
Owned<GstBuffer> frame_of_map(double offset_x, double offset_y, double scale) {
  Owned<GstBuffer> frame = frame_of({of_shape("map", {1, 3, 20, 20})}, R"({"task":"semantic"})");
  GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(frame.get());
  meta->model_width = meta->model_height = 240;
  meta->offset_x = offset_x;
  meta->offset_y = offset_y;
  meta->scale_x = meta->scale_y = scale;
  return frame;
}

// A model that saw the middle square of 640x480, and one that saw all of it between borders.
TEST(TensorDecAnswers, AreMapsOfWhatTheModelSaw) {
  const auto place = [](Owned<GstBuffer> frame) {
    return place_of(first_map_of(decoded(std::move(frame)).get()));
  };
  EXPECT_EQ(place(frame_of_map(-40, 0, 2)), (std::vector<double>{80, 560, 0, 480}));
  EXPECT_EQ(place(frame_of_map(0, 30, 640 / 240.0)), (std::vector<double>{0, 640, 0, 480}));
}

TEST(TensorDecAnswers, AreMapsThatFollowTheirFrame) {
  Owned<GstBuffer> frame = frame_of_map(-40, 0, 2);
  GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(frame.get());
  meta->frame_width = 640;
  meta->frame_height = 480;
  gst_buffer_keep_npu_inference_origin(frame.get(), meta);
  gst_npu_inference_meta_move(meta, FALSE, 1, 1, -10, 0);
  const GstNpuMap map = first_map_of(decoded(std::move(frame)).get());
  EXPECT_EQ(place_of(map), (std::vector<double>{70, 550, 0, 480}));
  EXPECT_EQ(map.columns, 20U);
}

TEST(TensorDecAnswers, OfManyQuestionsHaveTheirThreshold) {
  const auto count = [](const char* card) {
    return frame_classes_of(decoded(frame_of({classes({-1, -2, -3})}, card)).get()).size();
  };
  EXPECT_EQ(count(R"({"family":"classification","multilabel":true})"), 0U);
  EXPECT_EQ(count(R"({"family":"classification"})"), 1U);
}

// One box, and a key point in its middle that is seen and one that is not.
TEST(TensorDecAnswers, AreKeyPoints) {
  const Owned<GstBuffer> out =
      decoded(frame_of({yolo_tensor({{320, 240, 64, 48, 0.9F, 320, 240, 0.8F, 160, 120, 0.1F}})},
                       R"({"task":"pose","family":"yolo","labels":["person"],"key_points":2,)"
                       R"("key_point_values":3,"channels_first":true,"skeleton":[[1,0]]})"));
  const GstStructure* points = structure_of(out.get(), "keypoints");
  ASSERT_NE(points, nullptr);
  const auto values = values_of<double>(points, "points");
  ASSERT_EQ(values.size(), 6u);
  EXPECT_DOUBLE_EQ(values[0], 0.5);
  EXPECT_DOUBLE_EQ(values[1], 0.5);
  EXPECT_NEAR(values[2], 0.8, 1e-6);
  EXPECT_DOUBLE_EQ(values[3], 0.25);
  EXPECT_NEAR(values[5], 0.1, 1e-6);
  EXPECT_EQ(values_of<guint32>(points, "skeleton"), (std::vector<guint32>{1, 0}));
}

TEST(TensorDecAnswers, AreOrientedBoxes) {
  const Owned<GstBuffer> out = decoded(
      frame_of({yolo_tensor({{320, 240, 64, 32, 0.9F, 0.5F}})},
               R"({"task":"obb","family":"yolo","labels":["ship"],"channels_first":true})"));
  const GstStructure* detection = rois(out.get()).at(0).detection;
  EXPECT_NEAR(number(detection, "angle"), 0.5, 1e-6);
  EXPECT_NEAR(number(detection, "x_center"), 0.5, 1e-6);
  EXPECT_NEAR(number(detection, "oriented_width"), 0.1, 1e-6);
}

// A prototype that is 1 on its left half.
TEST(TensorDecAnswers, AreMasks) {
  HandMadeTensor protos = of_shape("protos", {1, 1, 160, 160});
  for (std::size_t i = 0; i < protos.values.size(); ++i) {
    protos.values[i] = i % 160 < 80 ? 1.0F : -1.0F;
  }
  const Owned<GstBuffer> out = decoded(
      frame_of({yolo_tensor({{320, 240, 64, 48, 0.9F, 1}}), protos},
               R"({"task":"segment","family":"yolo","labels":["cat"],"channels_first":true})"));
  const GstStructure* mask = structure_of(out.get(), "mask");
  ASSERT_NE(mask, nullptr);
  const guint width = size_of(mask, "width");
  const auto values = values_of<guint8>(mask, "values");
  ASSERT_EQ(values.size(), std::size_t{width} * size_of(mask, "height"));
  EXPECT_EQ(values.front(), 255);
  EXPECT_EQ(values[width - 1], 0);
}

}  // namespace
}  // namespace gstnpu_test::tensordec_answers_test

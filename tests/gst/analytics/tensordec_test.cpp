#include <gst/base/gstbasetransform.h>
#include <gst/video/gstvideometa.h>

#include <limits>
#include <utility>

#include "hand_made_frames.hpp"
#include "leak_check.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace {

using gstnpu_test::ElementHarness;
using gstnpu_test::frame_with;
using gstnpu_test::HandMadeTensor;
using gstnpu_test::Owned;
using gstnpu_test::TempFolder;
using gstnpu_test::yolo_tensor;

[[maybe_unused]] const bool kNeedsTracer = gstnpu_test::need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";

struct Roi {
  std::string label;
  guint x, y, w, h;
  const GstStructure* detection;
  gint id;
};

std::vector<Roi> rois(GstBuffer* buffer) {
  std::vector<Roi> result;
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* meta = reinterpret_cast<GstVideoRegionOfInterestMeta*>(base);
    result.push_back({g_quark_to_string(meta->roi_type), meta->x, meta->y, meta->w, meta->h,
                      gst_video_region_of_interest_meta_get_param(meta, "detection"), meta->id});
  }
  return result;
}

double number(const Roi& roi, const char* field) {
  double value = -1;
  EXPECT_TRUE(gst_structure_get_double(roi.detection, field, &value)) << field;
  return value;
}

// The labels of all detections of one frame that goes through `launch`.
std::vector<std::string> labels_of(const std::string& launch, Owned<GstBuffer> frame) {
  ElementHarness harness(launch, kCaps);
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  std::vector<std::string> labels;
  if (!out) {
    ADD_FAILURE() << "no buffer: " << harness.message(GST_MESSAGE_ERROR);
    return labels;
  }
  for (const Roi& roi : rois(out.get())) labels.push_back(roi.label);
  return labels;
}

std::string error_of(const std::string& launch, Owned<GstBuffer> frame) {
  ElementHarness harness(launch, kCaps);
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
  EXPECT_EQ(harness.pull(), nullptr);
  std::string text = harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "") << "a second error";
  return text;
}

HandMadeTensor two_objects() {
  return yolo_tensor({{100, 50, 40, 20, 0.25F, 0.75F}, {300, 200, 60, 80, 0.625F, 0.5F}});
}

GstNpuInferenceMeta* add_model(GstBuffer* buffer, const std::string& model) {
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, model.c_str());
  meta->model_width = meta->model_height = 640;
  meta->inference_ns = 1234567;
  return meta;
}

TEST(TensorDec, AttachesARegionForEachObject) {
  ElementHarness harness("nputensordec labels=circle,square", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
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
  ElementHarness harness("nputensordec labels=circle,square", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  const Roi roi = rois(out.get()).at(0);
  ASSERT_NE(roi.detection, nullptr);
  EXPECT_DOUBLE_EQ(number(roi, "x_min"), 80 / 640.0);
  EXPECT_DOUBLE_EQ(number(roi, "x_max"), 120 / 640.0);
  EXPECT_DOUBLE_EQ(number(roi, "y_min"), 40 / 480.0);
  EXPECT_DOUBLE_EQ(number(roi, "y_max"), 60 / 480.0);
  EXPECT_DOUBLE_EQ(number(roi, "confidence"), 0.75);
  gint label_id = -1;
  EXPECT_TRUE(gst_structure_get_int(roi.detection, "label_id", &label_id));
  EXPECT_EQ(label_id, 1);
  EXPECT_STREQ(gst_structure_get_string(roi.detection, "label"), "square");
}

TEST(TensorDec, TouchesNeitherPixelsNorTime) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  Owned<GstBuffer> frame = frame_with({two_objects()}, 40 * GST_MSECOND);
  GstMemory* memory = gst_buffer_peek_memory(frame.get(), 0);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 40 * GST_MSECOND);
}

TEST(TensorDec, LeavesASharedBufferAsItIs) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  const Owned<GstBuffer> frame = frame_with({two_objects()});
  ASSERT_EQ(harness.push(Owned<GstBuffer>(gst_buffer_ref(frame.get()))), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_TRUE(rois(frame.get()).empty());
  EXPECT_EQ(rois(out.get()).size(), 2u);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(frame.get(), 0));
}

TEST(TensorDec, PassesDmabufCaps) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first",
                         "video/x-raw(memory:DMABuf),format=NV12,width=640,height=480");
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_EQ(rois(harness.pull().get()).size(), 2u);
}

TEST(TensorDec, PassesCapsWhoseFormatThisGStreamerDoesNotKnow) {
  ElementHarness harness(
      "nputensordec model-task=detect tensor-layout=channels-first",
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=640,height=480");
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_EQ(rois(harness.pull().get()).size(), 2u);
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
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first",
                         "video/x-raw,format=RGB,width=" + std::to_string(row.width) +
                             ",height=" + std::to_string(row.height));
  Owned<GstBuffer> frame = frame_with({yolo_tensor({{320, 320, 40, 80, 0.9F}})});
  GstNpuInferenceMeta* meta = add_model(frame.get(), "net.xml");
  meta->offset_x = row.offset_x;
  meta->offset_y = row.offset_y;
  meta->scale_x = row.scale_x;
  meta->scale_y = row.scale_y;
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
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
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  ASSERT_EQ(harness.push(frame_with({yolo_tensor({{600, 400, 40, 40, 0.9F}})})), GST_FLOW_OK);
  EXPECT_EQ(rois(harness.pull().get()).size(), 1u);
  const char* smaller = "video/x-raw,format=NV12,width=320,height=240,framerate=30/1";
  gst_harness_set_sink_caps_str(harness.get(), smaller);
  gst_harness_set_src_caps_str(harness.get(), smaller);
  ASSERT_EQ(harness.push(frame_with({yolo_tensor({{600, 400, 40, 40, 0.9F}})})), GST_FLOW_OK);
  EXPECT_TRUE(rois(harness.pull().get()).empty());
}

TEST(TensorDec, RefusesAGeometryThatMapsNothing) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), "net.xml")->scale_x = 0;
  EXPECT_NE(
      error_of("nputensordec model-task=detect tensor-layout=channels-first", std::move(frame))
          .find("maps no model pixel"),
      std::string::npos);
}

// ---- Anchors

TEST(TensorDecAnchors, AreSizesInPixels) {
  for (const char* wrong : {"10,x", "10,-3", "10,,3", "1e9,1"}) {
    EXPECT_NE(error_of(std::string("nputensordec anchors=") + wrong, frame_with({two_objects()}))
                  .find("is no size in pixels"),
              std::string::npos)
        << wrong;
  }
}

TEST(TensorDecAnchors, ReachTheDecoder) {
  HandMadeTensor head;
  head.shape = {1, 12, 20, 20};
  head.values.assign(std::size_t{12} * 20 * 20, -9);
  const auto at = [&head](std::size_t value) -> float& {
    return head.values[(6 + value) * 400 + 5 * 20 + 3];
  };
  for (std::size_t value = 0; value < 4; ++value) at(value) = 0;
  at(4) = at(5) = 9;
  Owned<GstBuffer> frame = frame_with({head});
  add_model(frame.get(), "net.xml");
  ElementHarness harness("nputensordec model-family=yolov5-heads anchors=8,8,64,32", kCaps);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  ASSERT_EQ(rois(out.get()).size(), 1u);
  const Roi roi = rois(out.get()).front();
  EXPECT_EQ(roi.x, 3u * 32 + 16 - 32);
  EXPECT_EQ(roi.y, 5u * 32 + 16 - 16);
  EXPECT_EQ(roi.w, 64u);
  EXPECT_EQ(roi.h, 32u);
}

// ---- Labels and thresholds

TEST(TensorDecLabels, FallBackToNumbers) {
  EXPECT_EQ(labels_of("nputensordec model-task=detect tensor-layout=channels-first",
                      frame_with({two_objects()})),
            (std::vector<std::string>{"class 1", "class 0"}));
}

// As onnxinference leaves tensors: with ids of the registry, and without a model.
TEST(TensorDec, KnowsTensorsOfOthersByTheirRegisteredIds) {
  HandMadeTensor tensor = two_objects();
  tensor.name = "yolo-v8-out";
  EXPECT_EQ(labels_of("nputensordec", frame_with({tensor})),
            (std::vector<std::string>{"class 1", "class 0"}));
}

/// A frame with all its pixels, for elements that touch them.
Owned<GstBuffer> others_frame() {
  HandMadeTensor tensor = two_objects();
  tensor.name = "yolo-v8-out";
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, gsize{640} * 480 * 3 / 2, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, gst_buffer_get_size(buffer.get()));
  attach(buffer.get(), tensor);
  return buffer;
}

/// Does nothing: the tensors are there.
gboolean make_an_inference_of_others(GstPlugin* plugin) {
  const auto add_pads = [](gpointer klass, gpointer) {
    GstCaps* caps = gst_caps_new_any();
    for (const auto& [name, direction] : {std::pair("sink", GST_PAD_SINK), {"src", GST_PAD_SRC}}) {
      gst_element_class_add_pad_template(
          GST_ELEMENT_CLASS(klass), gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps));
    }
    gst_caps_unref(caps);
    gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Inference", "Filter", "Test",
                                          "test");
  };
  const GType type = g_type_register_static_simple(
      GST_TYPE_BASE_TRANSFORM, "OthersInference", sizeof(GstBaseTransformClass), add_pads,
      sizeof(GstBaseTransform), nullptr, static_cast<GTypeFlags>(0));
  if (!gst_element_register(plugin, "onnxinference", GST_RANK_NONE, type)) return FALSE;
  // The tracer's look at what is alive would take references of these.
  GstPluginFeature* made = gst_registry_lookup_feature(gst_registry_get(), "onnxinference");
  GST_OBJECT_FLAG_SET(made, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  gst_object_unref(made);
  GST_OBJECT_FLAG_SET(plugin, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return TRUE;
}

const char* const kPlanes = "video/x-raw,format=I420,width=640,height=480,framerate=30/1";

struct OthersRow {
  const char* name;
  const char* elements;
  const char* caps;           // behind them
  std::vector<guint> places;  // x, y, w and h of each box
};

void PrintTo(const OthersRow& row, std::ostream* out) {
  *out << row.name;
}

class TensorDecOthers : public testing::TestWithParam<OthersRow> {
 protected:
  /// Before a test counts what it leaves behind.
  static void SetUpTestSuite() {
    ASSERT_TRUE(gst_plugin_register_static(GST_VERSION_MAJOR, GST_VERSION_MINOR, "others",
                                           "an inference of others", make_an_inference_of_others,
                                           "1", "LGPL", "test", "test", "https://example.org"));
  }
};

TEST_P(TensorDecOthers, AreFollowedFromTheirInference) {
  const OthersRow& row = GetParam();
  ElementHarness harness(std::string(row.elements) + " ! nputensordec", kPlanes);
  gst_harness_set_sink_caps_str(harness.get(), row.caps);
  ASSERT_EQ(harness.push(others_frame()), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  std::vector<guint> places;
  for (const Roi& roi : rois(out.get())) places.insert(places.end(), {roi.x, roi.y, roi.w, roi.h});
  EXPECT_EQ(places, row.places);
}

INSTANTIATE_TEST_SUITE_P(All, TensorDecOthers,
                         testing::Values(OthersRow{"Crop",
                                                   "onnxinference ! videocrop left=60 top=10",
                                                   "video/x-raw,width=580,height=470",
                                                   {20, 30, 40, 20, 210, 150, 60, 80}},
                                         OthersRow{"Box",
                                                   "onnxinference ! videobox left=-20 top=-10",
                                                   "video/x-raw,width=660,height=490",
                                                   {100, 50, 40, 20, 290, 170, 60, 80}},
                                         OthersRow{"Flip",
                                                   "onnxinference ! videoflip video-direction=180",
                                                   "video/x-raw,width=640,height=480",
                                                   {520, 420, 40, 20, 310, 240, 60, 80}},
                                         OthersRow{"Scale",
                                                   "onnxinference ! videoscale",
                                                   "video/x-raw,width=320,height=240",
                                                   {40, 20, 20, 10, 135, 80, 30, 40}},
                                         OthersRow{"CropInFront",
                                                   "videocrop left=60 top=10 ! onnxinference",
                                                   "video/x-raw,width=580,height=470",
                                                   {80, 40, 40, 20, 270, 160, 60, 80}},
                                         OthersRow{"FlipInFront",
                                                   "videoflip video-direction=180 ! onnxinference",
                                                   "video/x-raw,width=640,height=480",
                                                   {80, 40, 40, 20, 270, 160, 60, 80}}),
                         [](const auto& row) { return row.param.name; });

// Nobody knows which element has attached them.
TEST(TensorDec, RefusesTensorsOfOthersBehindAnElementThatMovesPixels) {
  for (const char* mover : {"videocrop name=m left=60", "videobox name=m left=-20"}) {
    ElementHarness harness(std::string(mover) + " ! nputensordec", kPlanes);
    gst_harness_set_sink_caps_str(harness.get(), "video/x-raw");
    EXPECT_EQ(harness.push(others_frame()), GST_FLOW_ERROR) << mover;
    const std::string error = harness.message(GST_MESSAGE_ERROR);
    EXPECT_NE(error.find("m changes frames; put nputensordec in front of m"), std::string::npos)
        << error;
  }
}

TEST(TensorDecLabels, ComeFromTheModel) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), "net.xml")->labels = g_strdup("cat dog");
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first", std::move(frame)),
      (std::vector<std::string>{"dog", "cat"}));
}

TEST(TensorDecLabels, AreThoseOfTheFrameThoughTheModelIsTheSame) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  for (const std::string labels : {"cat dog", "moon sun", "cat dog"}) {
    Owned<GstBuffer> frame = frame_with({two_objects()});
    add_model(frame.get(), "net.xml")->labels = g_strdup(labels.c_str());
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    const Owned<GstBuffer> out = harness.pull();
    const std::vector<Roi> found = rois(out.get());
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].label + (" " + found[0].label), labels);
  }
}

const char* const kModelInfo =
    "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n"
    "[output0]\ndir=output\nid=yolo-v8-out\ntype=float32\ndims=1,6,-1\ndims-order=col-major\n"
    "labels=red,blue\nconfidence-threshold=0.7\n";

TEST(TensorDecLabels, OfModelInfoGoBeforeTheModelsOwn) {
  const TempFolder folder;
  folder.write("net.modelinfo", kModelInfo);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), folder.file("net.xml"))->labels = g_strdup("cat dog");
  EXPECT_EQ(labels_of("nputensordec threshold=0.5", std::move(frame)),
            (std::vector<std::string>{"blue", "red"}));
}

TEST(TensorDecLabels, OfTheUserGoFirst) {
  const TempFolder folder;
  folder.write("net.modelinfo", kModelInfo);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), folder.file("net.xml"));
  EXPECT_EQ(labels_of("nputensordec threshold=0.5 labels=a,b", std::move(frame)),
            (std::vector<std::string>{"b", "a"}));
}

TEST(TensorDecLabels, ComeFromAFile) {
  const TempFolder folder;
  const std::string file = folder.write("labels.txt", "sun\nmoon\n");
  EXPECT_EQ(labels_of("nputensordec labels-file=" + file, frame_with({two_objects()})),
            (std::vector<std::string>{"moon", "sun"}));
}

TEST(TensorDecLabels, MissingFileIsAnError) {
  EXPECT_NE(error_of("nputensordec labels-file=/nowhere/labels.txt", frame_with({two_objects()}))
                .find("/nowhere/labels.txt"),
            std::string::npos);
}

TEST(TensorDecLabels, OfAnotherNumberThanTheModelsAreAnError) {
  const std::string error = error_of("nputensordec labels=a", frame_with({two_objects()}));
  EXPECT_NE(error.find("labels"), std::string::npos) << error;
  EXPECT_NE(error.find("model-task"), std::string::npos) << error;
}

// A typing error does not end a stream that plays.
TEST(TensorDecLabels, StayWhereNewOnesAreWrong) {
  ElementHarness harness("nputensordec labels=a,b", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  gst_harness_set(harness.get(), "nputensordec", "labels", "", "labels-file", "/nowhere/l.txt",
                  nullptr);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_NE(warning.find("/nowhere/l.txt"), std::string::npos) << warning;
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
  gchar* labels = nullptr;
  gchar* file = nullptr;
  gst_harness_get(harness.get(), "nputensordec", "labels", &labels, "labels-file", &file, nullptr);
  EXPECT_STREQ(labels, "a,b");
  EXPECT_STREQ(file, "");
  g_free(labels);
  g_free(file);
}

TEST(TensorDecThreshold, ComesFromModelInfo) {
  const TempFolder folder;
  folder.write("net.xml.modelinfo", kModelInfo);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), folder.file("net.xml"));
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first", std::move(frame)),
      (std::vector<std::string>{"blue"}));
}

TEST(TensorDecThreshold, OfTheUserGoesFirst) {
  const TempFolder folder;
  folder.write("net.modelinfo", kModelInfo);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), folder.file("net.xml"));
  EXPECT_TRUE(labels_of("nputensordec threshold=0.8", std::move(frame)).empty());
}

TEST(TensorDecThreshold, MayChangeWhilePlaying) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_EQ(rois(harness.pull().get()).size(), 2u);
  gst_harness_set(harness.get(), "nputensordec", "threshold", 0.7, nullptr);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_EQ(rois(harness.pull().get()).size(), 1u);
}

TEST(TensorDecThreshold, OfOverlapDecidesWhatIsOneObject) {
  const HandMadeTensor tensor =
      yolo_tensor({{100, 100, 40, 40, 0.7F}, {120, 100, 40, 40, 0.8F}, {300, 300, 4, 4, 0}});
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first iou-threshold=0.34",
                frame_with({tensor}))
          .size(),
      2u);
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first iou-threshold=0.33",
                frame_with({tensor}))
          .size(),
      1u);
}

TEST(TensorDec, KeepsTheMostDetectionsAsked) {
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first max-detections=1",
                frame_with({two_objects()})),
      (std::vector<std::string>{"class 1"}));
}

// ---- Which tensor

HandMadeTensor of_shape(const std::string& name, std::vector<gsize> shape,
                        GstNpuDataType type = GST_NPU_DATA_F32) {
  gsize count = 1;
  for (const gsize dim : shape) count *= dim;
  return {name, std::move(shape), std::vector<float>(count), type};
}

TEST(TensorDecChoice, IsTheFirstThatFits) {
  HandMadeTensor boxes = two_objects();
  boxes.name = "boxes";
  const auto frame = [&] {
    return frame_with({of_shape("masks", {1, 32, 8, 8}), of_shape("count", {1, 6}), boxes});
  };
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first", frame()).size(), 2u);
}

TEST(TensorDecChoice, IsTheOneThatModelInfoNames) {
  const TempFolder folder;
  folder.write("net.modelinfo", kModelInfo);
  Owned<GstBuffer> frame = frame_with({of_shape("other", {1, 6, 9}), two_objects()});
  add_model(frame.get(), folder.file("net.xml"));
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first", std::move(frame)),
      (std::vector<std::string>{"blue"}));
}

TEST(TensorDecChoice, IsTheUsers) {
  HandMadeTensor second = two_objects();
  second.name = "second";
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=channels-first tensor-name=second",
                frame_with({of_shape("first", {1, 6, 9}), second}))
          .size(),
      2u);
}

TEST(TensorDecChoice, UnknownNameListsTheTensors) {
  EXPECT_EQ(error_of("nputensordec model-task=detect tensor-layout=channels-first tensor-name=x",
                     frame_with({two_objects()})),
            "Cannot decode tensors: no tensor is named \"x\": set tensor-name to one of "
            "\"output0\" f32 [1,6,16].");
}

// 84 boxes are those of a picture of 64 x 64.
TEST(TensorDecLayout, OfBoxesFirstIsFoundByTheNumberOfBoxes) {
  HandMadeTensor tensor;
  tensor.shape = {1, 84, 6};
  tensor.values = {10, 5, 4, 2, 0.25F, 0.75F, 30, 20, 6, 8, 0.625F, 0.5F};
  tensor.values.resize(std::size_t{84} * 6);
  Owned<GstBuffer> frame = frame_with({tensor});
  GstNpuInferenceMeta* meta = add_model(frame.get(), "net.xml");
  meta->model_width = meta->model_height = 64;
  EXPECT_EQ(labels_of("nputensordec labels=a,b model-task=detect", std::move(frame)),
            (std::vector<std::string>{"b", "a"}));
}

TEST(TensorDecLayout, MayBeSet) {
  HandMadeTensor tensor;
  tensor.shape = {1, 1, 6};
  tensor.values = {100, 50, 40, 20, 0.25F, 0.75F};
  EXPECT_EQ(
      labels_of("nputensordec model-task=detect tensor-layout=boxes-first", frame_with({tensor})),
      (std::vector<std::string>{"class 1"}));
}

// ---- What is no YOLO output

struct RefusedRow {
  const char* name;
  HandMadeTensor tensor;
  const char* complaint;
};

void PrintTo(const RefusedRow& row, std::ostream* out) {
  *out << row.name;
}

class TensorDecRefuses : public testing::TestWithParam<RefusedRow> {};

TEST_P(TensorDecRefuses, InOneClearError) {
  const std::string text = error_of("nputensordec model-task=detect tensor-layout=channels-first",
                                    frame_with({GetParam().tensor}));
  EXPECT_NE(text.find(GetParam().complaint), std::string::npos) << text;
}

HandMadeTensor too_short() {
  HandMadeTensor tensor = of_shape("short", {1, 6, 10});
  tensor.values.pop_back();
  return tensor;
}

INSTANTIATE_TEST_SUITE_P(
    All, TensorDecRefuses,
    testing::Values(RefusedRow{"Classification", of_shape("probabilities", {1, 1000}),
                               "\"probabilities\" f32 [1,1000] (family yolo"},
                    RefusedRow{"Image", of_shape("image", {1, 3, 8, 8}), "[1,3,8,8]"},
                    RefusedRow{"Batch", of_shape("batch", {2, 6, 10}), "[2,6,10]"},
                    RefusedRow{"Bytes", of_shape("bytes", {1, 6, 10}, GST_NPU_DATA_U8),
                               "\"bytes\" u8 [1,6,10]"},
                    RefusedRow{"NoClass", of_shape("boxes", {1, 4, 10}), "too few for a class"},
                    RefusedRow{"TooShort", too_short(),
                               "does not fit into its memory of 236 bytes"}),
    [](const auto& row) { return row.param.name; });

TEST(TensorDec, ListsTheTensorsWhereNoneFits) {
  EXPECT_EQ(
      error_of("nputensordec", frame_with({of_shape("a", {1, 10}), of_shape("b", {1, 2, 3, 4})}))
          .find("Cannot decode tensors: the outputs \"a\" f32 [1,10], \"b\" f32 [1,2,3,4] (0 "
                "labels) are those of no family of models that is known"),
      0u);
}

TEST(TensorDec, TellsWhatWouldDecide) {
  const std::string error = error_of("nputensordec", frame_with({of_shape("a", {1, 84, 8400})}));
  EXPECT_NE(error.find("set model-task or model-family, and labels"), std::string::npos) << error;
  EXPECT_LT(error.size(), 1000u) << error;
}

TEST(TensorDec, NamesTheBadModelInfo) {
  const TempFolder folder;
  const std::string file = folder.write("net.modelinfo", "[modelinfo]\nversion=9.0\n");
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), folder.file("net.xml"));
  EXPECT_EQ(
      error_of("nputensordec model-task=detect tensor-layout=channels-first", std::move(frame)),
      "Cannot decode tensors: " + file +
          ": group [modelinfo], key \"version\": is 9.0, but only 1.x is known.");
}

// ---- Frames without inference, end, and restart

TEST(TensorDec, CountsFramesWithoutTensors) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(harness.get()), 3u);
  GstStructure* stats = nullptr;
  gst_harness_get(harness.get(), "nputensordec", "stats", &stats, nullptr);
  const Owned<GstStructure> owner(stats);
  guint64 frames = 0, without = 0, detections = 0;
  ASSERT_TRUE(gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "frames-without-tensors",
                                G_TYPE_UINT64, &without, "detections", G_TYPE_UINT64, &detections,
                                nullptr));
  EXPECT_EQ(frames, 3u);
  EXPECT_EQ(without, 2u);
  EXPECT_EQ(detections, 2u);
}

TEST(TensorDec, KeepsTheRegionsOfOthers) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  gst_buffer_add_video_region_of_interest_meta(frame.get(), "door", 1, 2, 3, 4)->id = 7;
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
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
  ElementHarness harness("nputensordec labels=circle,square", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
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
    EXPECT_FLOAT_EQ(confidence, static_cast<gfloat>(number(roi, "confidence")));
    EXPECT_EQ(gst_analytics_od_mtd_get_obj_type(&object), g_quark_from_string(roi.label.c_str()));
  }
}
#endif

// ---- Classes of objects

HandMadeTensor classes(std::vector<float> values, std::vector<gsize> shape = {}) {
  const gsize count = values.size();
  return {.name = "classes",
          .shape = shape.empty() ? std::vector<gsize>{1, count} : shape,
          .values = std::move(values)};
}

/// An object on the buffer, and what a model said of it.
GstNpuInferenceMeta* add_object(GstBuffer* buffer, gint id, const HandMadeTensor& tensor) {
  gst_buffer_add_video_region_of_interest_meta(buffer, "thing", 10, 20, 30, 40)->id = id;
  const guint inference = gst_npu_buffer_next_inference_id(buffer);
  gstnpu_test::attach(buffer, tensor);
  GstNpuInferenceMeta* meta = add_model(buffer, "classes.xml");
  meta->inference_id = inference;
  meta->is_region = TRUE;
  meta->object_id = id;
  meta->labels = g_strdup("red green blue");
  return meta;
}

struct ClassOf {
  std::string label;
  gint label_id = -1;
  double confidence = -1;
};

std::vector<ClassOf> classes_of(GstBuffer* buffer, gint id) {
  std::vector<ClassOf> found;
  const auto* roi = gst_buffer_get_video_region_of_interest_meta_id(buffer, id);
  for (GList* param = roi ? roi->params : nullptr; param; param = param->next) {
    const auto* structure = static_cast<const GstStructure*>(param->data);
    if (!gst_structure_has_name(structure, "classification")) continue;
    ClassOf one{.label = gst_structure_get_string(structure, "label")};
    gst_structure_get_int(structure, "label_id", &one.label_id);
    gst_structure_get_double(structure, "confidence", &one.confidence);
    found.push_back(one);
  }
  return found;
}

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
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 4, classes(row.values, row.shape));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  const std::vector<ClassOf> found = classes_of(out.get(), 4);
  ASSERT_EQ(found.size(), row.label_id < 0 ? 0u : 1u);
  if (row.label_id < 0) return;
  EXPECT_EQ(found[0].label_id, row.label_id);
  EXPECT_EQ(found[0].label, (std::vector<std::string>{"red", "green", "blue"}.at(
                                static_cast<std::size_t>(row.label_id))));
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
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, classes({1, 0, 0}));
  add_object(frame.get(), 3, classes({0, 0, 1}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_EQ(classes_of(out.get(), 8).at(0).label, "red");
  EXPECT_EQ(classes_of(out.get(), 3).at(0).label, "blue");
  EXPECT_EQ(rois(out.get()).size(), 2u) << "no new objects";
}

TEST(TensorDecObjects, AreNotDecodedAsFrames) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), "net.xml")->labels = g_strdup("a b");
  add_object(frame.get(), 8, classes({1, 0, 0}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_EQ(rois(out.get()).size(), 3u);
  EXPECT_EQ(classes_of(out.get(), 8).size(), 1u);
}

// The file would make the first inference known, which then went before the second.
TEST(TensorDec, RemembersWhatItDoesNotKnow) {
  const TempFolder folder;
  folder.write("net.modelinfo", "[modelinfo]\nversion=9.0\n");
  const auto frame = [&folder] {
    Owned<GstBuffer> buffer(gst_buffer_new());
    gstnpu_test::attach_to(buffer.get(), 0, two_objects());
    gstnpu_test::attach_to(buffer.get(), 1, two_objects());
    add_model(buffer.get(), folder.file("net.xml"))->inference_id = 0;
    GstNpuInferenceMeta* second = add_model(buffer.get(), "other.xml");
    second->inference_id = 1;
    second->labels = g_strdup("cat dog");
    return buffer;
  };
  ElementHarness harness("nputensordec", kCaps);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(harness.push(frame()), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    EXPECT_EQ(rois(harness.pull().get()).at(0).label, "dog");
    folder.write("net.modelinfo", kModelInfo);
  }
}

TEST(TensorDecObjects, AndFramesAreDecodedOnce) {
  ElementHarness first("nputensordec", kCaps), second("nputensordec", kCaps);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), "net.xml")->labels = g_strdup("a b");
  add_object(frame.get(), 8, classes({1, 0, 0}));
  ASSERT_EQ(first.push(std::move(frame)), GST_FLOW_OK);
  ASSERT_EQ(second.push(first.pull()), GST_FLOW_OK);
  const Owned<GstBuffer> out = second.pull();
  EXPECT_EQ(rois(out.get()).size(), 3u);
  EXPECT_EQ(classes_of(out.get(), 8).size(), 1u);
}

// GstAnalytics used to have each class twice.
TEST(TensorDec, DecodesClassesOfOthersOnce) {
  HandMadeTensor tensor = classes({0.1F, 0.7F, 0.2F});
  tensor.name = "classification-generic-softmaxed-out";
  ElementHarness first("nputensordec", kCaps), second("nputensordec name=second", kCaps);
  ASSERT_EQ(first.push(frame_with({tensor})), GST_FLOW_OK) << first.message(GST_MESSAGE_ERROR);
  ASSERT_EQ(second.push(first.pull()), GST_FLOW_OK);
  const Owned<GstBuffer> out = second.pull();
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(out.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_NE(meta->results, nullptr);
  EXPECT_TRUE(meta->is_decoded);
  GstStructure* stats = nullptr;
  gst_harness_get(second.get(), "nputensordec", "stats", &stats, nullptr);
  guint64 without = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "frames-without-tensors", &without));
  EXPECT_EQ(without, 1u) << "it decoded them again";
  gst_structure_free(stats);
}

// In a cascade the second one decodes the objects' classes only.
TEST(TensorDec, DecodesObjectsOfOthersOnce) {
  HandMadeTensor tensor = two_objects();
  tensor.name = "yolo-v8-out";
  ElementHarness first("nputensordec", kCaps), second("nputensordec", kCaps);
  ASSERT_EQ(first.push(frame_with({tensor})), GST_FLOW_OK) << first.message(GST_MESSAGE_ERROR);
  Owned<GstBuffer> between(gst_buffer_make_writable(first.pull().release()));
  add_object(between.get(), 8, classes({1, 0, 0}));
  ASSERT_EQ(second.push(std::move(between)), GST_FLOW_OK) << second.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = second.pull();
  EXPECT_EQ(rois(out.get()).size(), 3u);
  EXPECT_EQ(classes_of(out.get(), 8).size(), 1u);
}

/// As elements of others do: where GStreamer has a tensor meta, in one that knows no inference.
void attach_others(GstBuffer* buffer, const HandMadeTensor& made) {
#ifdef GST_NPU_HAVE_TENSOR_META
  GstTensor* tensor = gst_tensor_alloc(made.shape.size());
  tensor->id = g_quark_from_string(made.name.c_str());
  tensor->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  tensor->data_type = GST_TENSOR_DATA_TYPE_FLOAT32;
  tensor->dims_order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  tensor->num_dims = made.shape.size();
  std::copy(made.shape.begin(), made.shape.end(), tensor->dims);
  const gsize bytes = made.values.size() * sizeof(float);
  tensor->data = gst_buffer_new_allocate(nullptr, bytes, nullptr);
  gst_buffer_fill(tensor->data, 0, made.values.data(), bytes);
  GstTensor** list = g_new(GstTensor*, 1);
  list[0] = tensor;
  auto* meta = reinterpret_cast<GstTensorMeta*>(
      gst_buffer_add_meta(buffer, gst_tensor_meta_get_info(), nullptr));
  gst_tensor_meta_set(meta, 1, list);
#else
  gstnpu_test::attach(buffer, made);
#endif
}

TEST(TensorDec, DecodesTensorsOfOthersBesideOurs) {
  HandMadeTensor others = two_objects();
  others.name = "yolo-v8-out";
  const char* const kOurs = "nputensordec tensor-name=classes model-task=classify";
  ElementHarness first(kOurs, kCaps), second("nputensordec", kCaps), third("nputensordec", kCaps);
  Owned<GstBuffer> frame = frame_with({classes({0, 0, 1})});
  add_model(frame.get(), "net.xml");
  attach_others(frame.get(), others);
  ASSERT_EQ(first.push(std::move(frame)), GST_FLOW_OK) << first.message(GST_MESSAGE_ERROR);
  Owned<GstBuffer> between = first.pull();
  EXPECT_TRUE(rois(between.get()).empty());
  for (ElementHarness* further : {&second, &third}) {
    ASSERT_EQ(further->push(std::move(between)), GST_FLOW_OK)
        << further->message(GST_MESSAGE_ERROR);
    between = further->pull();
    EXPECT_EQ(rois(between.get()).size(), 2u);
  }
}

TEST(TensorDecObjects, TheirTensorMayBeNamed) {
  for (const bool is_decoded : {false, true}) {
    ElementHarness harness("nputensordec tensor-name=classes", kCaps);
    Owned<GstBuffer> frame = frame_with({two_objects()});
    GstNpuInferenceMeta* meta = add_model(frame.get(), "net.xml");
    meta->labels = g_strdup("a b");
    meta->is_decoded = is_decoded;
    HandMadeTensor other = classes({0, 0, 1});
    other.name = "other";
    add_object(frame.get(), 8, other);
    gstnpu_test::attach_to(frame.get(), 1, classes({1, 0, 0}));
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << is_decoded;
    const Owned<GstBuffer> out = harness.pull();
    EXPECT_EQ(rois(out.get()).size(), 1u) << "the frame's tensor is not the one";
    EXPECT_EQ(classes_of(out.get(), 8).at(0).label, "red");
  }
}

TEST(TensorDecObjects, KeepTheirLabelsWhereNewOnesAreWrong) {
  ElementHarness harness("nputensordec labels=a,b,c", kCaps);
  for (int i = 0; i < 3; ++i) {
    Owned<GstBuffer> frame(gst_buffer_new());
    add_object(frame.get(), 8, classes({1, 0, 0}));
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    EXPECT_EQ(classes_of(harness.pull().get(), 8).at(0).label, "a");
    if (i > 0) continue;
    gst_harness_set(harness.get(), "nputensordec", "labels", "", "labels-file", "/nowhere/l.txt",
                    nullptr);
  }
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_NE(warning.find("/nowhere/l.txt"), std::string::npos) << warning;
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
}

TEST(TensorDecObjects, AThresholdLeavesDoubtfulClassesOut) {
  ElementHarness harness("nputensordec threshold=0.8", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, classes({0.7F, 0.2F, 0.1F}));
  add_object(frame.get(), 9, classes({0.9F, 0.1F, 0}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_EQ(classes_of(out.get(), 8).size(), 0u);
  EXPECT_EQ(classes_of(out.get(), 9).size(), 1u);
}

TEST(TensorDecObjects, OneThatIsGoneTakesItsClassAlong) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, classes({1, 0, 0}))->object_id = 77;
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(classes_of(harness.pull().get(), 8).size(), 0u);
}

TEST(TensorDecObjects, WithTensorsThatAreNoClassesAreAnError) {
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, two_objects());
  EXPECT_NE(error_of("nputensordec", std::move(frame)).find("no family of models"),
            std::string::npos);
}

TEST(TensorDecObjects, WithShortTensorsAreAnError) {
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), 8, classes({1, 0}, {1, 3}));
  EXPECT_NE(error_of("nputensordec", std::move(frame)).find("does not fit into its memory"),
            std::string::npos);
}

/// As videocrop does before GStreamer 1.28: what depends on the frame's size is gone.
void drop_meta(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  gst_buffer_keep_npu_inference_origin(buffer, meta);
  gst_buffer_remove_meta(buffer, &meta->meta);
}

// A whole frame's inference that is there must not lend them its place.
TEST(TensorDecObjects, WithoutTheirMetaAreAnError) {
  Owned<GstBuffer> frame = frame_with({classes({1, 0, 0})});
  add_model(frame.get(), "net.xml")->labels = g_strdup("a b c");
  drop_meta(frame.get(), add_object(frame.get(), 8, classes({0, 0, 1})));
  const std::string error = error_of("nputensordec", std::move(frame));
  EXPECT_NE(error.find("roi-list"), std::string::npos) << error;
  EXPECT_NE(error.find("put nputensordec in front"), std::string::npos) << error;
}

TEST(TensorDecObjects, WithoutTheirMetaAreLeftAloneWhereTheyWereDecoded) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame = frame_with({two_objects()});
  add_model(frame.get(), "net.xml")->labels = g_strdup("a b");
  GstNpuInferenceMeta* object = add_object(frame.get(), 8, classes({0, 0, 1}));
  object->is_decoded = TRUE;
  drop_meta(frame.get(), object);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(rois(harness.pull().get()).size(), 3u);
}

// One model in front of a crop that was scaled back, and behind it.
TEST(TensorDec, DoesNotTakeAnotherInferencesPlaceForOneThatWasLost) {
  for (const bool is_decoded : {false, true}) {
    Owned<GstBuffer> frame(gst_buffer_new());
    for (guint i = 0; i < 2; ++i) {
      gstnpu_test::attach_to(frame.get(), i, two_objects());
      add_model(frame.get(), "net.xml")->labels = g_strdup("a b");
    }
    GstNpuInferenceMeta* first = gst_buffer_get_npu_inference_meta_id(frame.get(), 0);
    first->is_decoded = is_decoded;
    drop_meta(frame.get(), first);
    if (is_decoded) {
      EXPECT_EQ(labels_of("nputensordec", std::move(frame)).size(), 2u);
    } else {
      const std::string error = error_of("nputensordec", std::move(frame));
      EXPECT_NE(error.find("tells where in the frame"), std::string::npos) << error;
    }
  }
}

#ifdef GST_NPU_HAVE_ANALYTICS
TEST(TensorDecObjects, ContainTheirClassInAnalytics) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(frame.get());
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("thing"), 10, 20, 30, 40,
                                         0.5F, &object);
  add_object(frame.get(), static_cast<gint>(object.id), classes({0, 0, 1}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  relations = gst_buffer_get_analytics_relation_meta(out.get());
  gpointer state = nullptr;
  GstAnalyticsClsMtd found;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations, object.id, GST_ANALYTICS_REL_TYPE_CONTAIN, gst_analytics_cls_mtd_get_mtd_type(),
      &state, &found));
  EXPECT_EQ(gst_analytics_cls_mtd_get_quark(&found, 0), g_quark_from_string("blue"));
  EXPECT_NEAR(gst_analytics_cls_mtd_get_level(&found, 0), 1, 1e-6);
}

TEST(TensorDecObjects, AreNotThoseOfTheirIdElsewhere) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(frame.get());
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("door"), 100, 20, 30, 40,
                                         0.5F, &object);
  const auto id = static_cast<gint>(object.id);
  add_object(frame.get(), id, classes({0, 0, 1}));
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_EQ(classes_of(out.get(), id).size(), 1u);
  EXPECT_EQ(gst_analytics_relation_get_length(gst_buffer_get_analytics_relation_meta(out.get())),
            1u)
      << "the object has no class";
}
#endif

// ---- Answers beside boxes

/// Adds a meta with a card, as npuinfer attaches it.
GstNpuInferenceMeta* add_model_with_card(GstBuffer* buffer, const char* card) {
  GstNpuInferenceMeta* meta = add_model(buffer, "net.xml");
  meta->card = g_ref_string_new(card);
  return meta;
}

const GstStructure* structure_of(GstBuffer* buffer, const char* name) {
  gpointer state = nullptr;
  GstMeta* meta =
      gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  if (!meta) return nullptr;
  return gst_video_region_of_interest_meta_get_param(
      reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), name);
}

template <class Value>
std::vector<Value> values_of(const GstStructure* structure, const char* field) {
  GBytes* bytes = nullptr;
  EXPECT_TRUE(gst_structure_get(structure, field, G_TYPE_BYTES, &bytes, nullptr)) << field;
  gsize size = 0;
  const auto* data = static_cast<const Value*>(g_bytes_get_data(bytes, &size));
  std::vector<Value> values(data, data + size / sizeof(Value));
  g_bytes_unref(bytes);
  return values;
}

TEST(TensorDecAnswers, AreAsManyAsTheModelSaysUnlessTheUserDoes) {
  const auto labels_with = [](const char* launch) {
    Owned<GstBuffer> frame = frame_with({two_objects()});
    add_model_with_card(
        frame.get(),
        R"({"task":"detect","max_objects":1,"channels_first":true,"labels":["a","b"]})");
    return labels_of(launch, std::move(frame)).size();
  };
  EXPECT_EQ(labels_with("nputensordec"), 1u);
  EXPECT_EQ(labels_with("nputensordec max-detections=300"), 2u);
}

TEST(TensorDecAnswers, AreTheClassesOfAWholeFrame) {
  Owned<GstBuffer> frame = frame_with({classes({0.1F, 0.7F, 0.2F})});
  add_model_with_card(frame.get(), R"({"task":"classify","labels":["cat","big dog","cow"]})");
  ElementHarness harness("nputensordec", kCaps);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  EXPECT_TRUE(rois(out.get()).empty());
  const GstStructure* results = gst_buffer_get_npu_inference_meta(out.get())->results;
  ASSERT_NE(results, nullptr);
  const GValue* list = gst_structure_get_value(results, "classifications");
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(gst_value_list_get_size(list), 1u);
  const GstStructure* best = gst_value_get_structure(gst_value_list_get_value(list, 0));
  EXPECT_STREQ(gst_structure_get_string(best, "label"), "big dog");
}

TEST(TensorDecAnswers, ThatAreMissingAreToldOnce) {
  ElementHarness harness("nputensordec", kCaps);
  const auto warning_of = [&](float value) {
    Owned<GstBuffer> frame = frame_with({classes({value, 0.7F, 0.2F})});
    add_model_with_card(frame.get(), R"({"task":"classify","labels":["cat","dog","cow"]})");
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    return harness.message(GST_MESSAGE_WARNING);
  };
  EXPECT_EQ(warning_of(0.1F), "");
  EXPECT_NE(warning_of(kNaN).find("has no answer, because values of the model's output"),
            std::string::npos);
  EXPECT_EQ(warning_of(kNaN), "") << "a second time";
}

std::vector<double> place_of_map(const GstStructure* results) {
  std::vector<double> edges;
  for (const char* field : {"x_min", "x_max", "y_min", "y_max"}) {
    double edge = -1;
    EXPECT_TRUE(gst_structure_get_double(results, field, &edge)) << field;
    edges.push_back(edge);
  }
  return edges;
}

// A model that saw the middle square of 640x480, and one that saw all of it between borders.
TEST(TensorDecAnswers, AreMapsOfWhatTheModelSaw) {
  const auto place = [](double offset_x, double offset_y, double scale) {
    Owned<GstBuffer> frame = frame_with({of_shape("map", {1, 3, 20, 20})});
    GstNpuInferenceMeta* meta = add_model_with_card(frame.get(), R"({"task":"semantic"})");
    meta->model_width = meta->model_height = 240;
    meta->offset_x = offset_x;
    meta->offset_y = offset_y;
    meta->scale_x = meta->scale_y = scale;
    ElementHarness harness("nputensordec", kCaps);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    const Owned<GstBuffer> out = harness.pull();
    return place_of_map(gst_buffer_get_npu_inference_meta(out.get())->results);
  };
  EXPECT_EQ(place(-40, 0, 2), (std::vector<double>{0.125, 0.875, 0, 1}));
  EXPECT_EQ(place(0, 30, 640 / 240.0), (std::vector<double>{0, 1, 0, 1}));
}

// Such a map has no values for the rest of the frame, wherever that went since.
TEST(TensorDecAnswers, RefusesAMapOfTheMiddleInAFrameThatWasMoved) {
  const auto push = [](double move_x, ElementHarness* harness) {
    Owned<GstBuffer> frame = frame_with({of_shape("map", {1, 3, 20, 20})});
    GstNpuInferenceMeta* meta = add_model_with_card(frame.get(), R"({"task":"semantic"})");
    meta->model_width = meta->model_height = 240;
    meta->offset_x = -40;
    meta->scale_x = meta->scale_y = 2;
    meta->frame_width = 640;
    meta->frame_height = 480;
    gst_buffer_keep_npu_inference_origin(frame.get(), meta);
    gst_npu_inference_meta_move(meta, FALSE, 1, 1, move_x, 0);
    return harness->push(std::move(frame));
  };
  ElementHarness harness("nputensordec", kCaps);
  EXPECT_EQ(push(0, &harness), GST_FLOW_OK);
  EXPECT_EQ(push(-10, &harness), GST_FLOW_ERROR);
  EXPECT_NE(harness.message(GST_MESSAGE_ERROR).find("saw only the middle of the frame"),
            std::string::npos);
}

/// An object of 40x20 pixels at (100, 50) that a model of 20x20 saw between two borders of 5 rows,
/// which it takes for another class.
GstNpuInferenceMeta* add_object_with_map(GstBuffer* buffer) {
  HandMadeTensor map{"map", {1, 2, 20, 20}, std::vector<float>(800)};
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

guint size_of(const GstStructure* results, const char* field) {
  guint size = 0;
  EXPECT_TRUE(gst_structure_get_uint(results, field, &size)) << field;
  return size;
}

TEST(TensorDecObjects, HaveMapsOfThemselves) {
  ElementHarness harness("nputensordec", kCaps);
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object_with_map(frame.get());
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  const GstStructure* results = gst_buffer_get_npu_inference_meta(out.get())->results;
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(size_of(results, "class-map-width"), 20u);
  EXPECT_EQ(size_of(results, "class-map-height"), 10u) << "without its borders";
  EXPECT_EQ(values_of<guint16>(results, "class-map"), std::vector<guint16>(200, 1));
  EXPECT_EQ(place_of_map(results),
            (std::vector<double>{100 / 640.0, 140 / 640.0, 50 / 480.0, 70 / 480.0}));
}

// The left half of the object is cut off.
TEST(TensorDecObjects, HaveMapsOfWhatIsLeftOfThem) {
  ElementHarness harness("nputensordec",
                         "video/x-raw,format=NV12,width=520,height=480,framerate=30/1");
  Owned<GstBuffer> frame(gst_buffer_new());
  GstNpuInferenceMeta* meta = add_object_with_map(frame.get());
  gst_buffer_keep_npu_inference_origin(frame.get(), meta);
  gst_npu_inference_meta_move(meta, FALSE, 1, 1, -120, 0);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  const GstStructure* results = gst_buffer_get_npu_inference_meta(out.get())->results;
  ASSERT_NE(results, nullptr);
  EXPECT_EQ(values_of<guint16>(results, "class-map"), std::vector<guint16>(100, 1));
  EXPECT_EQ(size_of(results, "class-map-width"), 10u);
  EXPECT_EQ(place_of_map(results), (std::vector<double>{0, 20 / 520.0, 50 / 480.0, 70 / 480.0}));
}

TEST(TensorDecAnswers, OfManyQuestionsHaveTheirThreshold) {
  const auto count = [](const char* card) -> guint {
    Owned<GstBuffer> frame = frame_with({classes({-1, -2, -3})});
    add_model_with_card(frame.get(), card);
    ElementHarness harness("nputensordec", kCaps);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
    const Owned<GstBuffer> out = harness.pull();
    const GstStructure* results = gst_buffer_get_npu_inference_meta(out.get())->results;
    return results ? gst_value_list_get_size(gst_structure_get_value(results, "classifications"))
                   : 0;
  };
  EXPECT_EQ(count(R"({"family":"classification","multilabel":true})"), 0U);
  EXPECT_EQ(count(R"({"family":"classification"})"), 1U);
}

// One box, and a key point in its middle that is seen and one that is not.
TEST(TensorDecAnswers, AreKeyPoints) {
  Owned<GstBuffer> frame =
      frame_with({yolo_tensor({{320, 240, 64, 48, 0.9F, 320, 240, 0.8F, 160, 120, 0.1F}})});
  add_model_with_card(frame.get(), R"({"task":"pose","family":"yolo","labels":["person"],)"
                                   R"("key_points":2,"key_point_values":3,"channels_first":true,)"
                                   R"("skeleton":[[1,0]]})");
  ElementHarness harness("nputensordec", kCaps);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
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
  Owned<GstBuffer> frame = frame_with({yolo_tensor({{320, 240, 64, 32, 0.9F, 0.5F}})});
  add_model_with_card(frame.get(),
                      R"({"task":"obb","family":"yolo","labels":["ship"],"channels_first":true})");
  ElementHarness harness("nputensordec", kCaps);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  const Roi roi = rois(out.get()).at(0);
  EXPECT_NEAR(number(roi, "angle"), 0.5, 1e-6);
  EXPECT_NEAR(number(roi, "x_center"), 0.5, 1e-6);
  EXPECT_NEAR(number(roi, "oriented_width"), 0.1, 1e-6);
}

// A prototype that is 1 on its left half.
TEST(TensorDecAnswers, AreMasks) {
  HandMadeTensor protos = of_shape("protos", {1, 1, 160, 160});
  for (std::size_t i = 0; i < protos.values.size(); ++i) {
    protos.values[i] = i % 160 < 80 ? 1.0F : -1.0F;
  }
  Owned<GstBuffer> frame(gst_buffer_new());
  gstnpu_test::attach_to(frame.get(), 0, yolo_tensor({{320, 240, 64, 48, 0.9F, 1}}));
  gstnpu_test::attach_to(frame.get(), 0, protos);
  add_model_with_card(
      frame.get(), R"({"task":"segment","family":"yolo","labels":["cat"],"channels_first":true})");
  ElementHarness harness("nputensordec", kCaps);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  const Owned<GstBuffer> out = harness.pull();
  const GstStructure* mask = structure_of(out.get(), "mask");
  ASSERT_NE(mask, nullptr);
  guint width = 0, height = 0;
  ASSERT_TRUE(gst_structure_get(mask, "width", G_TYPE_UINT, &width, "height", G_TYPE_UINT, &height,
                                nullptr));
  const auto values = values_of<guint8>(mask, "values");
  ASSERT_EQ(values.size(), std::size_t{width} * height);
  EXPECT_EQ(values.front(), 255);
  EXPECT_EQ(values[width - 1], 0);
}

TEST(TensorDecPlace, BehindWhatTurnsFramesIsAnError) {
  ElementHarness harness("videoflip video-direction=horiz ! nputensordec labels=a,b", kCaps);
  harness.push(frame_with({two_objects()}));
  const std::string error = harness.message(GST_MESSAGE_ERROR);
  EXPECT_NE(error.find("turns or mirrors frames"), std::string::npos) << error;
}

TEST(TensorDecPlace, BehindWhatDropsTheGeometryIsAnError) {
  Owned<GstBuffer> frame = frame_with({two_objects()});
  GstNpuTensor tensor;
  ASSERT_TRUE(gst_npu_buffer_get_tensor(frame.get(), 0, &tensor));
  GST_MINI_OBJECT_FLAG_SET(tensor.memory, GST_NPU_MEMORY_FLAG_OF_FRAME);
  const std::string error = error_of("nputensordec labels=a,b", std::move(frame));
  EXPECT_NE(error.find("came without the metadata"), std::string::npos) << error;
}

TEST(TensorDecPlace, WithoutTensorsIsToldAtTheEnd) {
  ElementHarness harness("nputensordec", kCaps);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_EQ(warning.find("None of the 3 frames had tensors"), 0u) << warning;
}

TEST(TensorDec, PassesEos) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
  ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  EXPECT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_EOS);
}

TEST(TensorDec, PassesAllocationQueries) {
  ElementHarness harness("nputensordec model-task=detect tensor-layout=channels-first", kCaps);
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
    ASSERT_EQ(harness.push(frame_with({two_objects()})), GST_FLOW_OK) << i;
    const Owned<GstBuffer> out = harness.pull();
    ASSERT_EQ(rois(out.get()).size(), 2u) << i;
  }
}

}  // namespace

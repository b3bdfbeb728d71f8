// nputensordec on tensors that other elements attached, and what it finds decoded already.
#include <gst/base/gstbasetransform.h>

#include "analytics/decoding.hpp"

namespace gstnpu_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

// As onnxinference leaves tensors: with ids of the registry, and without a model.
const char* const kRegistered = "yolo-v8-out";

TEST(TensorDec, KnowsTensorsOfOthersByTheirRegisteredIds) {
  EXPECT_EQ(labels_of("nputensordec", frame_with({two_objects(kRegistered)})),
            (Labels{"class 1", "class 0"}));
}

/// With all its pixels, for elements that touch them.
Owned<GstBuffer> others_frame() {
  Owned<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, gsize{640} * 480 * 3 / 2, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, gst_buffer_get_size(buffer.get()));
  attach(buffer.get(), two_objects(kRegistered));
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
    expect_part(harness.message(GST_MESSAGE_ERROR),
                "m changes frames; put nputensordec in front of m");
  }
}

// GstAnalytics once had each class of other elements twice.
TEST(TensorDec, DecodesClassesOfOthersOnce) {
  const HandMadeTensor tensor =
      classes({0.1F, 0.7F, 0.2F}, {}, "classification-generic-softmaxed-out");
  ElementHarness second("nputensordec name=second", kCaps);
  const Owned<GstBuffer> out = decoded_by(second, decoded(frame_with({tensor})));
  EXPECT_NE(results_of(out.get()), nullptr);
  EXPECT_TRUE(gst_buffer_get_npu_inference_meta(out.get())->is_decoded);
  EXPECT_EQ(stat_of(second, "frames-without-tensors"), 1u) << "it decoded them again";
}

// In a cascade the second one decodes the objects' classes only.
TEST(TensorDec, DecodesObjectsOfOthersOnce) {
  Owned<GstBuffer> between = decoded(frame_with({two_objects(kRegistered)}));
  between.reset(gst_buffer_make_writable(between.release()));
  add_object(between.get(), 8, classes({1, 0, 0}));
  const Owned<GstBuffer> out = decoded(std::move(between));
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
  attach(buffer, made);
#endif
}

TEST(TensorDec, DecodesTensorsOfOthersBesideOurs) {
  Owned<GstBuffer> frame = frame_of_model({classes({0, 0, 1})});
  attach_others(frame.get(), two_objects(kRegistered));
  Owned<GstBuffer> between =
      decoded(std::move(frame), "nputensordec tensor-name=classes model-task=classify");
  EXPECT_TRUE(rois(between.get()).empty());
  for (int further = 0; further < 2; ++further) {
    between = decoded(std::move(between));
    EXPECT_EQ(rois(between.get()).size(), 2u);
  }
}

/// As videocrop does before GStreamer 1.28: what depends on the frame's size is gone.
void drop_meta(GstBuffer* buffer, GstNpuInferenceMeta* meta) {
  gst_buffer_keep_npu_inference_origin(buffer, meta);
  gst_buffer_remove_meta(buffer, &meta->meta);
}

// A whole frame's inference that is there must not lend them its place.
TEST(TensorDecObjects, WithoutTheirMetaAreAnError) {
  Owned<GstBuffer> frame = frame_of_model({classes({1, 0, 0})}, "a b c");
  drop_meta(frame.get(), add_object(frame.get(), 8, classes({0, 0, 1})));
  const std::string error = error_of("nputensordec", std::move(frame));
  expect_part(error, "roi-list");
  expect_part(error, "put nputensordec in front");
}

TEST(TensorDecObjects, WithoutTheirMetaAreLeftAloneWhereTheyWereDecoded) {
  Owned<GstBuffer> frame = frame_of_model({two_objects()}, "a b");
  GstNpuInferenceMeta* object = add_object(frame.get(), 8, classes({0, 0, 1}));
  object->is_decoded = TRUE;
  drop_meta(frame.get(), object);
  EXPECT_EQ(rois(decoded(std::move(frame)).get()).size(), 3u);
}

// One model in front of a crop that was scaled back, and behind it.
TEST(TensorDec, DoesNotTakeAnotherInferencesPlaceForOneThatWasLost) {
  for (const bool is_decoded : {false, true}) {
    Owned<GstBuffer> frame(gst_buffer_new());
    for (guint i = 0; i < 2; ++i) {
      attach_to(frame.get(), i, two_objects());
      add_model(frame.get(), "net.xml", "a b");
    }
    GstNpuInferenceMeta* first = gst_buffer_get_npu_inference_meta_id(frame.get(), 0);
    first->is_decoded = is_decoded;
    drop_meta(frame.get(), first);
    if (is_decoded) {
      EXPECT_EQ(labels_of("nputensordec", std::move(frame)).size(), 2u);
    } else {
      expect_part(error_of("nputensordec", std::move(frame)), "tells where in the frame");
    }
  }
}

}  // namespace
}  // namespace gstnpu_test

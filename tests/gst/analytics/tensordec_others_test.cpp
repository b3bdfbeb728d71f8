// nputensordec on tensors that other elements attached, and what it finds decoded already.
#include "analytics/decoding.hpp"

namespace gstnpu_test::tensordec_others_test {
namespace {

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);

// As onnxinference leaves tensors: with ids of the registry, and without a model.
const char* const kRegistered = "yolo-v8-out";

TEST(TensorDec, KnowsTensorsOfOthersByTheirRegisteredIds) {
  EXPECT_EQ(labels_of("nputensordec", frame_with({two_objects(kRegistered)})),
            (Labels{"class 1", "class 0"}));
}

// GstAnalytics once had each class of other elements twice.
TEST(TensorDec, DecodesClassesOfOthersOnce) {
  const HandMadeTensor tensor =
      classes({0.1F, 0.7F, 0.2F}, {}, "classification-generic-softmaxed-out");
  ElementHarness second("nputensordec name=second", kCaps);
  const Owned<GstBuffer> out = decoded_by(second, decoded(frame_with({tensor})));
  EXPECT_EQ(frame_classes_of(out.get()).size(), 1u);
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
  expect_part(error, "tells where in the frame their values are");
  expect_part(error, "Put nputensordec directly behind npuinfer");
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
}  // namespace gstnpu_test::tensordec_others_test

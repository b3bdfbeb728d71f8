// Frames for nputensordec, and what it makes of them.
#pragma once

#include <gst/video/gstvideometa.h>

#include <string>
#include <utility>
#include <vector>

#include "hand_made_frames.hpp"
#include "leak_check.hpp"

#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

namespace gstnpu_test {

inline constexpr const char* kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";
inline constexpr const char* kDetect =
    "nputensordec model-task=detect tensor-layout=channels-first";
inline constexpr const char* kModelInfo =
    "[modelinfo]\nversion=1.0\ngroup-id=yolo-v8-out\n"
    "[output0]\ndir=output\nid=yolo-v8-out\ntype=float32\ndims=1,6,-1\ndims-order=col-major\n"
    "labels=red,blue\nconfidence-threshold=0.7\n";

struct Roi {
  std::string label;
  guint x, y, w, h;
  const GstStructure* detection;
  gint id;
};

inline std::vector<Roi> rois(GstBuffer* buffer) {
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

inline double number(const GstStructure* structure, const char* field) {
  double value = -1;
  EXPECT_TRUE(gst_structure_get_double(structure, field, &value)) << field;
  return value;
}

inline guint64 stat_of(const ElementHarness& harness, const char* field) {
  GstStructure* stats = nullptr;
  gst_harness_get(harness.get(), "nputensordec", "stats", &stats, nullptr);
  const Owned<GstStructure> owner(stats);
  guint64 value = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
  return value;
}

/// The frame behind the element.
inline Owned<GstBuffer> decoded_by(ElementHarness& harness, Owned<GstBuffer> frame) {
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK) << harness.message(GST_MESSAGE_ERROR);
  Owned<GstBuffer> out = harness.pull();
  return out ? std::move(out) : Owned<GstBuffer>(gst_buffer_new());
}

inline Owned<GstBuffer> decoded(Owned<GstBuffer> frame, const std::string& launch = "nputensordec",
                                const std::string& caps = kCaps) {
  ElementHarness harness(launch, caps);
  return decoded_by(harness, std::move(frame));
}

using Labels = std::vector<std::string>;

inline Labels labels_of(const std::string& launch, Owned<GstBuffer> frame) {
  Labels labels;
  const Owned<GstBuffer> out = decoded(std::move(frame), launch);
  for (const Roi& roi : rois(out.get())) labels.push_back(roi.label);
  return labels;
}

inline std::string error_of(const std::string& launch, Owned<GstBuffer> frame) {
  ElementHarness harness(launch, kCaps);
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
  EXPECT_EQ(harness.pull(), nullptr);
  std::string text = harness.message(GST_MESSAGE_ERROR);
  EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "") << "a second error";
  return text;
}

inline void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
}

/// Labels of a file that is not there, while playing: told once.
inline void set_wrong_labels(const ElementHarness& harness) {
  gst_harness_set(harness.get(), "nputensordec", "labels", "", "labels-file", "/nowhere/l.txt",
                  nullptr);
}
inline void expect_told_once_of_wrong_labels(const ElementHarness& harness) {
  expect_part(harness.message(GST_MESSAGE_WARNING), "/nowhere/l.txt");
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "") << "once";
}

inline HandMadeTensor of_shape(const std::string& name, std::vector<gsize> shape,
                               GstNpuDataType type = GST_NPU_DATA_F32) {
  gsize count = 1;
  for (const gsize dim : shape) count *= dim;
  return {name, std::move(shape), std::vector<float>(count), type};
}

inline HandMadeTensor two_objects(const char* name = "output0") {
  HandMadeTensor tensor =
      yolo_tensor({{100, 50, 40, 20, 0.25F, 0.75F}, {300, 200, 60, 80, 0.625F, 0.5F}});
  tensor.name = name;
  return tensor;
}

inline HandMadeTensor classes(std::vector<float> values, std::vector<gsize> shape = {},
                              const char* name = "classes") {
  const gsize count = values.size();
  return {.name = name,
          .shape = shape.empty() ? std::vector<gsize>{1, count} : shape,
          .values = std::move(values)};
}

inline GstNpuInferenceMeta* add_model(GstBuffer* buffer, const std::string& model = "net.xml",
                                      const char* labels = nullptr) {
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, model.c_str());
  meta->model_width = meta->model_height = 640;
  meta->inference_ns = 1234567;
  meta->labels = g_strdup(labels);
  return meta;
}

/// Attaches the model by its card, as npuinfer does.
inline GstNpuInferenceMeta* add_model_with_card(GstBuffer* buffer, const char* card) {
  GstNpuInferenceMeta* meta = add_model(buffer);
  meta->card = g_ref_string_new(card);
  return meta;
}

/// A frame of these tensors of a model with these labels.
inline Owned<GstBuffer> frame_of_model(const std::vector<HandMadeTensor>& tensors,
                                       const char* labels = nullptr,
                                       const std::string& model = "net.xml") {
  Owned<GstBuffer> frame = frame_with(tensors);
  add_model(frame.get(), model, labels);
  return frame;
}

/// An object on the buffer, and what a model said of it.
inline GstNpuInferenceMeta* add_object(GstBuffer* buffer, gint id, const HandMadeTensor& tensor) {
  gst_buffer_add_video_region_of_interest_meta(buffer, "thing", 10, 20, 30, 40)->id = id;
  const guint inference = gst_npu_buffer_next_inference_id(buffer);
  attach(buffer, tensor);
  GstNpuInferenceMeta* meta = add_model(buffer, "classes.xml", "red green blue");
  meta->inference_id = inference;
  meta->is_region = TRUE;
  meta->object_id = id;
  return meta;
}

inline Owned<GstBuffer> frame_of_object(gint id, const HandMadeTensor& tensor) {
  Owned<GstBuffer> frame(gst_buffer_new());
  add_object(frame.get(), id, tensor);
  return frame;
}

struct ClassOf {
  std::string label;
  gint label_id = -1;
  double confidence = -1;
};

inline std::vector<ClassOf> classes_of(GstBuffer* buffer, gint id) {
  std::vector<ClassOf> found;
  const auto* roi = gst_buffer_get_video_region_of_interest_meta_id(buffer, id);
  for (GList* param = roi ? roi->params : nullptr; param; param = param->next) {
    const auto* structure = static_cast<const GstStructure*>(param->data);
    if (!gst_structure_has_name(structure, "classification")) continue;
    ClassOf one{.label = gst_structure_get_string(structure, "label")};
    gst_structure_get_int(structure, "label_id", &one.label_id);
    one.confidence = number(structure, "confidence");
    found.push_back(one);
  }
  return found;
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

inline guint size_of(const GstStructure* structure, const char* field) {
  guint size = 0;
  EXPECT_TRUE(gst_structure_get_uint(structure, field, &size)) << field;
  return size;
}

/// Labels of the whole frame's classes.
inline Labels frame_classes_of(GstBuffer* buffer) {
  Labels labels;
  GstNpuClass found;
  for (guint i = 0; gst_npu_buffer_get_class(buffer, GST_NPU_WHOLE_FRAME, i, &found); ++i) {
    labels.emplace_back(found.label);
  }
  return labels;
}

inline GstNpuMap first_map_of(GstBuffer* buffer) {
  GstNpuMap map = {};
  EXPECT_TRUE(gst_npu_buffer_get_map(buffer, 0, &map));
  return map;
}

/// Left, right, upper and lower edge.
inline std::vector<double> place_of(const GstNpuMap& map) {
  return {map.box.x, map.box.x + map.box.w, map.box.y, map.box.y + map.box.h};
}

inline std::vector<guint16> classes_in(const GstNpuMap& map) {
  if (!map.classes) return {};
  return {map.classes, map.classes + std::size_t{map.columns} * map.rows};
}

}  // namespace gstnpu_test

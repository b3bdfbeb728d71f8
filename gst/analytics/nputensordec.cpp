// nputensordec: the element around Detector, RegionClassifier and their metadata.
#include <gst/base/gstbasetransform.h>

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <npucore/error.hpp>

#include "common/elements.hpp"
#include "common/gtype.hpp"
#include "common/properties.hpp"
#include "common/refs.hpp"

#include "classifier.hpp"
#include "detection_meta.hpp"
#include "detector.hpp"

GST_DEBUG_CATEGORY_STATIC(nputensordec_debug);
#define GST_CAT_DEFAULT nputensordec_debug

namespace gstnpu {
namespace {

constexpr float kFromModel = -1;  // of a threshold property: the model's own

/// What an instance holds.
class TensorDec {
 public:
  TensorDec(GstBaseTransform* base, GstBaseTransformClass*) {
    gst_base_transform_set_in_place(base, TRUE);
  }

  DetectorSettings settings() const {
    const std::scoped_lock lock(mutex_);
    return settings_;
  }
  void change_settings(const auto& change) {
    const std::scoped_lock lock(mutex_);
    settings_changed_ = true;
    change(settings_);
  }

  /// A new stream: the files beside the model may be new.
  void start();
  /// The rest is for the streaming thread.
  void set_frame(const FrameSize& frame) { frame_ = frame; }
  void decode(GstElement* element, GstBuffer* buffer);

  /// The property "stats"; the caller frees it.
  GstStructure* stats() const;

 private:
  void take_settings();
  void configure();
  struct Found {
    std::optional<std::span<const Detection>> detections;
    std::size_t regions;
  };
  Found find(GstBuffer* buffer);
  Found find_by_good_settings(GstElement* element, GstBuffer* buffer);

  mutable std::mutex mutex_;  // guards settings, settings_changed and the counters
  DetectorSettings settings_;
  bool settings_changed_ = true;
  guint64 frames_ = 0, frames_without_tensors_ = 0, detections_ = 0, regions_ = 0;

  // Of the streaming thread.
  Detector detector_;
  RegionClassifier classifier_;
  DetectorSettings tried_;                  // what detector_ was configured with
  std::optional<DetectorSettings> proven_;  // the last that have decoded a frame
  bool is_proven_ = false;                  // tried_ are
  FrameSize frame_;
};

using Type = ObjectType<GstBaseTransform, GstBaseTransformClass, TensorDec>;

void TensorDec::start() {
  const std::scoped_lock lock(mutex_);
  settings_changed_ = true;
  proven_.reset();  // of the stream before
  frames_ = frames_without_tensors_ = detections_ = regions_ = 0;
}

void TensorDec::take_settings() {
  const std::scoped_lock lock(mutex_);
  if (!settings_changed_) return;
  settings_changed_ = false;
  tried_ = settings_;
  is_proven_ = false;
  configure();
}

void TensorDec::configure() {
  detector_.configure(tried_);
  classifier_.configure(tried_);
}

/// Where either throws, nothing is lost when it is tried again: the classes that are attached stay,
/// and detections come last.
TensorDec::Found TensorDec::find(GstBuffer* buffer) {
  const std::size_t regions = classifier_.classify(buffer);
  return {detector_.detect(buffer, frame_), regions};
}

/// Settings that were changed while playing, and turn out to be wrong, do not end the stream: those
/// before stay, and are what the properties say again.
TensorDec::Found TensorDec::find_by_good_settings(GstElement* element, GstBuffer* buffer) {
  try {
    const Found found = find(buffer);
    if (!is_proven_ && (found.detections || found.regions > 0)) {
      proven_ = tried_;
      is_proven_ = true;
    }
    return found;
  } catch (const npu::Error& error) {
    if (is_proven_ || !proven_) throw;
    GST_ELEMENT_WARNING(element, STREAM, DECODE,
                        ("The settings before are kept: %s.", error.what()), (nullptr));
  }
  {
    const std::scoped_lock lock(mutex_);
    tried_ = *proven_;
    is_proven_ = true;
    if (!settings_changed_) {
      settings_ = tried_;
    }
  }
  configure();
  return find(buffer);
}

void TensorDec::decode(GstElement* element, GstBuffer* buffer) {
  take_settings();
  const auto [found, regions] = find_by_good_settings(element, buffer);
  if (const std::string warning = detector_.take_warning(); !warning.empty()) {
    GST_ELEMENT_WARNING(element, STREAM, DECODE, ("%s.", warning.c_str()), (nullptr));
  }
  if (found) {
    attach_detections(buffer, *found, detector_.labels(), frame_);
  }
  GST_LOG_OBJECT(element, "%" GST_TIME_FORMAT ": %d detections",
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)),
                 found ? static_cast<int>(found->size()) : -1);
  const std::scoped_lock lock(mutex_);
  ++frames_;
  frames_without_tensors_ += found || regions > 0 ? 0 : 1;
  detections_ += found ? found->size() : 0;
  regions_ += regions;
}

GstStructure* TensorDec::stats() const {
  const std::scoped_lock lock(mutex_);
  return gst_structure_new("stats", "frames", G_TYPE_UINT64, frames_, "frames-without-tensors",
                           G_TYPE_UINT64, frames_without_tensors_, "detections", G_TYPE_UINT64,
                           detections_, "regions", G_TYPE_UINT64, regions_, nullptr);
}

// ---- Properties

constexpr GEnumValue kLayouts[] = {
    {static_cast<gint>(YoloLayout::kAuto),
     "By the number of labels, else the longer dimension holds the boxes", "auto"},
    {static_cast<gint>(YoloLayout::kChannelsFirst), "[1, 4 + classes, boxes]", "channels-first"},
    {static_cast<gint>(YoloLayout::kBoxesFirst), "[1, boxes, 4 + classes]", "boxes-first"},
    {static_cast<gint>(YoloLayout::kEndToEnd),
     "[1, boxes, 6]: edges, score, class, as YOLOv10, YOLO26 and nms=True have it", "end-to-end"},
    {0, nullptr, nullptr}};

GType layout_type() {
  return enum_type<kLayouts>("NpuTensorLayout");
}

std::vector<Property<TensorDec>> properties() {
  using D = TensorDec;
  using S = DetectorSettings;
  const DetectorSettings defaults;
  return {
      property<D, &S::labels>(g_param_spec_string(
          "labels", "Labels", "Class names, separated by commas; empty: the model's", "",
          kWhilePlaying)),
      property<D, &S::labels_file>(g_param_spec_string(
          "labels-file", "Labels file",
          "File with one class name per line; labels takes precedence", "", kWhilePlaying)),
      property<D, &S::threshold>(g_param_spec_float(
          "threshold", "Threshold", "Lowest score of a detection; -1: the model's own, else 0.5",
          kFromModel, 1, kFromModel, kWhilePlaying)),
      property<D, &S::iou_threshold>(
          g_param_spec_float("iou-threshold", "IoU threshold",
                             "Of two boxes of one class that overlap more than this, only the "
                             "better one stays; -1: the model's own, else 0.5",
                             kFromModel, 1, kFromModel, kWhilePlaying)),
      property<D, &S::max_detections>(g_param_spec_uint(
          "max-detections", "Most detections", "Most detections per frame; the best ones are kept",
          1, G_MAXINT, static_cast<guint>(defaults.max_detections), kWhilePlaying)),
      property<D, &S::tensor_name>(
          g_param_spec_string("tensor-name", "Tensor name",
                              "Output to decode; empty: the one that the model's .modelinfo names, "
                              "else the first suitable one",
                              "", kWhilePlaying)),
      property<D, &S::layout>(g_param_spec_enum("tensor-layout", "Tensor layout",
                                                "Order of the tensor's dimensions", layout_type(),
                                                static_cast<gint>(defaults.layout), kWhilePlaying)),
      {g_param_spec_boxed(
           "stats", "Statistics",
           "Counters since start: frames, frames-without-tensors, detections, regions",
           GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const D& decoder, GValue* value) { g_value_take_boxed(value, decoder.stats()); }},
  };
}

// ---- Transform

gboolean start(GstBaseTransform* base) {
  Type::state_of(base).start();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  gint width = 0, height = 0;
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (!gst_structure_get_int(structure, "width", &width) || width <= 0 ||
      !gst_structure_get_int(structure, "height", &height) || height <= 0) {
    GST_ELEMENT_ERROR(base, STREAM, FORMAT, ("The caps have no frame size."),
                      ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  Type::state_of(base).set_frame(
      {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)});
  return TRUE;
}

// Pixels pass untouched, so upstream talks to downstream's allocators directly.
gboolean propose_allocation(GstBaseTransform* base, GstQuery*, GstQuery* query) {
  return gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(base), query);
}

gboolean decide_allocation(GstBaseTransform*, GstQuery* query) {
  while (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_remove_nth_allocation_pool(query, 0);
  }
  return TRUE;
}

// Metadata needs a writable buffer; the memory is shared whatever it is.
GstFlowReturn prepare_output_buffer(GstBaseTransform*, GstBuffer* input, GstBuffer** output) {
  *output = gst_buffer_is_writable(input) ? input : gst_buffer_copy(input);
  return *output != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    Type::state_of(base).decode(GST_ELEMENT(base), buffer);
    return GST_FLOW_OK;
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(base, STREAM, DECODE, ("Cannot decode detections: %s.", error.what()),
                      (nullptr));
    return GST_FLOW_ERROR;
  }
}

GstPadTemplate* video_template(const gchar* name, GstPadDirection direction) {
  const CapsRef caps(gst_caps_from_string("video/x-raw(ANY)"));
  return gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get());
}

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nputensordec_debug, "nputensordec", 0, "decodes tensors to detections");
  Properties<Type, properties>::install(klass);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, video_template("sink", GST_PAD_SINK));
  gst_element_class_add_pad_template(element_class, video_template("src", GST_PAD_SRC));
  gst_element_class_set_static_metadata(
      element_class, "NPU tensor decoder", "Filter/Analyzer/Video",
      "Turns YOLO outputs into regions of interest in frame pixels, and classes of regions into "
      "their labels",
      "npucore");

  klass->start = start;
  klass->set_caps = set_caps;
  klass->propose_allocation = propose_allocation;
  klass->decide_allocation = decide_allocation;
  klass->prepare_output_buffer = prepare_output_buffer;
  klass->transform_ip = transform_ip;
  gst_type_mark_as_plugin_api(layout_type(), static_cast<GstPluginAPIFlags>(0));
}

}  // namespace

gboolean register_nputensordec(GstPlugin* plugin) {
  return gst_element_register(plugin, "nputensordec", GST_RANK_NONE,
                              Type::get<class_init>("GstNpuTensorDec", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu

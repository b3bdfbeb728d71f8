// nputensordec: the element around Detector and attach_detections().
#include <gst/base/gstbasetransform.h>

#include <exception>
#include <memory>
#include <mutex>

#include "detection_meta.hpp"
#include "detector.hpp"
#include "plugin/elements.hpp"

GST_DEBUG_CATEGORY_STATIC(nputensordec_debug);
#define GST_CAT_DEFAULT nputensordec_debug

namespace gstnpu {
namespace {

constexpr float kFromModel = -1;  // of a threshold property: the model's own

enum Property {
  kPropLabels = 1,
  kPropLabelsFile,
  kPropThreshold,
  kPropIouThreshold,
  kPropMaxDetections,
  kPropTensorName,
  kPropTensorLayout,
  kPropStats,
};

struct State {
  std::mutex mutex;  // guards settings, settings_changed and the counters
  DetectorSettings settings;
  bool settings_changed = true;
  guint64 frames = 0, frames_without_tensors = 0, detections = 0;

  // Of the streaming thread.
  Detector detector;
  FrameSize frame;
};

struct NpuTensorDec {
  GstBaseTransform parent;
  State* state;
};

struct NpuTensorDecClass {
  GstBaseTransformClass parent_class;
};

// NOLINTNEXTLINE(performance-no-int-to-ptr): inside the macro
G_DEFINE_TYPE(NpuTensorDec, npu_tensor_dec, GST_TYPE_BASE_TRANSFORM)

State& state_of(gpointer instance) {
  return *static_cast<NpuTensorDec*>(instance)->state;
}

GType layout_get_type() {
  static const GType type = [] {
    static const GEnumValue values[] = {
        {static_cast<gint>(YoloLayout::kAuto),
         "By the number of labels, else the longer dimension holds the boxes", "auto"},
        {static_cast<gint>(YoloLayout::kChannelsFirst), "[1, 4 + classes, boxes]",
         "channels-first"},
        {static_cast<gint>(YoloLayout::kBoxesFirst), "[1, boxes, 4 + classes]", "boxes-first"},
        {0, nullptr, nullptr}};
    return g_enum_register_static("NpuTensorLayout", values);
  }();
  return type;
}

std::string text_of(const GValue* value) {
  const gchar* text = g_value_get_string(value);
  return text != nullptr ? text : "";
}

std::optional<float> threshold_of(const GValue* value) {
  const float threshold = g_value_get_float(value);
  if (threshold < 0) return std::nullopt;
  return threshold;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  State& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  DetectorSettings& settings = state.settings;
  state.settings_changed = true;
  switch (id) {
    case kPropLabels:
      settings.labels = text_of(value);
      break;
    case kPropLabelsFile:
      settings.labels_file = text_of(value);
      break;
    case kPropThreshold:
      settings.threshold = threshold_of(value);
      break;
    case kPropIouThreshold:
      settings.iou_threshold = threshold_of(value);
      break;
    case kPropMaxDetections:
      settings.max_detections = g_value_get_uint(value);
      break;
    case kPropTensorName:
      settings.tensor_name = text_of(value);
      break;
    case kPropTensorLayout:
      settings.layout = static_cast<YoloLayout>(g_value_get_enum(value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  State& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  const DetectorSettings& settings = state.settings;
  switch (id) {
    case kPropLabels:
      g_value_set_string(value, settings.labels.c_str());
      break;
    case kPropLabelsFile:
      g_value_set_string(value, settings.labels_file.c_str());
      break;
    case kPropThreshold:
      g_value_set_float(value, settings.threshold.value_or(kFromModel));
      break;
    case kPropIouThreshold:
      g_value_set_float(value, settings.iou_threshold.value_or(kFromModel));
      break;
    case kPropMaxDetections:
      g_value_set_uint(value, static_cast<guint>(settings.max_detections));
      break;
    case kPropTensorName:
      g_value_set_string(value, settings.tensor_name.c_str());
      break;
    case kPropTensorLayout:
      g_value_set_enum(value, static_cast<gint>(settings.layout));
      break;
    case kPropStats:
      g_value_take_boxed(value, gst_structure_new("stats", "frames", G_TYPE_UINT64, state.frames,
                                                  "frames-without-tensors", G_TYPE_UINT64,
                                                  state.frames_without_tensors, "detections",
                                                  G_TYPE_UINT64, state.detections, nullptr));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

gboolean start(GstBaseTransform* base) {
  State& state = state_of(base);
  const std::lock_guard lock(state.mutex);
  state.settings_changed = true;  // the files beside the model may be new
  state.frames = state.frames_without_tensors = state.detections = 0;
  return TRUE;
}

gboolean set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  gint width = 0, height = 0;
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  if (!gst_structure_get_int(structure, "width", &width) || width <= 0 ||
      !gst_structure_get_int(structure, "height", &height) || height <= 0) {
    GST_ELEMENT_ERROR(base, STREAM, FORMAT, ("The caps carry no frame size."),
                      ("caps %" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  state_of(base).frame = {static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)};
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

void take_settings(State& state) {
  const std::lock_guard lock(state.mutex);
  if (!state.settings_changed) return;
  state.settings_changed = false;
  state.detector.configure(state.settings);
}

void decode_frame(GstElement* element, State& state, GstBuffer* buffer) {
  take_settings(state);
  const auto found = state.detector.detect(buffer, state.frame);
  if (const std::string warning = state.detector.take_warning(); !warning.empty()) {
    GST_ELEMENT_WARNING(element, STREAM, DECODE, ("%s.", warning.c_str()), (nullptr));
  }
  if (found) attach_detections(buffer, *found, state.detector.labels(), state.frame);
  GST_LOG_OBJECT(element, "%" GST_TIME_FORMAT ": %d detections",
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)),
                 found ? static_cast<int>(found->size()) : -1);
  const std::lock_guard lock(state.mutex);
  ++state.frames;
  state.frames_without_tensors += found ? 0 : 1;
  state.detections += found ? found->size() : 0;
}

GstFlowReturn transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  try {
    decode_frame(GST_ELEMENT(base), state_of(base), buffer);
    return GST_FLOW_OK;
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(base, STREAM, DECODE, ("Cannot decode detections: %s.", error.what()),
                      (nullptr));
    return GST_FLOW_ERROR;
  }
}

void finalize(GObject* object) {
  const std::unique_ptr<State> owner(
      static_cast<NpuTensorDec*>(static_cast<gpointer>(object))->state);
  G_OBJECT_CLASS(npu_tensor_dec_parent_class)->finalize(object);
}

void npu_tensor_dec_init(NpuTensorDec* self) {
  self->state = std::make_unique<State>().release();
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}

constexpr auto kReadWrite = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                     GST_PARAM_MUTABLE_PLAYING);
constexpr auto kReadOnly = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

void install_properties(GObjectClass* klass) {
  const DetectorSettings defaults;
  const auto install = [klass](guint id, GParamSpec* spec) {
    g_object_class_install_property(klass, id, spec);
  };
  install(kPropLabels, g_param_spec_string("labels", "Labels",
                                           "Class names, a comma list; empty: those of the model",
                                           "", kReadWrite));
  install(kPropLabelsFile,
          g_param_spec_string("labels-file", "Labels file",
                              "File with one class name a line; labels goes before it", "",
                              kReadWrite));
  install(kPropThreshold,
          g_param_spec_float("threshold", "Threshold",
                             "Lowest score of a detection; -1: the model's own, else 0.5",
                             kFromModel, 1, kFromModel, kReadWrite));
  install(kPropIouThreshold,
          g_param_spec_float("iou-threshold", "IoU threshold",
                             "Of two boxes of a class that overlap more than this the better one "
                             "stays; -1: the model's own, else 0.5",
                             kFromModel, 1, kFromModel, kReadWrite));
  install(kPropMaxDetections,
          g_param_spec_uint("max-detections", "Most detections",
                            "Detections of a frame at most, the best ones", 1, G_MAXINT,
                            static_cast<guint>(defaults.max_detections), kReadWrite));
  install(kPropTensorName,
          g_param_spec_string("tensor-name", "Tensor name",
                              "Output to decode; empty: the one that the model's .modelinfo names, "
                              "else the first that fits",
                              "", kReadWrite));
  install(kPropTensorLayout,
          g_param_spec_enum("tensor-layout", "Tensor layout", "Order of the tensor's dimensions",
                            layout_get_type(), static_cast<gint>(defaults.layout), kReadWrite));
  install(kPropStats,
          g_param_spec_boxed("stats", "Statistics",
                             "Counters since start: frames, frames-without-tensors, detections",
                             GST_TYPE_STRUCTURE, kReadOnly));
}

GstPadTemplate* video_template(const gchar* name, GstPadDirection direction) {
  const std::unique_ptr<GstCaps, decltype(&gst_caps_unref)> caps(
      gst_caps_from_string("video/x-raw(ANY)"), gst_caps_unref);
  return gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps.get());
}

void npu_tensor_dec_class_init(NpuTensorDecClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nputensordec_debug, "nputensordec", 0, "decodes tensors to detections");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_pad_template(element_class, video_template("sink", GST_PAD_SINK));
  gst_element_class_add_pad_template(element_class, video_template("src", GST_PAD_SRC));
  gst_element_class_set_static_metadata(
      element_class, "NPU tensor decoder", "Filter/Analyzer/Video",
      "Turns YOLO outputs into regions of interest in frame pixels", "npucore");

  auto* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  transform_class->start = start;
  transform_class->set_caps = set_caps;
  transform_class->propose_allocation = propose_allocation;
  transform_class->decide_allocation = decide_allocation;
  transform_class->prepare_output_buffer = prepare_output_buffer;
  transform_class->transform_ip = transform_ip;
  gst_type_mark_as_plugin_api(layout_get_type(), static_cast<GstPluginAPIFlags>(0));
}

}  // namespace

gboolean register_nputensordec(GstPlugin* plugin) {
  return gst_element_register(plugin, "nputensordec", GST_RANK_NONE, npu_tensor_dec_get_type());
}

}  // namespace gstnpu

// nputensordec: the element around TensorDecoder.
#include <optional>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "common/elements.hpp"
#include "common/meta_transform.hpp"
#include "common/missing_answers.hpp"
#include "common/upstream.hpp"

#include "tensor_decoder.hpp"

GST_DEBUG_CATEGORY_STATIC(nputensordec_debug);
#define GST_CAT_DEFAULT nputensordec_debug

namespace gstnpu {
namespace {

constexpr float kFromModel = -1;  // of a threshold property: the model's own

/// State of an instance.
class TensorDec : public MetaState<DecoderSettings> {
 public:
  TensorDec(GstBaseTransform* base, GstBaseTransformClass*) : MetaState(base) {}

  /// A new stream: the files beside the model may be new.
  void start();
  void process(GstBuffer* buffer, const GstSegment& segment);
  /// Tells the user at the end of the stream if there was nothing to decode.
  void end();
  void fail(const std::exception& error) {
    GST_ELEMENT_ERROR(element(), STREAM, DECODE, ("Cannot decode tensors: %s.", error.what()),
                      (nullptr));
  }

  /// The property "stats"; the caller frees it.
  GstStructure* stats() const;

 private:
  Decoded decode_by_good_settings(GstBuffer* buffer);
  void keep_proven_settings(const npu::Error& error);
  void tell_of_missing_answers(GstBuffer* buffer, const Decoded& decoded);

  // Guarded by mutex():
  guint64 frames_ = 0, frames_without_tensors_ = 0, detections_ = 0, regions_ = 0;

  TensorDecoder decoder_;
  MissingAnswers missing_answers_;
  DecoderSettings tried_;                  // what decoder_ was configured with
  std::optional<DecoderSettings> proven_;  // the last that have decoded a frame
  bool is_proven_ = false;                 // tried_ are
  bool has_told_ = false;                  // of a missing answer
};

void TensorDec::start() {
  forget_settings();
  proven_.reset();  // of the stream before
  has_told_ = false;
  missing_answers_ = MissingAnswers();
  const std::scoped_lock lock(mutex());
  frames_ = frames_without_tensors_ = detections_ = regions_ = 0;
}

/// Settings that were changed while playing, and turn out to be wrong, do not end the stream: those
/// before stay, and are what the properties say again.
Decoded TensorDec::decode_by_good_settings(GstBuffer* buffer) {
  try {
    const Decoded decoded = decoder_.decode(buffer, frame());
    if (!is_proven_ && (decoded.frame || decoded.regions > 0)) {
      proven_ = tried_;
      is_proven_ = true;
    }
    return decoded;
  } catch (const npu::Error& error) {
    if (is_proven_ || !proven_) throw;
    keep_proven_settings(error);
  }
  return decoder_.decode(buffer, frame());
}

void TensorDec::keep_proven_settings(const npu::Error& error) {
  GST_ELEMENT_WARNING(element(), STREAM, DECODE,
                      ("The previous settings are kept: %s.", error.what()), (nullptr));
  tried_ = *proven_;
  is_proven_ = true;
  go_back_to(tried_);
  decoder_.configure(tried_);
}

void TensorDec::process(GstBuffer* buffer, const GstSegment&) {
  if (auto settings = new_settings()) {
    tried_ = std::move(*settings);
    is_proven_ = false;
    decoder_.configure(tried_);
  }
  missing_answers_.look_for_lost(element(), buffer, frame());  // of a nputensordec in front
  const Decoded decoded = decode_by_good_settings(buffer);
  GST_LOG_OBJECT(element(), "%" GST_TIME_FORMAT ": %d detections",
                 GST_TIME_ARGS(GST_BUFFER_PTS(buffer)),
                 decoded.frame ? static_cast<int>(decoded.objects) : -1);
  tell_of_missing_answers(buffer, decoded);
  const std::scoped_lock lock(mutex());
  ++frames_;
  frames_without_tensors_ += decoded.frame || decoded.regions > 0 ? 0 : 1;
  detections_ += decoded.objects;
  regions_ += decoded.regions;
}

/// Once in a stream.
void TensorDec::tell_of_missing_answers(GstBuffer* buffer, const Decoded& decoded) {
  if (decoded.undefined == 0 || std::exchange(has_told_, true)) return;
  GST_ELEMENT_WARNING(element(), STREAM, DECODE,
                      ("The frame at %" GST_TIME_FORMAT
                       " has no answer, because values of the model's output are not finite, as "
                       "where sums overflow in f16. Later ones may have none either. npu-compare "
                       "tells whether another device or precision gives numbers.",
                       GST_TIME_ARGS(GST_BUFFER_PTS(buffer))),
                      (nullptr));
}

void TensorDec::end() {
  std::uint64_t frames = 0;
  {
    const std::scoped_lock lock(mutex());
    if (frames_ == 0 || frames_without_tensors_ < frames_) return;
    frames = frames_;
  }
  const auto inference = inference_in_front_of(element());
  if (inference && infers_objects(inference.get())) return;  // there may be none in the stream
  GST_ELEMENT_WARNING(element(), STREAM, DECODE,
                      ("None of the %" G_GUINT64_FORMAT " frames had tensors: put npuinfer or "
                       "npuimport in front, with nothing between that drops their metadata.",
                       frames),
                      (nullptr));
}

GstStructure* TensorDec::stats() const {
  const std::scoped_lock lock(mutex());
  return gst_structure_new("stats", "frames", G_TYPE_UINT64, frames_, "frames-without-tensors",
                           G_TYPE_UINT64, frames_without_tensors_, "detections", G_TYPE_UINT64,
                           detections_, "regions", G_TYPE_UINT64, regions_, nullptr);
}

// ---- Properties

constexpr GEnumValue kLayouts[] = {
    {static_cast<gint>(TensorLayout::kAuto), "By the model's card and the number of labels",
     "auto"},
    {static_cast<gint>(TensorLayout::kChannelsFirst), "YOLO: [1, 4 + classes, boxes]",
     "channels-first"},
    {static_cast<gint>(TensorLayout::kBoxesFirst), "YOLO: [1, boxes, 4 + classes]", "boxes-first"},
    {static_cast<gint>(TensorLayout::kEndToEnd),
     "YOLO: [1, boxes, 6]: edges, score, class, as YOLOv10, YOLO26 and nms=True have it",
     "end-to-end"},
    {0, nullptr, nullptr}};

GType layout_type() {
  return enum_type<kLayouts>("NpuTensorLayout");
}

/// An enum of npuvision, with its names but for the first one's.
template <typename Value>
GType vision_type(const char* name, const char* first_nick, const std::vector<Value>& all) {
  static std::vector<GEnumValue> values;
  if (values.empty()) {
    for (const Value value : all) {
      const char* nick = values.empty() ? first_nick : to_string(value);
      values.push_back({static_cast<gint>(value), nick, nick});
    }
    values.push_back({0, nullptr, nullptr});
  }
  static const GType type = g_enum_register_static(g_intern_static_string(name), values.data());
  return type;
}

GType task_type() {
  return vision_type("NpuModelTask", "auto", npu::vision::tasks());
}

GType family_type() {
  return vision_type("NpuModelFamily", "auto", npu::vision::families());
}

std::vector<Property<TensorDec>> properties() {
  using D = TensorDec;
  using S = DecoderSettings;
  const DecoderSettings defaults;
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
          "max-detections", "Maximum detections",
          "Most detections per frame; the best ones are kept; 0: the model's own, else 300", 0,
          G_MAXINT, 0, kWhilePlaying)),
      property<D, &S::tensor_name>(
          g_param_spec_string("tensor-name", "Tensor name",
                              "Output to decode; empty: the one that the model's .modelinfo names, "
                              "else the first suitable one",
                              "", kWhilePlaying)),
      property<D, &S::layout>(g_param_spec_enum("tensor-layout", "Tensor layout",
                                                "Order of the tensor's dimensions", layout_type(),
                                                static_cast<gint>(defaults.layout), kWhilePlaying)),
      property<D, &S::anchors>(g_param_spec_string(
          "anchors", "Anchors",
          "Width and height of each anchor of a YOLO's heads in model pixels, the finest grid "
          "first, separated by commas; empty: the model's, else those of model-family",
          "", kWhilePlaying)),
      property<D, &S::task>(g_param_spec_enum(
          "model-task", "Model task", "What the model is for; auto: as it says itself", task_type(),
          static_cast<gint>(defaults.task), kWhilePlaying)),
      property<D, &S::family>(g_param_spec_enum(
          "model-family", "Model family",
          "How the model lays out its outputs; auto: by its card and their shapes", family_type(),
          static_cast<gint>(defaults.family), kWhilePlaying)),
      {g_param_spec_boxed(
           "stats", "Statistics",
           "Counters since start: frames, frames-without-tensors, detections, regions",
           GST_TYPE_STRUCTURE, kReadOnly),
       nullptr,
       [](const D& decoder, GValue* value) { g_value_take_boxed(value, decoder.stats()); }},
  };
}

using Element = MetaTransform<TensorDec>;

void class_init(GstBaseTransformClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nputensordec_debug, "nputensordec", 0, "decodes tensors to detections");
  Element::set_up<properties>(
      klass, {"NPU tensor decoder", "Filter/Analyzer/Video",
              "Turns the outputs of vision models into objects in frame pixels, classes and more"});
  for (const GType type : {layout_type(), task_type(), family_type()}) {
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
  }
}

}  // namespace

gboolean register_nputensordec(GstPlugin* plugin) {
  return gst_element_register(
      plugin, "nputensordec", GST_RANK_NONE,
      Element::Type::get<class_init>("GstNpuTensorDec", GST_TYPE_BASE_TRANSFORM));
}

}  // namespace gstnpu

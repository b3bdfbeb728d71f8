#include "model_decoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include <npuvision/labels.hpp>
#include <npuvision/tensor_group.hpp>

namespace gstnpu {
namespace {

namespace vision = npu::vision;
using vision::TensorView;

[[noreturn]] void refuse_geometry(const GstNpuInferenceMeta& meta) {
  std::array<char, G_ASCII_DTOSTR_BUF_SIZE> x = {}, y = {};
  throw npu::Error(
      npu::ErrorCode::kInvalidArgument,
      std::string("the frame's inference meta maps no model pixel to the frame: scale ") +
          g_ascii_dtostr(x.data(), x.size(), meta.scale_x) + " x " +
          g_ascii_dtostr(y.data(), y.size(), meta.scale_y));
}

/// Without the meta the tensors are taken to describe the frame's own pixels.
npu::FrameGeometry geometry_of(const GstNpuInferenceMeta* meta, vision::FrameSize frame) {
  if (meta == nullptr) return {.model_width = frame.width, .model_height = frame.height};
  const double numbers[] = {meta->offset_x, meta->offset_y, meta->scale_x, meta->scale_y};
  const bool finite = std::all_of(std::begin(numbers), std::end(numbers),
                                  [](double number) { return std::isfinite(number); });
  if (!finite || meta->scale_x <= 0 || meta->scale_y <= 0) {
    refuse_geometry(*meta);
  }
  return {.model_width = meta->model_width,
          .model_height = meta->model_height,
          .offset_x = meta->offset_x,
          .offset_y = meta->offset_y,
          .scale_x = meta->scale_x,
          .scale_y = meta->scale_y};
}

std::string text_or_empty(const gchar* text) {
  return text != nullptr ? text : "";
}

ModelKey key_of(const GstNpuInferenceMeta* meta) {
  if (meta == nullptr) return {};
  return {.model = text_or_empty(meta->model),
          .labels = text_or_empty(meta->labels),
          .card = text_or_empty(meta->card),
          .width = meta->model_width,
          .height = meta->model_height};
}

vision::ModelCard read_card(const ModelKey& key) {
  if (!key.card.empty()) return vision::ModelCard::from_json(key.card);
  std::map<std::string, std::string> info;
  if (!key.labels.empty()) {
    info["labels"] = key.labels;
  }
  return vision::read_model_card(key.model, info);
}

// GStreamer's own parser for numbers knows no locale either.
std::vector<float> anchors_from(const std::string& list) {
  std::vector<float> sizes;
  for (const std::string& text : vision::split_labels(list, ',')) {
    gchar* end = nullptr;
    const double size = g_ascii_strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !(size > 0) || !(size <= G_MAXUINT16)) {
      throw npu::Error(npu::ErrorCode::kInvalidArgument,
                       "anchors: \"" + text +
                           "\" is no size in pixels; write the width and the height of each "
                           "anchor, like 10,13,16,30,33,23");
    }
    sizes.push_back(static_cast<float>(size));
  }
  return sizes;
}

bool is_same_shape(const TensorView& a, const TensorView& b) {
  return a.type == b.type && a.rank == b.rank && a.dims == b.dims;
}

}  // namespace

/// Compares without copies, because each object of a frame asks.
bool ModelKey::is_of(const GstNpuInferenceMeta* meta) const {
  if (meta == nullptr) return *this == ModelKey();
  const auto is = [](const std::string& text, const gchar* other) {
    return text == (other ? other : "");
  };
  return width == meta->model_width && height == meta->model_height && is(model, meta->model) &&
         is(labels, meta->labels) && is(card, meta->card);
}

vision::ModelCard DecoderSettings::as_card() const {
  vision::ModelCard card{.task = task, .family = family};
  if (family == vision::Family::kRtDetr && layout != TensorLayout::kAuto) {
    card.end_to_end = layout == TensorLayout::kEndToEnd;
  } else if (layout == TensorLayout::kEndToEnd) {
    card.family = vision::Family::kYoloEndToEnd;
  } else if (layout != TensorLayout::kAuto) {
    card.family = family == vision::Family::kCtc ? family : vision::Family::kYolo;
    card.channels_first = layout == TensorLayout::kChannelsFirst;
  }
  card.output = tensor_name;
  card.anchors = anchors_from(anchors);
  card.confidence_threshold = threshold;
  card.iou_threshold = iou_threshold;
  card.max_objects = max_detections;
  if (!labels.empty()) {
    card.labels = vision::split_labels(labels, ',');
  } else if (!labels_file.empty()) {
    card.labels = vision::read_labels_file(labels_file);
  }
  return card;
}

ModelDecoder::ModelDecoder(const DecoderSettings& settings, const InferenceOutputs& outputs)
    : key_(key_of(outputs.meta)), input_{key_.width, key_.height} {
  for (const GstNpuTensor& tensor : outputs.tensors) {
    shapes_.push_back(view_of(tensor));
    names_.push_back(std::string(shapes_.back().name));
  }
  for (std::size_t i = 0; i < names_.size(); ++i) shapes_[i].name = names_[i];
  try {
    prepare(settings, outputs.meta != nullptr);
  } catch (const npu::Error& error) {
    refusal_ = error;
  }
}

void ModelDecoder::prepare(const DecoderSettings& settings, bool is_ours) {
  card_ = vision::merged(settings.as_card(),
                         is_ours ? read_card(key_) : vision::registered_card(names_));
  vision::ChosenDecoder chosen = vision::choose_decoder(card_, shapes_, input_);
  decoder_ = std::move(chosen.decoder);
  chosen_ = std::move(chosen.outputs);
  if (decoder_->family() == vision::Family::kClassification) {
    card_.task = vision::Task::kClassify;
  }
  if (card_.labels.empty()) {
    card_.labels = decoder_->usual_labels();
  }
  options_ = vision::options_of(card_, decoder_->family());
  labels_ = std::make_shared<const std::vector<std::string>>(card_.labels);
}

void ModelDecoder::check() const {
  if (refusal_) throw *refusal_;
}

bool ModelDecoder::fits(const InferenceOutputs& outputs) const {
  return outputs.tensors.size() == shapes_.size() && key_.is_of(outputs.meta) &&
         std::equal(shapes_.begin(), shapes_.end(), outputs.tensors.begin(),
                    [](const TensorView& shape, const GstNpuTensor& tensor) {
                      const TensorView view = view_of(tensor);
                      return view.name == shape.name && is_same_shape(view, shape);
                    });
}

const vision::Answer& ModelDecoder::decode(const InferenceOutputs& outputs,
                                           const GstNpuInferenceMeta* geometry,
                                           vision::FrameSize frame) {
  std::deque<TensorMapping> mappings;
  mapped_.clear();
  for (const std::size_t index : chosen_) {
    mapped_.push_back(mappings.emplace_back(outputs.tensors[index]).view());
  }
  decoder_->decode(mapped_, geometry_of(geometry, frame), frame, options_, &answer_);
  return answer_;
}

}  // namespace gstnpu

#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npuvision/decoder.hpp>

#include "answers/frame_answer.hpp"
#include "meta/npumeta.h"

#include "tensor_view.hpp"

namespace gstnpu {

/// Which of a YOLO tensor's dimensions is which.
enum class TensorLayout { kAuto, kChannelsFirst, kBoxesFirst, kEndToEnd };

/// Settings by the user. Empty ones come from the model's card.
struct DecoderSettings {
  npu::vision::Task task = npu::vision::Task::kUnknown;
  npu::vision::Family family = npu::vision::Family::kAuto;
  TensorLayout layout = TensorLayout::kAuto;
  std::string tensor_name;  ///< empty: the card's, else by shape
  std::string anchors;      ///< comma list of numbers
  std::optional<float> threshold;
  std::optional<float> iou_threshold;
  std::optional<std::uint32_t> max_detections;
  std::string labels;       ///< comma list
  std::string labels_file;  ///< counts where `labels` is empty

  /// Reads the labels. Throws npu::Error.
  npu::vision::ModelCard as_card() const;
};

/// Which model made tensors, as a buffer says it.
struct ModelKey {
  std::string model, labels, card;
  guint width = 0, height = 0;  ///< of its input

  bool operator==(const ModelKey&) const = default;
  bool is_of(const GstNpuInferenceMeta* meta) const;
};

/// Decodes one model's outputs by its card, the user's settings, and their shapes.
class ModelDecoder {
 public:
  /// Reads what lies beside the model, once, and keeps what is wrong with it.
  ModelDecoder(const DecoderSettings& settings, const InferenceOutputs& outputs);

  /// Whether it was made for such outputs.
  bool fits(const InferenceOutputs& outputs) const;
  /// Throws npu::Error where that or the settings are wrong, or the outputs are not known: then it
  /// decodes nothing.
  void check() const;

  /// In a frame of which `geometry`, which may be null, tells where the model's pixels are. Valid
  /// until the next call. Throws npu::Error.
  const npu::vision::Answer& decode(const InferenceOutputs& outputs,
                                    const GstNpuInferenceMeta* geometry,
                                    npu::vision::FrameSize frame);
  const npu::vision::ModelCard& card() const { return card_; }
  /// The card's.
  const LabelsRef& labels() const { return labels_; }
  /// Whether the last answer is missing, because values are not finite.
  bool was_undefined() const { return answer_.is_undefined; }

 private:
  void prepare(const DecoderSettings& settings, bool is_ours);

  const ModelKey key_;
  const npu::vision::InputSize input_;
  std::vector<npu::vision::TensorView> shapes_;  // of all outputs, without data
  std::vector<std::string> names_;               // theirs
  npu::vision::ModelCard card_;
  LabelsRef labels_;
  npu::vision::DecodeOptions options_;
  std::optional<npu::Error> refusal_;
  std::vector<std::size_t> chosen_;  // outputs that the decoder takes
  std::unique_ptr<npu::vision::Decoder> decoder_;
  npu::vision::Answer answer_;
  std::vector<npu::vision::TensorView> mapped_;  // scratch
};

}  // namespace gstnpu

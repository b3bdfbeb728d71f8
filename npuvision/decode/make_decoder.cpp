#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "cells.hpp"
#include "contract.hpp"
#include "families.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

// Each family's file ends with its contract.
std::span<const Contract* const> contracts() {
  // clang-format off
  static const std::vector<const Contract*> all = {
      &kYoloContract,
      &kYoloEndToEndContract,
      &kYoloObjectnessContract,
      &kYoloXContract,
      &kYoloV3HeadsContract,
      &kYoloV4HeadsContract,
      &kYoloV5HeadsContract,
      &kYoloV7HeadsContract,
      &kYoloNasContract,
      &kMaskRcnnContract,
      &kSsdContract,
      &kTfDetectionContract,
      &kTfliteDetectionContract,
      &kTorchvisionContract,
      &kCenterFaceContract,
      &kDetrContract,
      &kDetrDecodedContract,
      &kAnchorsContract,
      &kPicoDetContract,
      &kRtDetrContract,
      &kSimccContract,
      &kLandmarksContract,
      &kClassificationContract,
      &kSegmentationContract,
      &kMaskQueriesContract,
      &kAnomalyContract,
      &kDepthContract,
      &kEmbeddingContract,
      &kCtcContract,
      &kTextBoxesContract,
  };
  // clang-format on
  return all;
}

bool is_allowed(const Contract& contract, const ModelCard& card) {
  const bool may_be_cut =
      contract.family == Family::kYoloEndToEnd || contract.family == Family::kRtDetr;
  if (!card.host_postprocess.empty() && !may_be_cut) return false;
  if (card.family != Family::kAuto) return contract.family == card.family;
  return card.task == Task::kUnknown || contract.serves(card.task);
}

std::string what_is_known(const ModelCard& card) {
  std::string text;
  if (card.family != Family::kAuto) {
    text += std::string("family ") + to_string(card.family) + ", ";
  }
  if (card.task != Task::kUnknown) {
    text += std::string("task ") + to_string(card.task) + ", ";
  }
  return text + std::to_string(card.labels.size()) + " labels";
}

[[noreturn]] void refuse(const Found& found, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "the outputs " + describe(found.outputs) + " (" +
                                               what_is_known(found.card) + ") " + why);
}

struct Refusal {
  const Contract* contract;
  std::string why;
  /// Whether the shapes have nothing in common with the family's.
  bool is_far() const { return why.starts_with(kOtherTensors); }
};

/// For a single refusal, names what the outputs should have been; for several, only the reasons.
std::string text_of(const std::vector<Refusal>& refusals) {
  if (refusals.size() == 1) {
    const Refusal& only = refusals.front();
    return std::string(to_string(only.contract->family)) + " is " + only.contract->expects +
           ", but this " + only.why;
  }
  std::string text;
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    text += (i == 0 ? "no " : "; no ") + std::string(to_string(refusals[i].contract->family)) +
            ", because it " + refusals[i].why;
  }
  return text;
}

/// Names the families that come near; if none does, only the outputs.
[[noreturn]] void refuse_all(const Found& found, std::vector<Refusal> refusals) {
  const std::string& wanted = found.card.output;
  if (!wanted.empty() && !named_output(found.outputs, wanted)) {
    refuse(found, "have none named \"" + wanted +
                      "\", as tensor-name or the model's .modelinfo wants it: give one of these "
                      "names there");
  }
  if (refusals.empty() && !found.card.host_postprocess.empty()) {
    refuse(found,
           "are of a model whose end was cut off, which yolo-end-to-end alone decodes: leave "
           "model-family, model-task and tensor-layout unset, or set npuinfer's repair=none");
  }
  if (refusals.empty()) {
    refuse(found, "cannot be decoded: no family of models that is known has this task");
  }
  std::string names;
  for (const Refusal& one : refusals) {
    names += (names.empty() ? "" : ", ") + std::string(to_string(one.contract->family));
  }
  if (refusals.size() > 1) {
    std::erase_if(refusals, [](const Refusal& one) { return one.is_far(); });
  }
  const std::string reasons = text_of(refusals);
  refuse(found, "are those of no family of models that is known: " +
                    (reasons.empty() ? "none of " + names : reasons) +
                    "; set model-task or model-family, and labels, where the model does not "
                    "describe itself");
}

/// Decodes outputs that are in pixels of the picture to which the graph scales its input.
class InnerDecoder final : public Decoder {
 public:
  InnerDecoder(std::unique_ptr<Decoder> decoder, InputSize input, InputSize inner)
      : decoder_(std::move(decoder)),
        inner_(inner),
        scale_x_(static_cast<double>(inner.width) / input.width),
        scale_y_(static_cast<double>(inner.height) / input.height) {}

  Family family() const override { return decoder_->family(); }
  std::vector<std::string> usual_labels() const override { return decoder_->usual_labels(); }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override {
    const npu::FrameGeometry inner{.model_width = inner_.width,
                                   .model_height = inner_.height,
                                   .offset_x = geometry.offset_x * scale_x_,
                                   .offset_y = geometry.offset_y * scale_y_,
                                   .scale_x = geometry.scale_x / scale_x_,
                                   .scale_y = geometry.scale_y / scale_y_};
    decoder_->decode(outputs, inner, frame, options, answer);
  }

 private:
  const std::unique_ptr<Decoder> decoder_;
  const InputSize inner_;
  const double scale_x_, scale_y_;
};

}  // namespace

Decoder::~Decoder() = default;

DecodeOptions options_of(const ModelCard& card, Family family) {
  DecodeOptions options;
  const bool has_several = card.multilabel.value_or(false) || !card.level_values.empty();
  // With classes that exclude each other the best one is an answer whatever its score.
  const bool is_best_class =
      (card.task == Task::kClassify || family == Family::kClassification) && !has_several;
  // The object of key points fills the picture, however well each of them is seen.
  const bool fills = family == Family::kSimcc;
  if (is_best_class || fills) {
    options.confidence_threshold = 0;
  }
  // Each class that is present is part of the answer.
  if (has_several) {
    options.max_classes = std::numeric_limits<std::size_t>::max();
  }
  options.confidence_threshold = card.confidence_threshold.value_or(options.confidence_threshold);
  options.iou_threshold = card.iou_threshold.value_or(options.iou_threshold);
  options.suppresses = card.suppresses;
  options.is_class_agnostic = card.agnostic.value_or(false);
  options.max_objects = card.max_objects.value_or(options.max_objects);
  return options;
}

const Contract& fitting_contract(const Found& found) {
  if (!found.card.unknown.empty() && found.card.family == Family::kAuto) {
    refuse(found, "are of a model of the " + found.card.unknown +
                      ", which this version does not know: set model-family to what its outputs "
                      "are like, or make the model by another version");
  }
  std::vector<const Contract*> fitting;
  std::vector<Refusal> refusals;
  for (const Contract* contract : contracts()) {
    if (!is_allowed(*contract, found.card)) continue;
    std::string why = contract->refusal(found);
    if (why.empty()) {
      fitting.push_back(contract);
    } else {
      refusals.push_back({contract, std::move(why)});
    }
  }
  if (fitting.empty()) {
    refuse_all(found, std::move(refusals));
  }
  if (fitting.size() == 1) return *fitting.front();
  std::string names;
  for (const Contract* contract : fitting) {
    names += (names.empty() ? "" : " or ") + std::string(to_string(contract->family));
  }
  refuse(found, "could be those of " + names + ": set model-task or model-family");
}

std::unique_ptr<Decoder> make_decoder(const ModelCard& card, std::span<const TensorView> outputs,
                                      InputSize input) {
  const Found found{card, outputs, input};
  const InputSize inner = inner_size(found);
  if (have_cells(outputs, input) || !have_cells(outputs, inner)) {
    return fitting_contract(found).make(found);
  }
  const Found scaled{card, outputs, inner};
  return std::make_unique<InnerDecoder>(fitting_contract(scaled).make(scaled), input, inner);
}

std::string doubt_about_pixels(const ModelCard& card, std::span<const TensorView> outputs,
                               InputSize input) {
  constexpr std::array kInPixels{Family::kYolo,    Family::kYoloEndToEnd, Family::kYoloObjectness,
                                 Family::kYoloX,   Family::kYoloNas,      Family::kTorchvision,
                                 Family::kMaskRcnn};
  const InputSize inner = inner_size({card, outputs, input});
  if (inner.width == 0 || have_cells(outputs, input)) return "";
  try {
    const Family family = make_decoder(card, outputs, input)->family();
    if (std::find(kInPixels.begin(), kInPixels.end(), family) == kInPixels.end()) return "";
  } catch (const Error&) {
    return "";  // whoever decodes will be told
  }
  const auto words = [](InputSize size) {
    return std::to_string(size.width) + "x" + std::to_string(size.height);
  };
  const bool are_inner = have_cells(outputs, inner);
  return "the graph scales its picture from " + words(input) + " to " + words(inner) +
         " first; boxes are taken as pixels of " +
         (are_inner ? words(inner) + ", as they are as many as its cells"
                    : words(input) + ", though nothing shows which ones they are") +
         ": if objects are too large or lie in a corner, make the model without that step";
}

}  // namespace npu::vision

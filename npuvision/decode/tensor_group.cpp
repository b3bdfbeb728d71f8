// Names in the tensor registry: https://github.com/collabora/tensor-id-registry
#include <algorithm>

#include <npucore/error.hpp>
#include <npuvision/tensor_group.hpp>

#include "yolo/head.hpp"

#include "contract.hpp"

namespace npu::vision {
namespace {

constexpr const char* kYoloRaw = "yolo-v8-out";
constexpr const char* kYoloMasks = "yolo-v8-segmentation-out";
constexpr const char* kYoloOriented = "yolo-v8-obb-out";
constexpr const char* kYoloEndToEnd = "yolo-26-end2end-out";
constexpr const char* kLogits = "classification-generic-out";
constexpr const char* kProbabilities = "classification-generic-softmaxed-out";

TensorGroup no_group(std::size_t outputs) {
  return {.id = {}, .outputs = std::vector<RegisteredTensor>(outputs)};
}

/// The registry only has tensors with classes in rows.
TensorGroup raw_yolo_group(const Found& found) {
  TensorGroup group = no_group(found.outputs.size());
  const YoloHead head = read_raw_head(found).head;
  if (!head.channels_first) return group;
  std::string output;
  switch (head.task) {
    case Task::kDetect:
      group.id = output = kYoloRaw;
      break;
    case Task::kOriented:
      group.id = output = kYoloOriented;
      break;
    case Task::kSegment:
      if (!head.protos) return group;
      group.id = kYoloMasks;
      output = group.id + "-detections";
      group.outputs[*head.protos] = {group.id + "-protos", true};
      break;
    default:
      return group;
  }
  group.outputs[head.output] = {output, true};
  return group;
}

TensorGroup end_to_end_group(const Found& found) {
  TensorGroup group = no_group(found.outputs.size());
  // The registry has no tensors without their end.
  if (!found.card.host_postprocess.empty()) return group;
  const YoloHead head = read_end_to_end_head(found).head;
  if (head.task == Task::kDetect && head.values == YoloHead::kEndToEndValues) {
    group.id = kYoloEndToEnd;
    group.outputs[head.output].id = kYoloEndToEnd;
  }
  return group;
}

/// The shape does not show whether the graph ends with a softmax: Ultralytics' exports do, Hugging
/// Face's end with logits.
TensorGroup classification_group(const Found& found) {
  TensorGroup group = no_group(found.outputs.size());
  const auto origin = found.card.origins.find("task");
  const bool is_row = found.outputs.size() == 1 && found.outputs.front().rank <= 2;
  if (!is_row || found.card.multilabel.value_or(false) || origin == found.card.origins.end()) {
    return group;
  }
  if (origin->second == "metadata.yaml") {
    group.id = kProbabilities;
  } else if (origin->second == "config.json") {
    group.id = kLogits;
  }
  group.outputs.front().id = group.id;
  group.is_in_model_pixels = false;
  return group;
}

TensorGroup group_of_family(Family family, const Found& found) {
  switch (family) {
    case Family::kYolo:
      return raw_yolo_group(found);
    case Family::kYoloEndToEnd:
      return end_to_end_group(found);
    case Family::kClassification:
      return classification_group(found);
    default:
      return no_group(found.outputs.size());
  }
}

/// Outputs that fit no family have no group.
TensorGroup shown_group(const Found& found) {
  try {
    const auto decoder = make_decoder(found.card, found.outputs, found.input);
    return group_of_family(decoder->family(), found);
  } catch (const Error&) {
    return no_group(found.outputs.size());
  }
}

}  // namespace

TensorGroup tensor_group_of(const ModelCard& card, std::span<const TensorView> outputs,
                            InputSize input) {
  const auto named = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const TensorView& one) { return one.name == card.output; });
  if (card.output.empty() || named == outputs.end()) return shown_group({card, outputs, input});
  const auto index = static_cast<std::size_t>(named - outputs.begin());
  TensorGroup one = shown_group({card, outputs.subspan(index, 1), input});
  TensorGroup group = no_group(outputs.size());
  group.id = std::move(one.id);
  group.outputs[index] = std::move(one.outputs.front());
  group.is_in_model_pixels = one.is_in_model_pixels;
  return group;
}

}  // namespace npu::vision

// Names in the tensor registry: https://github.com/collabora/tensor-id-registry
#include <algorithm>
#include <string_view>

#include <npucore/error.hpp>
#include <npuvision/tensor_group.hpp>

#include "families.hpp"

namespace npu::vision {
namespace {

TensorGroup no_group(std::size_t outputs) {
  return {.id = {}, .outputs = std::vector<RegisteredTensor>(outputs)};
}

struct Registered {
  std::string_view id;
  Task task;
  Family family;
};

constexpr Registered kRegistered[] = {
    {"yolo-v8-out", Task::kDetect, Family::kYolo},
    {"yolo-v8-segmentation-out-detections", Task::kSegment, Family::kYolo},
    {"yolo-v8-obb-out", Task::kOriented, Family::kYolo},
    {"yolo-26-end2end-out", Task::kDetect, Family::kYoloEndToEnd},
    {"yolox-out", Task::kDetect, Family::kYoloX},
    {"ssd-mobilenet-v1-variant-1-out-boxes", Task::kDetect, Family::kTfDetection},
    {"classification-generic-out", Task::kClassify, Family::kClassification},
    {"classification-generic-softmaxed-out", Task::kClassify, Family::kClassification},
};

/// Outputs that fit no family have no group.
TensorGroup shown_group(const Found& found) {
  TensorGroup group = no_group(found.outputs.size());
  try {
    const Contract& contract = fitting_contract(found);
    if (contract.name_tensors) {
      contract.name_tensors(found, &group);
    }
  } catch (const Error&) {
  }
  return group;
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

ModelCard registered_card(std::span<const std::string> ids) {
  ModelCard card;
  for (const std::string& id : ids) {
    const auto* const row = std::find_if(std::begin(kRegistered), std::end(kRegistered),
                                         [&](const Registered& one) { return one.id == id; });
    if (row == std::end(kRegistered)) continue;
    card.task = row->task;
    card.family = row->family;
    if (row->family == Family::kYolo) {
      card.channels_first = true;
    }
    break;
  }
  return card;
}

}  // namespace npu::vision

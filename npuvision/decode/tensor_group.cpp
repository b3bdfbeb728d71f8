// Names in the tensor registry: https://github.com/collabora/tensor-id-registry
#include <algorithm>

#include <npucore/error.hpp>
#include <npuvision/tensor_group.hpp>

#include "families.hpp"

namespace npu::vision {
namespace {

TensorGroup no_group(std::size_t outputs) {
  return {.id = {}, .outputs = std::vector<RegisteredTensor>(outputs)};
}

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

}  // namespace npu::vision

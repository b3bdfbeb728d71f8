#include <algorithm>

#include <npuvision/tensor_group.hpp>

#include "model_info.hpp"

namespace npu::vision {
namespace {

/// Finds a section by name. A single section belongs to a single output whatever its name.
const ModelInfoTensor* section_of(const ModelInfo& info, const TensorView& output,
                                  std::size_t outputs) {
  if (const auto* named = info.find_output(std::string(output.name))) return named;
  const auto is_output = [](const ModelInfoTensor& tensor) { return !tensor.is_input; };
  if (outputs != 1 || std::ranges::count_if(info.tensors, is_output) != 1) return nullptr;
  return &*std::ranges::find_if(info.tensors, is_output);
}

}  // namespace

TensorGroup read_tensor_group(const std::filesystem::path& model,
                              std::span<const TensorView> outputs) {
  TensorGroup group{.id = {}, .outputs = std::vector<RegisteredTensor>(outputs.size())};
  const auto path = find_model_info(model.string());
  if (!path) return group;
  const ModelInfo info = read_model_info(*path);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ModelInfoTensor* section = section_of(info, outputs[i], outputs.size());
    if (section == nullptr || section->id.empty()) continue;
    group.id = info.group_id;
    group.outputs[i] = {section->id, section->is_column_major};
  }
  group.is_in_model_pixels = !group.id.starts_with("classification-generic-");
  return group;
}

}  // namespace npu::vision

#include <array>

#include "base/text.hpp"

#include "frozen_input.hpp"
#include "repair.hpp"

namespace npu::ir {

/// PaddleDetection's heads divide boxes by scale_factor, [height, width]: the picture's size
/// divided by the frame's.
std::optional<std::string> freeze_scale_factor(Model::Impl& model) {
  constexpr const char* kInput = "scale_factor";
  const auto input = find_pair_input(model, kInput);
  if (!input || model.inputs[input->at].type != ElementType::kF32) return {};
  freeze(model, *input, std::array{1.0F, 1.0F});
  return base::text("input ", kInput, " frozen to 1: boxes are in the model's pixels");
}

}  // namespace npu::ir

#include "own_scaling.hpp"

#include <cmath>

namespace gstnpu {

npu::FrameGeometry own_scaling(const std::map<std::string, std::string>& model_info,
                               const npu::vision::ModelCard& card, std::uint32_t width,
                               std::uint32_t height, std::pair<std::uint32_t, std::uint32_t> own) {
  npu::Preprocess scaling{npu::FrameLayout::tight(npu::PixelFormat::kRGB, width, height)};
  const auto embedded = model_info.find("embedded_processing");
  if (embedded != model_info.end() && !embedded->second.empty()) {
    scaling.resize = card.resize.value_or(npu::ResizeMode::kStretch);
  }
  return npu::geometry_of(scaling, own.first, own.second);
}

std::vector<std::string> stretch_warnings(const npu::FrameGeometry& geometry, std::uint32_t width,
                                          std::uint32_t height,
                                          std::optional<npu::ResizeMode> wanted,
                                          const std::string& cure) {
  const bool is_stretched = std::abs(geometry.scale_x - geometry.scale_y) > 0.01 * geometry.scale_x;
  if (!is_stretched || wanted != npu::ResizeMode::kLetterbox) return {};
  return {"the graph stretches frames of " + std::to_string(width) + "x" + std::to_string(height) +
          " to " + std::to_string(geometry.model_width) + "x" +
          std::to_string(geometry.model_height) +
          ", but the model's card says that it was trained with borders (letterbox), so objects "
          "may be missed: " +
          cure};
}

}  // namespace gstnpu

// https://github.com/pytorch/vision/blob/main/torchvision/models/detection/anchor_utils.py, and the
// detectors' own files beside it.
#include "torchvision_anchors.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace npu::vision {
namespace {

constexpr std::size_t kSsdLevels = 6, kPyramidLevels = 5;

std::size_t half(std::size_t side) {
  return (side + 1) / 2;
}

/// Each grid has half the side of the one before, rounded up.
template <std::size_t levels>
std::array<std::size_t, levels> halved(std::size_t side, std::size_t first_stride) {
  std::array<std::size_t, levels> sides{};
  for (std::size_t i = 0; i < levels; ++i) {
    sides.at(i) = i == 0 ? (side + first_stride - 1) / first_stride : half(sides.at(i - 1));
  }
  return sides;
}

/// Two squares, and two oblongs for each ratio. Scales are shares of the input.
std::vector<Anchor> default_boxes(double scale, double next_scale, std::size_t ratios,
                                  InputSize input) {
  std::vector<Anchor> shapes;
  const auto add = [&](double width, double height) {
    shapes.push_back(
        {0, 0, std::min(width, 1.0) * input.width, std::min(height, 1.0) * input.height});
  };
  add(scale, scale);
  const double between = std::sqrt(scale * next_scale);
  add(between, between);
  for (std::size_t ratio = 2; ratio < 2 + ratios; ++ratio) {
    const double root = std::sqrt(static_cast<double>(ratio));
    add(scale * root, scale / root);
    add(scale / root, scale * root);
  }
  return shapes;
}

/// SSD300 of VGG16.
std::vector<AnchorLevel> ssd(InputSize input) {
  constexpr std::uint32_t kSide = 300;
  constexpr std::array<std::size_t, kSsdLevels> kGrids{38, 19, 10, 5, 3, 1},
      kRatios{1, 2, 2, 2, 1, 1};
  constexpr std::array<double, kSsdLevels> kSteps{8, 16, 32, 64, 100, 300};
  constexpr std::array<double, kSsdLevels + 1> kScales{0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05};
  if (input.width != kSide || input.height != kSide) return {};
  std::vector<AnchorLevel> levels;
  for (std::size_t i = 0; i < kSsdLevels; ++i) {
    levels.push_back({kGrids.at(i), kGrids.at(i), kSteps.at(i), kSteps.at(i), 0.5,
                      default_boxes(kScales.at(i), kScales.at(i + 1), kRatios.at(i), input)});
  }
  return levels;
}

std::vector<AnchorLevel> ssd_lite(InputSize input) {
  constexpr double kLeast = 0.2, kMost = 0.95;
  const auto columns = halved<kSsdLevels>(input.width, 16),
             rows = halved<kSsdLevels>(input.height, 16);
  const auto scale = [](std::size_t level) {
    const auto last = static_cast<double>(kSsdLevels - 1);
    return level == kSsdLevels ? 1.0
                               : kLeast + (kMost - kLeast) * static_cast<double>(level) / last;
  };
  std::vector<AnchorLevel> levels;
  for (std::size_t i = 0; i < kSsdLevels; ++i) {
    levels.push_back({columns.at(i), rows.at(i),
                      static_cast<double>(input.width) / static_cast<double>(columns.at(i)),
                      static_cast<double>(input.height) / static_cast<double>(rows.at(i)), 0.5,
                      default_boxes(scale(i), scale(i + 1), 2, input)});
  }
  return levels;
}

/// Three sizes of three proportions; edges are whole pixels.
std::vector<Anchor> retina_shapes(double size) {
  std::vector<Anchor> shapes;
  for (const double ratio : {0.5, 1.0, 2.0}) {
    for (const double third : {0.0, 1.0, 2.0}) {
      const double side = std::floor(size * std::pow(2, third / 3));
      const double root = std::sqrt(ratio);
      shapes.push_back(
          {0, 0, 2 * std::nearbyint(side / root / 2), 2 * std::nearbyint(side * root / 2)});
    }
  }
  return shapes;
}

/// Grids of the feature pyramid's levels 3 to 7. Steps are whole pixels, from the picture's corner.
template <typename Shapes>
std::vector<AnchorLevel> pyramid(InputSize input, const Shapes& shapes) {
  const auto columns = halved<kPyramidLevels>(input.width, 8),
             rows = halved<kPyramidLevels>(input.height, 8);
  std::vector<AnchorLevel> levels;
  for (std::size_t i = 0; i < kPyramidLevels; ++i) {
    const std::size_t across = input.width / columns.at(i), down = input.height / rows.at(i);
    levels.push_back({columns.at(i), rows.at(i), static_cast<double>(across),
                      static_cast<double>(down), 0, shapes(std::exp2(static_cast<double>(i)))});
  }
  return levels;
}

}  // namespace

Anchor AnchorLevel::at(std::size_t index) const {
  const std::size_t cell = index / shapes.size(), column = cell % columns, row = cell / columns;
  Anchor anchor = shapes[index % shapes.size()];
  anchor.x = (static_cast<double>(column) + middle) * step_x;
  anchor.y = (static_cast<double>(row) + middle) * step_y;
  return anchor;
}

std::vector<AnchorLevel> torchvision_anchors(TorchvisionForm form, InputSize input) {
  if (input.width == 0 || input.height == 0) return {};
  switch (form) {
    case TorchvisionForm::kSsd:
      return ssd(input);
    case TorchvisionForm::kSsdLite:
      return ssd_lite(input);
    case TorchvisionForm::kRetinaNet:
      return pyramid(input, [](double factor) { return retina_shapes(32 * factor); });
    default:
      return pyramid(input, [](double factor) {
        return std::vector<Anchor>{{0, 0, 8 * factor, 8 * factor}};
      });
  }
}

}  // namespace npu::vision

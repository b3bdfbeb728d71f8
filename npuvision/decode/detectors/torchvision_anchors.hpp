// Anchors of torchvision's detectors, made from the size of the model's input.
#pragma once

#include <cstddef>
#include <vector>

#include <npuvision/decoder.hpp>

namespace npu::vision {

/// Detectors by what differs in their heads and anchors.
enum class TorchvisionForm { kSsd, kSsdLite, kRetinaNet, kFcos };

/// Model pixels.
struct Anchor {
  double x = 0, y = 0, width = 0, height = 0;  ///< x, y: of the centre
};

/// Anchors of a grid: cell after cell, row after row, each with all shapes.
struct AnchorLevel {
  std::size_t columns = 0, rows = 0;
  double step_x = 0, step_y = 0;  ///< model pixels from cell to cell
  double middle = 0;              ///< of the first cell, in steps
  std::vector<Anchor> shapes;     ///< width and height alone

  std::size_t size() const { return columns * rows * shapes.size(); }
  Anchor at(std::size_t index) const;
};

/// Levels from the finest grid on. Empty where the form has no such input.
std::vector<AnchorLevel> torchvision_anchors(TorchvisionForm form, InputSize input);

}  // namespace npu::vision

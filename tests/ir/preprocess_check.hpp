#pragma once

#include <string>
#include <vector>

#include <npucore/frame.hpp>

#include "openvino_run.hpp"

namespace npu::test {

/// The image input of a model that gives out what it gets.
struct ImageModel {
  std::string type = "f32";
  std::vector<int> shape{1, 3, 12, 16};
  std::string layout;  ///< "[N,C,H,W]"; empty: nothing is said
};

struct Difference {
  double largest = 0;  ///< in grey levels
  std::string where;
};

/// A part of a frame, in its visible pixels; width 0: all of it.
struct Part {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
};

/// Adds the pre-processing to such a model, runs a noisy frame through it and compares every value
/// with the reference. Throws when a written shape is wrong.
Difference difference_from_reference(const ImageModel& image, const Preprocess& preprocess, By by,
                                     const Part& seen = {});

}  // namespace npu::test

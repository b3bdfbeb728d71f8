#pragma once

#include <cstdint>

#include <npucore/frame.hpp>

namespace npu::ir {

/// The frame's place in the model's picture, in model pixels.
struct Placement {
  std::uint32_t width = 0, height = 0;                     ///< of the resized frame
  std::uint32_t left = 0, top = 0, right = 0, bottom = 0;  ///< borders
  FrameGeometry geometry;
};

/// The part of the frame that the model sees: all of it, except for a centre crop.
FrameLayout seen_part(const Preprocess& preprocess, std::uint32_t model_width,
                      std::uint32_t model_height);

/// Places the seen part of a frame.
Placement place_frame(const FrameLayout& frame, std::uint32_t model_width,
                      std::uint32_t model_height, ResizeMode resize);

}  // namespace npu::ir

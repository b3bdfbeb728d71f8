#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/graph_builder.hpp"
#include "ir/placement.hpp"
#include "npucore/frame.hpp"

namespace npu::ir {

bool is_yuv(PixelFormat format);
/// "y", "uv": what the names of a format's plane inputs end in; one empty string for packed ones.
std::vector<std::string> plane_suffixes(PixelFormat format);

/// The plane inputs of a frame: makes parameters, and the visible part of each as a picture.
class FramePlanes {
 public:
  FramePlanes(GraphBuilder& builder, const FrameLayout& frame, const Port& replaced);

  /// Plane `index`, resized to `place` without borders: f32, NCHW, values as they lie in memory.
  Value picture(std::size_t index, const Placement& place);
  /// Tensor names of the inputs made so far, in the order of picture() calls.
  const std::vector<std::string>& input_names() const { return input_names_; }

 private:
  struct Plane {
    std::string suffix;
    std::int64_t bytes_per_sample, samples_kept, subsampling;
    PlaneLayout layout;
  };
  Plane plane(std::size_t index) const;
  Value parameter(const Plane& plane);
  Value visible(const Plane& plane, const Value& input);

  GraphBuilder& builder_;
  const FrameLayout& frame_;
  const Port& replaced_;
  std::vector<std::string> input_names_;
};

}  // namespace npu::ir

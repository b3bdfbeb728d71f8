#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <npucore/frame.hpp>

#include "ir/graph/graph_builder.hpp"

#include "placement.hpp"

namespace npu::ir {

/// Endings of the names of a format's plane inputs: "y", "uv"; one empty string for packed formats.
std::vector<std::string> plane_suffixes(PixelFormat format);

/// A picture of components that a plane holds, and its channels: component = sum over the channels
/// of share times value.
struct PlaneView {
  enum Component { kY = 0, kCb = 1, kCr = 2, kR = 0, kG = 1, kB = 2 };
  struct Channel {
    Component component;
    double share;  ///< 0 for a filler channel
  };
  std::string name;
  std::size_t plane = 0;
  std::vector<Channel> channels;     ///< in the order of their bytes, without filler around
  bool full_width_of_pairs = false;  ///< the Y of YUY2 and UYVY: a sample holds two
  std::size_t first_byte = 0;        ///< of the channels in a sample, or in a pixel of a pair
};
/// Y first.
std::vector<PlaneView> plane_views(PixelFormat format);

/// The plane inputs of a frame: makes parameters, and a picture of each plane's visible part.
class FramePlanes {
 public:
  FramePlanes(GraphBuilder& builder, const FrameLayout& frame, const Port& replaced);

  /// The visible part of a plane: u8, [1, rows, columns, bytes of a sample]. Call it once a plane.
  Value bytes(std::size_t index);
  /// The picture resized to `place` without borders: f32, NCHW, values as they lie in memory.
  Value picture(const PlaneView& view, const Placement& place);
  /// Tensor names of the inputs made so far, in plane order.
  const std::vector<std::string>& input_names() const { return input_names_; }

 private:
  struct Plane {
    std::string suffix;
    PlaneShape shape;
    PlaneLayout layout;
  };
  Plane plane(std::size_t index) const;
  Value parameter(const Plane& plane);
  Value visible(const Plane& plane, const Value& input);
  /// The kept part of the view's plane, once for all its views: f32, [1, rows, columns, bytes].
  Value samples(const PlaneView& view, bool resized);
  Value planar(const std::string& name, const Value& samples);
  Value luma_of_pairs(const PlaneView& view, const Value& samples);
  Value resize(const std::string& name, const Value& value, const PlaneShape& shape,
               const Placement& place);

  GraphBuilder& builder_;
  const FrameLayout& frame_;
  const Port& replaced_;
  std::vector<std::string> input_names_;
  std::vector<std::optional<Value>> samples_;  ///< of each plane that was asked for
};

}  // namespace npu::ir

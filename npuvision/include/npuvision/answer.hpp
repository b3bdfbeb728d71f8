#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <npucore/types.hpp>

namespace npu::vision {

struct FrameSize {
  std::uint32_t width = 0, height = 0;  ///< pixels
};

/// A box that is turned about its centre; frame pixels, angle in radians, clockwise, from -pi/2
/// up to, not including, pi/2.
struct OrientedBox {
  double center_x = 0, center_y = 0, width = 0, height = 0;
  double angle = 0;
};

struct KeyPoint {
  double x = 0, y = 0;   ///< frame pixels, inside the frame
  float confidence = 1;  ///< 0..1: that it is there, or is visible; 1 where the model does not say
};

/// Which part of the frame belongs to an object: inside its box, but for a few families whose
/// authors leave what is outside (docs/models.md). Columns and rows of equal size, row after row.
/// One for each pixel of the frame, fewer where those of all masks would be more than
/// kMostMaskPixels.
struct Mask {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;  ///< frame pixels, inside the frame
  std::uint32_t columns = 0, rows = 0;                ///< at most width and height
  std::size_t first = 0;                              ///< of Answer::mask_pixels
};

/// Of the masks of one frame together.
inline constexpr std::size_t kMostMaskPixels = std::size_t{32} << 20;

/// A thing that was found; edges in frame pixels, inside the frame, never empty.
struct Object {
  double left = 0, top = 0, right = 0, bottom = 0;
  float confidence = 0;  ///< 0..1
  std::uint32_t label_id = 0;
  std::optional<OrientedBox> oriented;  ///< the edges above are those that enclose it
};

struct ClassScore {
  std::uint32_t label_id = 0;
  float confidence = 0;  ///< 0..1
};

/// A value for each place of what the model saw of the frame, at its resolution: all of the frame,
/// or its middle where it was cropped (ResizeMode::kCrop).
template <typename Value>
struct Map {
  std::uint32_t width = 0, height = 0;
  std::vector<Value> values;  ///< row after row
  bool empty() const { return values.empty(); }
};

/// What a model says of one frame, or of one object in it. A decoder fills what its model gives;
/// the rest is empty. Keeps its memory from frame to frame.
struct NPU_API Answer {
  std::vector<Object> objects;  ///< best first

  /// Of each object in turn the same number, or none at all.
  std::size_t key_points_per_object = 0;
  std::vector<KeyPoint> key_points;
  std::span<const KeyPoint> key_points_of(std::size_t object) const {
    return std::span(key_points).subspan(object * key_points_per_object, key_points_per_object);
  }

  /// One for each object, or none at all; 255: belongs to it, else 0.
  std::vector<Mask> masks;
  std::vector<std::uint8_t> mask_pixels;

  std::vector<ClassScore> classes;       ///< of all that the model saw, best first
  Map<std::uint16_t> class_map;          ///< label ids: semantic segmentation
  Map<float> value_map;                  ///< depth, relative; anomaly, 0..1
  std::optional<float> anomaly;          ///< 0..1: how unlike what is normal
  std::vector<float> embedding;          ///< of length 1
  std::string text;                      ///< UTF-8
  std::optional<float> text_confidence;  ///< 0..1; none where no text was read

  /// There is no answer, because values that all of it would be made of are not finite.
  bool is_undefined = false;

  /// As new, but with its memory.
  void clear();
};

}  // namespace npu::vision

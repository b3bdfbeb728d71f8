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

/// A box turned about its centre, in frame pixels. The angle is in radians, clockwise, from -pi/2
/// up to, not including, pi/2.
struct OrientedBox {
  double center_x = 0, center_y = 0, width = 0, height = 0;
  double angle = 0;
};

struct KeyPoint {
  double x = 0, y = 0;   ///< frame pixels, inside the frame
  float confidence = 1;  ///< 0..1: that it is there, or visible; 1 where the model does not say
};

/// The part of the frame that belongs to an object. It lies inside the object's box, except for a
/// few families whose authors do not cut it off (docs/models.md). Columns and rows have equal size,
/// and values go row after row: one for each pixel of the frame, or fewer if all masks together
/// would exceed kMostMaskPixels.
struct Mask {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;  ///< frame pixels, inside the frame
  std::uint32_t columns = 0, rows = 0;                ///< at most width and height
  std::size_t first = 0;                              ///< index in Answer::mask_pixels
};

/// Limit for all masks of a frame together.
inline constexpr std::size_t kMostMaskPixels = std::size_t{32} << 20;

/// A detected object; edges in frame pixels, inside the frame, never empty.
struct Object {
  double left = 0, top = 0, right = 0, bottom = 0;
  float confidence = 0;  ///< 0..1
  std::uint32_t label_id = 0;
  std::optional<OrientedBox> oriented;  ///< then the edges above enclose it
};

struct ClassScore {
  std::uint32_t label_id = 0;
  float confidence = 0;  ///< 0..1
};

/// A value for each cell of the model's view of the frame, at the model's resolution: the whole
/// frame, or its middle where it was cropped (ResizeMode::kCrop).
template <typename Value>
struct Map {
  std::uint32_t width = 0, height = 0;
  std::vector<Value> values;  ///< row after row
  bool empty() const { return values.empty(); }
};

/// A model's results for one frame, or for one object in it. A decoder fills the fields that its
/// model gives and leaves the rest empty. Keeps its memory from frame to frame.
struct NPU_API Answer {
  std::vector<Object> objects;  ///< best first

  /// The same number for each object; 0: none has key points.
  std::size_t key_points_per_object = 0;
  std::vector<KeyPoint> key_points;
  std::span<const KeyPoint> key_points_of(std::size_t object) const {
    return std::span(key_points).subspan(object * key_points_per_object, key_points_per_object);
  }

  /// A mask for each object, or none at all. Pixels are 255 where they belong to the object, else
  /// 0.
  std::vector<Mask> masks;
  std::vector<std::uint8_t> mask_pixels;

  std::vector<ClassScore> classes;       ///< of the whole view of the model, best first
  Map<std::uint16_t> class_map;          ///< label ids: semantic segmentation
  Map<float> value_map;                  ///< depth, relative; anomaly, 0..1
  std::optional<float> anomaly;          ///< 0..1: deviation from normal
  std::vector<float> embedding;          ///< length 1
  std::string text;                      ///< UTF-8
  std::optional<float> text_confidence;  ///< 0..1; nullopt where no text was read

  /// True where the answer is empty because its values are not finite.
  bool is_undefined = false;

  /// Empties the answer but keeps its memory.
  void clear();
};

}  // namespace npu::vision

#pragma once

#include <span>

#include <npucore/types.hpp>

namespace npu {

/// Pixel formats of frames, by GStreamer's names. NV21 is NV12, and YV12 is I420, with Cr before
/// Cb. NV16 is NV12 in 4:2:2; YUY2 (DRM: YUYV) and UYVY are that in one plane, Y Cb Y Cr and Cb Y
/// Cr Y. P010 ("P010_10LE") is NV12 of 10 bits, in the upper bits of little-endian 16. GRAY16
/// ("GRAY16_LE") has little-endian 16. ARGB and ABGR begin with alpha, which is not looked at.
// clang-format off
enum class PixelFormat { kNV12, kI420, kRGB, kBGR, kRGBx, kBGRx, kGray8, kNV21, kYUY2, kP010,
                         kYV12, kNV16, kARGB, kABGR, kUYVY, kGray16 };
// clang-format on

/// Y'CbCr matrix of ITU-R BT.601 (kr .299, kb .114), BT.709 (.2126, .0722), BT.2020 (.2627, .0593).
enum class ColorMatrix { kBT601, kBT709, kBT2020 };
/// kLimited: Y 16..235, CbCr 16..240; n bits: times 2^(n-8). kFull: 0..255; n bits: 0..2^n-1.
enum class ColorRange { kLimited, kFull };
/// How a picture of another size or aspect ratio becomes the model's: kStretch fills it, kLetterbox
/// keeps the aspect ratio, centred in borders of pad_value, kFitToWindow has them right or below,
/// kCrop fills it with the largest middle part of its aspect ratio, to the nearest whole sample.
/// All interpolate linearly, without a filter: frames more than twice as large alias.
enum class ResizeMode { kStretch, kLetterbox, kCrop, kFitToWindow };
enum class ChannelOrder { kRGB, kBGR };  ///< the order that the model expects

NPU_API std::vector<PixelFormat> pixel_formats();  ///< all of them
NPU_API const char* to_string(PixelFormat format);
NPU_API const char* to_string(ColorMatrix matrix);
NPU_API const char* to_string(ColorRange range);
NPU_API const char* to_string(ResizeMode mode);
NPU_API const char* to_string(ChannelOrder order);
/// The inverse of to_string; throws Error(kInvalidArgument) that lists the valid names.
NPU_API PixelFormat pixel_format_from_string(const std::string& name);
NPU_API ColorMatrix color_matrix_from_string(const std::string& name);
NPU_API ColorRange color_range_from_string(const std::string& name);
NPU_API ResizeMode resize_mode_from_string(const std::string& name);
NPU_API ChannelOrder channel_order_from_string(const std::string& name);

/// The samples that a format's plane is made of. A sample lies together in memory: Cb and Cr of
/// NV12, the pixels Y Cb Y Cr of YUY2. Samples of an odd width or height reach beyond the picture.
struct PlaneShape {
  std::uint32_t sample_bytes = 1;
  std::uint32_t pixels_x = 1, pixels_y = 1;  ///< covered by a sample, across and down
  /// Samples that cover the pixels `begin` to `begin + count`.
  std::uint32_t columns(std::uint32_t begin, std::uint32_t count) const {
    return covering(begin, count, pixels_x);
  }
  std::uint32_t rows(std::uint32_t begin, std::uint32_t count) const {
    return covering(begin, count, pixels_y);
  }

 private:
  static std::uint32_t covering(std::uint64_t begin, std::uint64_t count, std::uint32_t pixels) {
    return static_cast<std::uint32_t>((begin + count + pixels - 1) / pixels - begin / pixels);
  }
};
NPU_API std::span<const PlaneShape> plane_shapes(PixelFormat format);  ///< one for each plane

/// One plane's layout in memory, from the start of its tensor.
struct PlaneLayout {
  std::uint32_t stride_bytes = 0;  ///< from one row to the next, at least the row's visible bytes
  std::uint32_t rows = 0;          ///< in memory, at least the visible ones of this plane
  bool operator==(const PlaneLayout&) const = default;
};

/// Everything about a frame that a compiled graph depends on.
struct NPU_API FrameLayout {
  PixelFormat format = PixelFormat::kRGB;
  std::uint32_t width = 0, height = 0;  ///< visible pixels
  /// Upper left corner of the visible part inside the planes, in pixels. An odd one gives the graph
  /// more to compute if the format's chroma is subsampled.
  std::uint32_t crop_left = 0, crop_top = 0;
  ColorMatrix matrix = ColorMatrix::kBT601;  ///< ignored for RGB formats going into a colour model
  ColorRange range = ColorRange::kLimited;   ///< for Y'CbCr formats and grey
  /// NV12, NV21, NV16, P010: Y, CbCr. I420: Y, Cb, Cr. YV12: Y, Cr, Cb. The others: one.
  std::vector<PlaneLayout> planes;

  /// A layout without padding: the smallest strides and rows that the format allows.
  static FrameLayout tight(PixelFormat format, std::uint32_t width, std::uint32_t height);
  std::size_t plane_size_bytes(std::size_t index) const;  ///< that the graph reads: stride * rows
  /// Throws Error(kInvalidArgument) that names the first impossible number.
  void validate() const;
  /// One line, also for cache keys: "NV12 1920x1080 bt709 limited, planes 2048x1080 2048x540".
  std::string describe() const;
  bool operator==(const FrameLayout&) const = default;
};

/// The steps from a frame in the producer's buffer to the model's own input, done in the graph.
struct Preprocess {
  FrameLayout frame;
  std::string input;  ///< the image input, by name or tensor name; empty: the only one of rank 4
  ResizeMode resize = ResizeMode::kStretch;
  float crop_share = 1;   ///< kCrop: share of that part's sides to keep, above 0 up to 1
  float pad_value = 114;  ///< letterbox border, in grey levels 0..255
  ChannelOrder channels = ChannelOrder::kRGB;
  /// The model sees (x - mean) / scale, x in grey levels 0..255. One value, or one per channel in
  /// the model's order. Empty: mean 0, scale 1.
  std::vector<float> mean, scale;
};

/// Maps the model's input pixels to the frame's, by edges: frame = (model - offset) * scale.
struct FrameGeometry {
  std::uint32_t model_width = 0, model_height = 0;
  double offset_x = 0, offset_y = 0;  ///< left and upper letterbox border, in model pixels
  double scale_x = 1, scale_y = 1;    ///< frame pixels per model pixel
};

/// The place of the frame in a picture of the model's size: there Model::add_preprocess() puts it.
NPU_API FrameGeometry geometry_of(const Preprocess& preprocess, std::uint32_t model_width,
                                  std::uint32_t model_height);

/// A graph whose image input takes frames as they lie in the producer's memory.
struct FrameInput {
  Preprocess preprocess;
  FrameGeometry geometry;
  /// Tensor names of the planes' inputs, in order. A model of one channel takes the first plane
  /// only.
  std::vector<std::string> plane_inputs;
};

}  // namespace npu

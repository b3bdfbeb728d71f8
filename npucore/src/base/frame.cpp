#include <array>

#include <npucore/frame.hpp>

#include "enum_names.hpp"
#include "text.hpp"

namespace npu {
namespace {

using base::EnumName;
using base::text;

constexpr std::array kMatrices = {
    EnumName<ColorMatrix>{ColorMatrix::kBT601, "bt601"},
    EnumName<ColorMatrix>{ColorMatrix::kBT709, "bt709"},
    EnumName<ColorMatrix>{ColorMatrix::kBT2020, "bt2020"},
};
constexpr std::array kRanges = {
    EnumName<ColorRange>{ColorRange::kLimited, "limited"},
    EnumName<ColorRange>{ColorRange::kFull, "full"},
};
constexpr std::array kResizeModes = {
    EnumName<ResizeMode>{ResizeMode::kStretch, "stretch"},
    EnumName<ResizeMode>{ResizeMode::kLetterbox, "letterbox"},
    EnumName<ResizeMode>{ResizeMode::kCrop, "crop"},
    EnumName<ResizeMode>{ResizeMode::kFitToWindow, "fit-to-window"},
};
constexpr std::array kChannelOrders = {
    EnumName<ChannelOrder>{ChannelOrder::kRGB, "RGB"},
    EnumName<ChannelOrder>{ChannelOrder::kBGR, "BGR"},
};

[[noreturn]] void fail(const FrameLayout& frame, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument,
              text("frame layout ", frame.describe(), " is invalid: ", why));
}

void validate_plane(const FrameLayout& frame, std::size_t index, const PlaneShape& shape) {
  const PlaneLayout& plane = frame.planes[index];
  const auto columns =
      std::uint64_t{frame.crop_left / shape.pixels_x} + shape.columns(frame.crop_left, frame.width);
  const auto row_bytes = columns * shape.sample_bytes;
  const auto rows =
      std::uint64_t{frame.crop_top / shape.pixels_y} + shape.rows(frame.crop_top, frame.height);
  if (plane.stride_bytes < row_bytes) {
    fail(frame, text("plane ", index, " has a stride of ", plane.stride_bytes,
                     " bytes, its rows need ", row_bytes));
  }
  if (plane.rows < rows) {
    fail(frame, text("plane ", index, " has ", plane.rows, " rows, the picture needs ", rows));
  }
}

}  // namespace

const char* to_string(ColorMatrix matrix) {
  return base::name_of(kMatrices, matrix);
}
const char* to_string(ColorRange range) {
  return base::name_of(kRanges, range);
}
const char* to_string(ResizeMode mode) {
  return base::name_of(kResizeModes, mode);
}
const char* to_string(ChannelOrder order) {
  return base::name_of(kChannelOrders, order);
}

ColorMatrix color_matrix_from_string(const std::string& name) {
  return base::value_of(kMatrices, name, "colour matrix");
}
ColorRange color_range_from_string(const std::string& name) {
  return base::value_of(kRanges, name, "colour range");
}
ResizeMode resize_mode_from_string(const std::string& name) {
  return base::value_of(kResizeModes, name, "resize mode");
}
ChannelOrder channel_order_from_string(const std::string& name) {
  return base::value_of(kChannelOrders, name, "channel order");
}

FrameLayout FrameLayout::tight(PixelFormat format, std::uint32_t width, std::uint32_t height) {
  FrameLayout frame;
  frame.format = format;
  frame.width = width;
  frame.height = height;
  for (const auto& shape : plane_shapes(format)) {
    frame.planes.push_back({shape.columns(0, width) * shape.sample_bytes, shape.rows(0, height)});
  }
  frame.validate();
  return frame;
}

std::size_t FrameLayout::plane_size_bytes(std::size_t index) const {
  if (index >= planes.size()) {
    fail(*this, text("plane ", index, " was requested, but there are ", planes.size()));
  }
  return std::size_t{planes[index].stride_bytes} * planes[index].rows;
}

void FrameLayout::validate() const {
  const auto shapes = plane_shapes(format);
  if (width == 0 || height == 0) {
    fail(*this, "width and height must be at least 1");
  }
  if (planes.size() != shapes.size()) {
    fail(*this, text(to_string(format), " has ", shapes.size(), " planes, not ", planes.size()));
  }
  for (std::size_t index = 0; index < planes.size(); ++index) {
    validate_plane(*this, index, shapes[index]);
  }
}

std::string FrameLayout::describe() const {
  std::string line = text(to_string(format), ' ', width, 'x', height, ' ', to_string(matrix), ' ',
                          to_string(range));
  if (crop_left != 0 || crop_top != 0) {
    line += text(" crop ", crop_left, ',', crop_top);
  }
  line += ", planes";
  for (const auto& plane : planes) line += text(' ', plane.stride_bytes, 'x', plane.rows);
  return line;
}

}  // namespace npu

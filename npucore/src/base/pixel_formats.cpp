#include "pixel_formats.hpp"

#include <algorithm>
#include <vector>

#include "enum_names.hpp"

namespace npu {
namespace {

constexpr PlaneShape kSemiPlanar[] = {{1, 1, 1}, {2, 2, 2}};
constexpr PlaneShape kSemiPlanar422[] = {{1, 1, 1}, {2, 2, 1}};
constexpr PlaneShape kPlanar[] = {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}};
constexpr PlaneShape kSemiPlanar16[] = {{2, 1, 1}, {4, 2, 2}};
constexpr PlaneShape kPairs[] = {{4, 2, 1}};
constexpr PlaneShape kThreeBytes[] = {{3, 1, 1}};
constexpr PlaneShape kFourBytes[] = {{4, 1, 1}};
constexpr PlaneShape kOneByte[] = {{1, 1, 1}};
constexpr PlaneShape kTwoBytes[] = {{2, 1, 1}};

using Row = base::PixelFormatRow;

constexpr std::array kFormats = {
    Row{PixelFormat::kNV12, "NV12", 8, kSemiPlanar, {"y", "uv"}},
    Row{PixelFormat::kI420, "I420", 8, kPlanar, {"y", "u", "v"}},
    Row{PixelFormat::kRGB, "RGB", 8, kThreeBytes, {"rgb"}},
    Row{PixelFormat::kBGR, "BGR", 8, kThreeBytes, {"bgr"}},
    Row{PixelFormat::kRGBx, "RGBx", 8, kFourBytes, {"rgbx"}},
    Row{PixelFormat::kBGRx, "BGRx", 8, kFourBytes, {"bgrx"}},
    Row{PixelFormat::kGray8, "GRAY8", 8, kOneByte, {"y"}},
    Row{PixelFormat::kNV21, "NV21", 8, kSemiPlanar, {"y", "vu"}},
    Row{PixelFormat::kYUY2, "YUY2", 8, kPairs, {"yuyv"}},
    Row{PixelFormat::kP010, "P010_10LE", 10, kSemiPlanar16, {"yy", "uuvv"}},
    Row{PixelFormat::kYV12, "YV12", 8, kPlanar, {"y", "v", "u"}},
    Row{PixelFormat::kNV16, "NV16", 8, kSemiPlanar422, {"y", "uv"}},
    Row{PixelFormat::kARGB, "ARGB", 8, kFourBytes, {"xrgb"}},
    Row{PixelFormat::kABGR, "ABGR", 8, kFourBytes, {"xbgr"}},
    Row{PixelFormat::kUYVY, "UYVY", 8, kPairs, {"uyvy"}},
    Row{PixelFormat::kGray16, "GRAY16_LE", 16, kTwoBytes, {"yy"}},
};

}  // namespace

bool base::PixelFormatRow::has(char component) const {
  return std::any_of(bytes.begin(), bytes.end(), [component](std::string_view sample) {
    return sample.find(component) != sample.npos;
  });
}

const Row& base::row_of(PixelFormat format) {
  static constexpr Row kNone{{}, "unknown", 8, {}, {}};
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [format](const Row& row) { return row.value == format; });
  return found == kFormats.end() ? kNone : *found;
}

std::vector<PixelFormat> pixel_formats() {
  std::vector<PixelFormat> formats;
  for (const Row& row : kFormats) formats.push_back(row.value);
  return formats;
}

const char* to_string(PixelFormat format) {
  return base::row_of(format).name;
}

PixelFormat pixel_format_from_string(const std::string& name) {
  return base::value_of(kFormats, name, "pixel format");
}

std::span<const PlaneShape> plane_shapes(PixelFormat format) {
  return base::row_of(format).planes;
}

}  // namespace npu

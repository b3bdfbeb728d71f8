#include "ir/frame_planes.hpp"

namespace npu::ir {
namespace {

std::string with_suffix(const std::string& name, const std::string& suffix) {
  return suffix.empty() ? name : name + "/" + suffix;
}

/// Samples that cover `pixels`.
std::int64_t samples(std::uint32_t pixels, std::int64_t subsampling) {
  return (pixels + subsampling - 1) / subsampling;
}

}  // namespace

bool is_yuv(PixelFormat format) {
  return format == PixelFormat::kNV12 || format == PixelFormat::kI420;
}

std::vector<std::string> plane_suffixes(PixelFormat format) {
  if (format == PixelFormat::kNV12) return {"y", "uv"};
  if (format == PixelFormat::kI420) return {"y", "u", "v"};
  return {""};
}

FramePlanes::FramePlanes(GraphBuilder& builder, const FrameLayout& frame, const Port& replaced)
    : builder_(builder), frame_(frame), replaced_(replaced) {}

FramePlanes::Plane FramePlanes::plane(std::size_t index) const {
  Plane plane{plane_suffixes(frame_.format)[index], 1, 1, 1, frame_.planes[index]};
  switch (frame_.format) {
    case PixelFormat::kNV12:
      if (index > 0) plane.bytes_per_sample = plane.samples_kept = plane.subsampling = 2;
      break;
    case PixelFormat::kI420:
      if (index > 0) plane.subsampling = 2;
      break;
    case PixelFormat::kRGB:
    case PixelFormat::kBGR:
      plane.bytes_per_sample = plane.samples_kept = 3;
      break;
    case PixelFormat::kRGBx:
    case PixelFormat::kBGRx:
      plane.bytes_per_sample = 4;
      plane.samples_kept = 3;
      break;
    case PixelFormat::kGray8:
      break;
  }
  return plane;
}

Value FramePlanes::parameter(const Plane& plane) {
  const std::int64_t stride = plane.layout.stride_bytes, rows = plane.layout.rows;
  const auto bytes = plane.bytes_per_sample;
  std::vector<std::string> names;
  for (const auto& name : replaced_.tensor_names) names.push_back(with_suffix(name, plane.suffix));
  const auto layer_name = with_suffix(replaced_.name, plane.suffix);
  input_names_.push_back(names.empty() ? layer_name : names.front());
  const auto shape =
      stride % bytes == 0 ? Shape{1, rows, stride / bytes, bytes} : Shape{1, rows, stride, 1};
  return builder_.parameter(layer_name, names, ElementType::kU8, shape);
}

Value FramePlanes::visible(const Plane& plane, const Value& input) {
  const auto rows = samples(frame_.height, plane.subsampling);
  const auto columns = samples(frame_.width, plane.subsampling);
  const auto top = frame_.crop_top / plane.subsampling;
  const auto left = frame_.crop_left / plane.subsampling;
  const auto bytes = plane.bytes_per_sample;
  const auto label = with_suffix("crop", plane.suffix);
  if (input.shape[3] == bytes) {
    return builder_.slice(
        label, input,
        {{1, top, top + rows}, {2, left, left + columns}, {3, 0, plane.samples_kept}});
  }
  // A stride that ends inside a sample: cut bytes first, then see samples.
  const auto cut = builder_.slice(
      label, input, {{1, top, top + rows}, {2, left * bytes, (left + columns) * bytes}});
  const auto pixels =
      builder_.reshape(with_suffix("samples", plane.suffix), cut, {1, rows, columns, bytes});
  return builder_.slice(with_suffix("drop_x", plane.suffix), pixels, {{3, 0, plane.samples_kept}});
}

Value FramePlanes::picture(std::size_t index, const Placement& place) {
  const auto plane = this->plane(index);
  const auto& suffix = plane.suffix;
  auto value = visible(plane, parameter(plane));
  value = builder_.convert(with_suffix("to_float", suffix), value, ElementType::kF32);
  const auto label = with_suffix("planar", suffix);
  if (value.shape[3] == 1) {
    value = builder_.reshape(label, value, {1, 1, value.shape[1], value.shape[2]});
  } else {
    value = builder_.transpose(label, value, {0, 3, 1, 2});
  }
  // Against the frame's own size, not the plane's: of an odd size half a chroma sample is outside.
  const auto scale = [&](std::uint32_t to, std::uint32_t from) {
    return static_cast<double>(to * plane.subsampling) / from;
  };
  return builder_.resize(with_suffix("resize", suffix), value,
                         {place.height, scale(place.height, frame_.height)},
                         {place.width, scale(place.width, frame_.width)});
}

}  // namespace npu::ir

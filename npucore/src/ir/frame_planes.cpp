#include "frame_planes.hpp"

#include <utility>

#include "base/pixel_formats.hpp"

namespace npu::ir {
namespace {

using Component = PlaneView::Component;

std::string with_suffix(const std::string& name, const std::string& suffix) {
  return suffix.empty() ? name : name + "/" + suffix;
}

/// Each letter once: "uv" of "uuvv".
std::string components_of(std::string_view bytes) {
  std::string components;
  for (const char letter : bytes) {
    if (components.find(letter) == std::string::npos) {
      components += letter;
    }
  }
  return components;
}

Component component_of(char letter) {
  constexpr std::string_view kInOrder = "yuvrgb";
  return static_cast<Component>(kInOrder.find(letter) % 3);
}

/// A view of a plane; little-endian 16-bit words count in steps of 8 bits.
PlaneView view_of(std::string name, std::size_t plane, std::string_view bytes) {
  constexpr double kLowByte = 1.0 / 256;
  PlaneView view{std::move(name), plane, {}, false, bytes.find_first_not_of('x')};
  for (std::size_t i = view.first_byte; i < bytes.size() && bytes[i] != 'x'; ++i) {
    const bool is_low = i + 1 < bytes.size() && bytes[i] == bytes[i + 1];
    view.channels.push_back({component_of(bytes[i]), is_low ? kLowByte : 1});
  }
  return view;
}

/// Two Y with the Cb and Cr that they share.
std::vector<PlaneView> views_of_pairs(std::size_t plane, std::string_view bytes) {
  auto chroma = view_of("uv", plane, bytes);
  for (auto& channel : chroma.channels) {
    channel.share = channel.component == PlaneView::kY ? 0 : 1;
  }
  return {{"y", plane, {{PlaneView::kY, 1}}, true, bytes.find('y')}, std::move(chroma)};
}

}  // namespace

std::vector<std::string> plane_suffixes(PixelFormat format) {
  const auto& row = base::row_of(format);
  if (row.planes.size() == 1) return {""};
  std::vector<std::string> suffixes;
  for (std::size_t i = 0; i < row.planes.size(); ++i) {
    suffixes.push_back(components_of(row.bytes[i]));
  }
  return suffixes;
}

std::vector<PlaneView> plane_views(PixelFormat format) {
  const auto& row = base::row_of(format);
  if (row.planes.size() == 1 && row.has('u')) return views_of_pairs(0, row.bytes[0]);
  const auto names = plane_suffixes(format);
  std::vector<PlaneView> views;
  for (std::size_t i = 0; i < names.size(); ++i) {
    views.push_back(view_of(names[i], i, row.bytes[i]));
  }
  return views;
}

FramePlanes::FramePlanes(GraphBuilder& builder, const FrameLayout& frame, const Port& replaced)
    : builder_(builder), frame_(frame), replaced_(replaced), samples_(frame.planes.size()) {}

FramePlanes::Plane FramePlanes::plane(std::size_t index) const {
  return {plane_suffixes(frame_.format)[index], plane_shapes(frame_.format)[index],
          frame_.planes[index]};
}

Value FramePlanes::parameter(const Plane& plane) {
  const std::int64_t stride = plane.layout.stride_bytes, rows = plane.layout.rows;
  const std::int64_t bytes = plane.shape.sample_bytes;
  std::vector<std::string> names;
  for (const auto& name : replaced_.tensor_names) names.push_back(with_suffix(name, plane.suffix));
  const auto layer_name = with_suffix(replaced_.name, plane.suffix);
  input_names_.push_back(names.empty() ? layer_name : names.front());
  const auto shape =
      stride % bytes == 0 ? Shape{1, rows, stride / bytes, bytes} : Shape{1, rows, stride, 1};
  return builder_.parameter(layer_name, names, ElementType::kU8, shape);
}

Value FramePlanes::visible(const Plane& plane, const Value& input) {
  const std::int64_t rows = plane.shape.rows(frame_.crop_top, frame_.height);
  const std::int64_t columns = plane.shape.columns(frame_.crop_left, frame_.width);
  const std::int64_t top = frame_.crop_top / plane.shape.pixels_y;
  const std::int64_t left = frame_.crop_left / plane.shape.pixels_x;
  const std::int64_t bytes = plane.shape.sample_bytes;
  const auto label = with_suffix("crop", plane.suffix);
  if (input.shape[3] == bytes) {
    return builder_.slice(label, input, {{1, top, top + rows}, {2, left, left + columns}});
  }
  // A stride that ends inside a sample: cut bytes first, then form samples.
  const auto cut = builder_.slice(
      label, input, {{1, top, top + rows}, {2, left * bytes, (left + columns) * bytes}});
  return builder_.reshape(with_suffix("samples", plane.suffix), cut, {1, rows, columns, bytes});
}

Value FramePlanes::bytes(std::size_t index) {
  const auto plane = this->plane(index);
  return visible(plane, parameter(plane));
}

Value FramePlanes::samples(const PlaneView& view, bool resized) {
  auto& known = samples_[view.plane];
  if (!known) {
    auto value = bytes(view.plane);
    if (!view.full_width_of_pairs) {
      const auto first = static_cast<std::int64_t>(view.first_byte);
      const auto channels = static_cast<std::int64_t>(view.channels.size());
      value = builder_.slice("drop_x", value, {{3, first, first + channels}});
    }
    const auto label = with_suffix("to_float", plane(view.plane).suffix);
    known = resized ? builder_.convert(label, value, ElementType::kF32)
                    : builder_.convert_bytes(label, value);
  }
  return *known;
}

Value FramePlanes::planar(const std::string& name, const Value& samples) {
  const auto label = with_suffix("planar", name);
  if (samples.shape[3] > 1) return builder_.transpose(label, samples, {0, 3, 1, 2});
  return builder_.reshape(label, samples, {1, 1, samples.shape[1], samples.shape[2]});
}

/// Puts a sample's second Y beside its first one with a reshape and a transposition, instead of
/// slices with steps.
Value FramePlanes::luma_of_pairs(const PlaneView& view, const Value& samples) {
  const auto rows = samples.shape[1], columns = 2 * samples.shape[2];
  const auto pixels =
      builder_.reshape(with_suffix("pixels", view.name), samples, {1, rows, columns, 2});
  const std::int64_t first = frame_.crop_left % 2;
  const auto luma = static_cast<std::int64_t>(view.first_byte);
  return builder_.slice(with_suffix("pick", view.name), planar(view.name, pixels),
                        {{1, luma, luma + 1}, {3, first, first + frame_.width}});
}

Value FramePlanes::resize(const std::string& name, const Value& value, const PlaneShape& shape,
                          const Placement& place) {
  // Scales by the frame's own size, not the plane's: with an odd size half a chroma sample is
  // outside.
  const auto scale = [](std::uint32_t to, std::uint32_t pixels, std::uint32_t from) {
    return static_cast<double>(std::uint64_t{to} * pixels) / from;
  };
  const GraphBuilder::Resize height{place.height,
                                    scale(place.height, shape.pixels_y, frame_.height)};
  const GraphBuilder::Resize width{place.width, scale(place.width, shape.pixels_x, frame_.width)};
  const auto label = with_suffix("resize", name);
  const auto part = [](std::uint32_t crop, std::uint32_t pixels) {
    return static_cast<double>(crop % pixels) / pixels;
  };
  const double left = part(frame_.crop_left, shape.pixels_x);
  const double top = part(frame_.crop_top, shape.pixels_y);
  if (left == 0 && top == 0) return builder_.resize(label, value, height, width);
  return builder_.resample(label, value, {height, top}, {width, left});
}

Value FramePlanes::picture(const PlaneView& view, const Placement& place) {
  const bool resized = place.width != frame_.width || place.height != frame_.height;
  const auto value = samples(view, resized);
  if (view.full_width_of_pairs) {
    return resize(view.name, luma_of_pairs(view, value), {}, place);
  }
  return resize(view.name, planar(view.name, value), plane_shapes(frame_.format)[view.plane],
                place);
}

}  // namespace npu::ir

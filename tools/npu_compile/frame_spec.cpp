#include "frame_spec.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include <npucore/error.hpp>

namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument, reason);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (text.empty() || text.back() == separator) {
    parts.emplace_back();
  }
  return parts;
}

std::uint32_t whole_number(const std::string& text, const std::string& where) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail("'" + text + "' in '" + where + "' is not a whole number");
  }
  return value;
}

std::vector<std::uint32_t> whole_numbers(const std::string& text) {
  std::vector<std::uint32_t> values;
  for (const auto& part : split(text, ',')) values.push_back(whole_number(part, text));
  return values;
}

struct Options {
  std::vector<std::uint32_t> strides, rows;
  std::uint32_t left = 0, top = 0;
};

void read_option(const std::string& text, Options& options) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  const auto values = equals == std::string::npos ? std::vector<std::uint32_t>()
                                                  : whole_numbers(text.substr(equals + 1));
  if (name == "stride" && !values.empty()) {
    options.strides = values;
  } else if (name == "rows" && !values.empty()) {
    options.rows = values;
  } else if (name == "crop" && values.size() == 2) {
    options.left = values[0];
    options.top = values[1];
  } else {
    fail("'" + text + "' is not a frame option: use stride=N, rows=N or crop=LEFT,TOP");
  }
}

/// The values of all planes: one for each, or the first plane's alone, of which plane i then gets
/// 1/shares[i].
std::vector<std::uint32_t> for_planes(const char* name, std::vector<std::uint32_t> values,
                                      const std::vector<std::uint32_t>& shares) {
  if (values.size() == 1) {
    const auto first = values.front();
    values.clear();
    for (const auto share : shares) values.push_back((first + share - 1) / share);
  }
  if (values.size() != shares.size()) {
    fail(std::string(name) + " needs one value, or one for each of the " +
         std::to_string(shares.size()) + " planes");
  }
  return values;
}

void set_planes(npu::FrameLayout& frame, const Options& options) {
  const auto shapes = npu::plane_shapes(frame.format);
  std::vector<std::uint32_t> stride_shares, row_shares;
  for (const auto& shape : shapes) {
    row_shares.push_back(shape.pixels_y);
    // A plane has fewer columns by pixels_x, but larger ones if they hold more.
    stride_shares.push_back(shape.pixels_x * shapes[0].sample_bytes /
                            (shapes[0].pixels_x * shape.sample_bytes));
  }
  if (!options.strides.empty()) {
    const auto strides = for_planes("stride", options.strides, stride_shares);
    for (std::size_t i = 0; i < strides.size(); ++i) frame.planes[i].stride_bytes = strides[i];
  }
  if (!options.rows.empty()) {
    const auto rows = for_planes("rows", options.rows, row_shares);
    for (std::size_t i = 0; i < rows.size(); ++i) frame.planes[i].rows = rows[i];
  }
}

}  // namespace

npu::FrameLayout parse_frame_spec(const std::string& text) {
  const auto parts = split(text, ':');
  const auto size = parts.size() < 2 ? std::vector<std::string>() : split(parts[1], 'x');
  if (size.size() != 2) {
    fail("'" + text + "' is not a frame: write FORMAT:WIDTHxHEIGHT, for example NV12:1920x1080");
  }
  const auto format = npu::pixel_format_from_string(parts[0]);
  const auto width = whole_number(size[0], text), height = whole_number(size[1], text);
  Options options;
  for (std::size_t i = 2; i < parts.size(); ++i) read_option(parts[i], options);
  auto frame = npu::FrameLayout::tight(format, width + options.left, height + options.top);
  frame.width = width;
  frame.height = height;
  frame.crop_left = options.left;
  frame.crop_top = options.top;
  set_planes(frame, options);
  frame.matrix = usual_matrix(frame);
  frame.range = usual_range(frame);
  frame.validate();
  return frame;
}

npu::ColorMatrix usual_matrix(const npu::FrameLayout& frame) {
  constexpr std::uint32_t kMostStandardLines = 576;
  return frame.height > kMostStandardLines ? npu::ColorMatrix::kBT709 : npu::ColorMatrix::kBT601;
}

npu::ColorRange usual_range(const npu::FrameLayout& frame) {
  const bool is_gray = std::string(to_string(frame.format)).starts_with("GRAY");
  return is_gray ? npu::ColorRange::kFull : npu::ColorRange::kLimited;
}

std::vector<float> parse_numbers(const std::string& option, const std::string& text) {
  const auto refusal = option + " needs numbers separated by commas, not '" + text + "'";
  std::vector<float> values;
  for (const auto& part : split(text, ',')) {
    float value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size()) {
      fail(refusal);
    }
    values.push_back(value);
  }
  return values;
}

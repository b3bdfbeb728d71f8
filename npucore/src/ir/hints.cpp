#include "hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::ir {
namespace {

struct ResizeType {
  const char* name;
  ResizeMode mode;
};

constexpr std::array kResizeTypes{ResizeType{"standard", ResizeMode::kStretch},
                                  ResizeType{"fit_to_window", ResizeMode::kFitToWindow},
                                  ResizeType{"fit_to_window_letterbox", ResizeMode::kLetterbox},
                                  ResizeType{"crop", ResizeMode::kCrop}};

std::optional<std::string> find(const ModelInfo& info, const char* key) {
  const auto found = info.find(key);
  if (found == info.end() || found->second.empty()) return {};
  return found->second;
}

/// Numbers with blanks, commas or brackets between them: "123.7 116.3", "[1, 2, 3]".
std::vector<float> numbers(const ModelInfo& info, const char* key) {
  std::vector<float> values;
  auto text = find(info, key).value_or("");
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return std::string_view(",[] \t\n\v\f\r").find(c) != std::string_view::npos; },
      ' ');
  const char* place = text.data();
  const char* end = place + text.size();
  while (true) {
    while (place != end && *place == ' ') ++place;
    if (place == end) return values;
    float value = 0;
    const auto [next, error] = std::from_chars(place, end, value);
    if (error != std::errc{} || !std::isfinite(value) || (next != end && *next != ' ')) {
      throw Error(ErrorCode::kInvalidArgument,
                  base::text("model_info's ", key, " is ", base::quoted(text),
                             ", which is not a list of numbers"));
    }
    values.push_back(value);
    place = next;
  }
}

std::optional<ResizeMode> mode_of(const std::string& resize_type) {
  const auto found =
      std::find_if(kResizeTypes.begin(), kResizeTypes.end(),
                   [&resize_type](const ResizeType& type) { return type.name == resize_type; });
  if (found == kResizeTypes.end()) return {};
  return found->mode;
}

}  // namespace

Preprocess preprocess_from_hints(const ModelInfo& info, const FrameLayout& frame) {
  Preprocess preprocess;
  preprocess.frame = frame;
  if (const auto resize = find(info, "resize_type")) {
    preprocess.resize = mode_of(*resize).value_or(ResizeMode::kStretch);
    preprocess.pad_value = 0;
  }
  if (const auto pad = numbers(info, "pad_value"); !pad.empty()) {
    preprocess.pad_value = pad[0];
  }
  // The Model API's images are BGR; this says that the model wants the other order.
  if (const auto reverse = find(info, "reverse_input_channels")) {
    preprocess.channels = base::is_yes(*reverse) ? ChannelOrder::kRGB : ChannelOrder::kBGR;
  }
  preprocess.mean = numbers(info, "mean_values");
  preprocess.scale = numbers(info, "scale_values");
  return preprocess;
}

std::vector<std::string> hint_warnings(const ModelInfo& info) {
  std::vector<std::string> warnings;
  const auto resize = find(info, "resize_type");
  if (resize && !mode_of(*resize)) {
    warnings.push_back(base::text("the model's resize_type ", base::quoted(*resize),
                                  " is not offered: frames are stretched"));
  }
  return warnings;
}

}  // namespace npu::ir

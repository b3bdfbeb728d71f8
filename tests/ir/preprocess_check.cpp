#include "preprocess_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "support/frame_reference.hpp"

#include "ir_files.hpp"

namespace npu::test {
namespace {

struct PictureShape {
  bool channels_last;
  int channels, height, width;
};

PictureShape picture_shape(const ImageModel& model) {
  const auto& shape = model.shape;
  const bool last = model.layout == "[N,H,W,C]";
  return {last, shape[last ? 3 : 1], shape[last ? 1 : 2], shape[last ? 2 : 3]};
}

/// Range of an integer type.
using Limits = std::optional<std::pair<double, double>>;

Limits limits_of(const std::string& type) {
  if (type == "u8") return std::pair(0.0, 255.0);
  if (type == "i8") return std::pair(-128.0, 127.0);
  return std::nullopt;
}

Difference compare(const std::vector<double>& values, const PictureShape& shape,
                   const Reference& reference, const Limits& limits) {
  const auto [last, channels, height, width] = shape;
  if (values.size() != static_cast<std::size_t>(channels * height * width)) {
    throw std::runtime_error("the output has another size");
  }
  Difference found;
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int index = last ? (y * width + x) * channels + c : (c * height + y) * width + x;
        const double value = values[static_cast<std::size_t>(index)];
        const double exact = reference.at(c, x, y);
        const double expected = limits ? std::clamp(exact, limits->first, limits->second) : exact;
        const double gray = std::abs(value - expected) * std::abs(reference.scale_of(c));
        if (!(gray <= found.largest)) {
          found = {gray, "channel " + std::to_string(c) + " at " + std::to_string(x) + "," +
                             std::to_string(y) + ": " + std::to_string(value) + " instead of " +
                             std::to_string(expected)};
        }
      }
    }
  }
  return found;
}

}  // namespace

Difference difference_from_reference(const ImageModel& image, const Preprocess& preprocess, By by,
                                     const Part& seen) {
  auto model = read_ir(identity_ir(image.type, image.shape, image.layout));
  model.add_preprocess(preprocess);
  const auto frame = noise_frame(preprocess.frame, 7);
  std::map<std::string, Bytes> inputs;
  const auto& names = model.frame_input()->plane_inputs;
  for (std::size_t i = 0; i < names.size(); ++i) inputs[names[i]] = frame.planes[i];
  const auto shape = picture_shape(image);
  auto part = frame;
  auto of_part = preprocess;
  if (seen.width > 0) {
    part.layout.crop_left += seen.left;
    part.layout.crop_top += seen.top;
    part.layout.width = seen.width;
    part.layout.height = seen.height;
    of_part.frame = part.layout;
    of_part.resize = ResizeMode::kStretch;
  }
  return compare(check_and_run(model, inputs, by), shape,
                 Reference(part, of_part, shape.width, shape.height, shape.channels),
                 limits_of(image.type));
}

}  // namespace npu::test

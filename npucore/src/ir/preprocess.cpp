#include "preprocess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/graph_builder.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"

#include "color.hpp"
#include "frame_planes.hpp"
#include "image_input.hpp"
#include "placement.hpp"
#include "polyphase.hpp"

namespace npu::ir {
namespace {

using base::text;
using Channels = std::vector<double>;

// Clamping 0..255 happens on values lowered by this, because NPU compilers mistake a clamp to
// [0,255] behind a colour matrix for BT.601.
constexpr double kShift = 16;
constexpr double kWhite = 255;
// Most that colours are multiplied by before they are limited: NPUs compute in f16, where sums of
// Y, Cb and Cr, up to four times white, must stay below 65504.
constexpr double kMostGain = 64;

/// f32, NCHW, channels as the model wants them: value = (grey level - shift) * gain.
struct Picture {
  Value value;
  double shift = 0, gain = 1;
  bool normalized = false;  ///< channel by channel, as the model wants them
};

/// The step from grey levels to the model's values: value = level * factor + offset, per channel.
struct Normalization {
  Channels factor, offset;
};

/// The common inputs of all steps.
struct Job {
  const Preprocess& preprocess;
  const ImageInput& image;
  const Placement& place;
  const ColorMap& map;
  GraphBuilder& builder;
  FramePlanes& planes;
};

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::kInvalidArgument, text("cannot add pre-processing: ", reason));
}

void check_channels(const char* name, const std::vector<float>& values, std::uint32_t channels) {
  if (values.size() > 1 && values.size() != channels) {
    refuse(text(name, " has ", values.size(), " values, but the model's picture has ", channels,
                " channels: give one value, or one per channel"));
  }
  for (const auto value : values) {
    if (!std::isfinite(value)) {
      refuse(text(name, " holds ", value));
    }
  }
}

Channels per_channel(const std::vector<float>& values, double missing, std::uint32_t channels) {
  if (values.empty()) return Channels(channels, missing);
  if (values.size() == 1) return Channels(channels, values.front());
  return {values.begin(), values.end()};
}

void check_normalization(const Preprocess& preprocess, std::uint32_t channels) {
  check_channels("mean", preprocess.mean, channels);
  check_channels("scale", preprocess.scale, channels);
  if (std::find(preprocess.scale.begin(), preprocess.scale.end(), 0.0F) != preprocess.scale.end()) {
    refuse("scale must not contain 0");
  }
  const auto mean = per_channel(preprocess.mean, 0, channels);
  const auto scale = per_channel(preprocess.scale, 1, channels);
  for (std::size_t i = 0; i < channels; ++i) {
    if ((kWhite + std::abs(mean[i])) / std::abs(scale[i]) > std::numeric_limits<float>::max()) {
      refuse(text("a mean of ", mean[i], " and a scale of ", scale[i],
                  " make values that f32 cannot hold: use a larger scale"));
    }
  }
}

void check(const Model::Impl& model, const Preprocess& preprocess, const ImageInput& image) {
  if (model.frame_input) {
    refuse("the model already has it");
  }
  check_normalization(preprocess, image.channels);
  if (!(preprocess.pad_value >= 0 && preprocess.pad_value <= kWhite)) {
    refuse(text("pad_value is ", preprocess.pad_value, ", but must be in 0..255"));
  }
  if (!(preprocess.crop_share > 0 && preprocess.crop_share <= 1)) {
    refuse(text("crop_share is ", preprocess.crop_share, ", but must be above 0 and at most 1"));
  }
  if (image.port.type == ElementType::kI8 && preprocess.mean.empty() && preprocess.scale.empty()) {
    refuse(text(
        "input ", base::quoted(image.port.name),
        " is i8, and an IR does not tell how its values are quantised: give mean and scale so "
        "that (x - mean) / scale is what it takes, for example mean 128 for pixels minus 128"));
  }
}

bool all_equal(const Channels& values, double wanted) {
  return std::all_of(values.begin(), values.end(),
                     [wanted](double value) { return value == wanted; });
}

Normalization normalization(const Job& job) {
  const auto mean = per_channel(job.preprocess.mean, 0, job.image.channels);
  const auto scale = per_channel(job.preprocess.scale, 1, job.image.channels);
  Normalization wanted;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    wanted.factor.push_back(1 / scale[i]);
    wanted.offset.push_back(-mean[i] / scale[i]);
  }
  return wanted;
}

bool has_borders(const Placement& place) {
  return place.left + place.top + place.right + place.bottom > 0;
}

/// Shares of a view's channels in the model's channels. Empty if the view is not needed.
std::vector<Channels> shares_of(const PlaneView& view, const ColorMap& map) {
  std::vector<Channels> rows;
  bool needed = false;
  for (const auto& row : map.rows) {
    Channels shares;
    for (const auto& [component, share] : view.channels) {
      shares.push_back(share * row[component]);
      needed = needed || shares.back() != 0;
    }
    rows.push_back(shares);
  }
  return needed ? rows : std::vector<Channels>{};
}

bool is_identity(const std::vector<Channels>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Channels unit(rows.size());
    unit[row] = 1;
    if (rows[row] != unit) return false;
  }
  return true;
}

/// Resizes and converts each plane by itself, and adds the results.
Picture from_planes(const Job& job) {
  std::optional<Value> sum;
  for (const auto& view : plane_views(job.preprocess.frame.format)) {
    const auto rows = shares_of(view, job.map);
    if (rows.empty()) continue;
    const auto label = "color/" + view.name;
    auto part = job.planes.picture(view, job.place);
    if (!is_identity(rows)) {
      part = job.builder.mix_channels(label, part, rows);
    }
    sum = sum ? job.builder.add(label + "/sum", *sum, part) : part;
  }
  if (!job.map.limited) return {*sum};
  auto bias = job.map.bias;
  for (auto& value : bias) value -= kShift;
  const auto value = job.builder.add("color/bias", *sum, bias);
  return {job.builder.clamp("color/limit", value, -kShift, kWhite - kShift), kShift};
}

/// As from_planes(), with as much of the normalisation as can be done before the limits and the
/// borders.
Picture from_phases(const Job& job, const Polyphase& polyphase) {
  const auto [factor, offset] = normalization(job);
  const bool uniform = all_equal(factor, factor.front()) && all_equal(offset, offset.front());
  auto map = job.map;
  Picture picture;
  const auto multiply = [&](std::size_t channel, double by) {
    for (auto& weight : map.rows[channel]) weight *= by;
    map.bias[channel] *= by;
  };
  if (!map.limited && (uniform || !has_borders(job.place))) {
    for (std::size_t i = 0; i < factor.size(); ++i) {
      multiply(i, factor[i]);
      map.bias[i] += offset[i];
    }
    picture = {{}, -offset.front() / factor.front(), factor.front(), true};
  } else if (map.limited && all_equal(factor, factor.front()) && factor.front() > 0 &&
             factor.front() <= kMostGain) {
    for (std::size_t i = 0; i < factor.size(); ++i) multiply(i, factor.front());
    picture.gain = factor.front();
  }
  picture.value = build_polyphase(job.builder, job.planes, polyphase, map, kWhite * picture.gain);
  return picture;
}

void add_borders(const Job& job, Picture& picture) {
  const auto& place = job.place;
  if (!has_borders(place)) return;
  picture.value =
      job.builder.pad("border", picture.value, {place.top, place.left, place.bottom, place.right},
                      (job.preprocess.pad_value - picture.shift) * picture.gain);
}

/// Applies the rest of the normalisation, as one multiplication and one addition.
Value normalize(const Job& job, const Picture& picture) {
  auto value = picture.value;
  if (picture.normalized) return value;
  auto [factor, offset] = normalization(job);
  for (std::size_t i = 0; i < factor.size(); ++i) {
    offset[i] += factor[i] * picture.shift;
    factor[i] /= picture.gain;
  }
  if (!all_equal(factor, 1)) {
    value = job.builder.multiply("scale", value, factor);
  }
  if (!all_equal(offset, 0)) {
    value = job.builder.add("mean", value, offset);
  }
  return value;
}

struct Range {
  double low, high;
};

std::optional<Range> integers_of(ElementType type) {
  if (type == ElementType::kU8) return Range{0, kWhite};
  if (type == ElementType::kI8) return Range{-128, 127};
  return std::nullopt;
}

Value to_model_type(const Job& job, Value value) {
  const auto type = job.image.port.type;
  if (type == ElementType::kF32) return value;
  if (const auto range = integers_of(type)) {
    value = job.builder.round("round", value);
    const bool leaves_range = !job.preprocess.mean.empty() || !job.preprocess.scale.empty();
    if (leaves_range) {
      value = job.builder.clamp("limit", value, range->low, range->high);
    }
  }
  return job.builder.convert("to_model_type", value, type);
}

/// Whether the frame is the model's picture as it is.
bool is_the_picture(const Job& job) {
  const auto& frame = job.preprocess.frame;
  const auto views = plane_views(frame.format);
  return frame.width == job.place.width && frame.height == job.place.height && views.size() == 1 &&
         !job.map.limited && is_identity(shares_of(views.front(), job.map));
}

Value build(const Job& job) {
  std::optional<Polyphase> polyphase;
  if (!is_the_picture(job)) {
    polyphase = plan_polyphase(job.preprocess.frame, job.place, job.map);
  }
  auto picture = polyphase ? from_phases(job, *polyphase) : from_planes(job);
  add_borders(job, picture);
  auto value = normalize(job, picture);
  if (job.image.channels_last) {
    value = job.builder.transpose("to_model_layout", value, {0, 2, 3, 1});
  }
  return to_model_type(job, value);
}

/// The model's answers are in pixels of the picture that its graph makes of its input.
FrameGeometry behind(const FrameGeometry& input, const FrameGeometry& graph) {
  return {graph.model_width,
          graph.model_height,
          graph.offset_x + input.offset_x / graph.scale_x,
          graph.offset_y + input.offset_y / graph.scale_y,
          graph.scale_x * input.scale_x,
          graph.scale_y * input.scale_y};
}

}  // namespace

void add_preprocess(Model::Impl& model, const Preprocess& preprocess) {
  preprocess.frame.validate();
  const auto image = find_image_input(model, preprocess.input);
  check(model, preprocess, image);
  const bool stale = has_stale_shapes(model);
  Preprocess seen = preprocess;
  seen.frame = seen_part(preprocess, image.width, image.height);
  auto place = place_frame(seen.frame, image.width, image.height, preprocess.resize);
  place.geometry = geometry_of(preprocess, image.width, image.height);
  const auto map = color_map(seen, image.channels);
  if (const auto scaling = own_scaling(model, image)) {
    place.geometry = behind(place.geometry, *scaling);
  }
  GraphBuilder builder(model.document, model.weights, image.layer, image.port.name + "/npucore/");
  FramePlanes planes(builder, seen.frame, image.port);
  const auto result = build({seen, image, place, map, builder, planes});
  const auto replaced = image.layer.child("output").child("port").attribute("id").as_ullong();
  model.document.move_consumers({layer_id(image.layer), replaced}, result.port);
  model.document.remove_layer(image.layer);
  model.inputs = read_inputs(model.document);
  model.outputs = read_outputs(model.document);
  model.reshaped = stale;
  model.frame_input = FrameInput{preprocess, place.geometry, planes.input_names()};
}

}  // namespace npu::ir

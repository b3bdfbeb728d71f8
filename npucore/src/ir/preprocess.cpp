#include "preprocess.hpp"

#include <algorithm>
#include <cmath>

#include <npucore/error.hpp>

#include "base/text.hpp"
#include "ir/graph/graph_builder.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"

#include "color.hpp"
#include "frame_planes.hpp"
#include "image_input.hpp"
#include "placement.hpp"
#include "reshape.hpp"

namespace npu::ir {
namespace {

using base::text;
using Channels = std::vector<double>;

// Clamping 0..255 happens on values lowered by this, because NPU compilers mistake a clamp to
// [0,255] behind a colour matrix for BT.601.
constexpr double kShift = 16;
constexpr double kWhite = 255;

/// f32, NCHW, channels as the model wants them; the grey level is the value plus `shift`.
struct Picture {
  Value value;
  double shift = 0;
};

/// What all steps look at.
struct Job {
  const Preprocess& preprocess;
  const ImageInput& image;
  const Placement& place;
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

void check(const Model::Impl& model, const Preprocess& preprocess, const ImageInput& image) {
  if (model.frame_input) {
    refuse("the model already has it");
  }
  check_channels("mean", preprocess.mean, image.channels);
  check_channels("scale", preprocess.scale, image.channels);
  if (std::find(preprocess.scale.begin(), preprocess.scale.end(), 0.0F) != preprocess.scale.end()) {
    refuse("scale must not contain 0");
  }
  if (!(preprocess.pad_value >= 0 && preprocess.pad_value <= kWhite)) {
    refuse(text("pad_value is ", preprocess.pad_value, ", but must be in 0..255"));
  }
}

/// Rows R, G, B in the order that the model wants.
template <class Row>
std::vector<Row> in_model_order(const Job& job, std::vector<Row> rows) {
  if (job.preprocess.channels == ChannelOrder::kBGR) {
    std::reverse(rows.begin(), rows.end());
  }
  return rows;
}

Channels shifted(Channels bias) {
  for (auto& value : bias) value -= kShift;
  return bias;
}

/// Each plane is converted by itself and the results are added.
Picture color_from_yuv(const Job& job) {
  const auto& frame = job.preprocess.frame;
  const auto color = yuv_to_rgb(frame.matrix, frame.range, bits_per_component(frame.format));
  const auto part = [&](const PlaneView& view) {
    std::vector<Channels> rows;
    for (const auto& row : color.matrix) {
      Channels weights;
      for (const auto& [component, share] : view.channels) {
        weights.push_back(share * row[component]);
      }
      rows.push_back(weights);
    }
    return job.builder.mix_channels("color/" + view.name, job.planes.picture(view, job.place),
                                    in_model_order(job, rows));
  };
  const auto views = yuv_views(frame.format);
  const auto luma = part(views[0]);
  auto chroma = part(views[1]);
  for (std::size_t i = 2; i < views.size(); ++i) {
    chroma = job.builder.add("color/uv", chroma, part(views[i]));
  }
  const auto bias = shifted(in_model_order(job, Channels(color.bias.begin(), color.bias.end())));
  chroma = job.builder.add("color/bias", chroma, bias);
  const auto sum = job.builder.add("color/sum", luma, chroma);
  return {job.builder.clamp("color/limit", sum, -kShift, kWhite - kShift), kShift};
}

/// Also for a grey frame into a colour model, whose channels are then equal.
Picture gray_from_luma(const Job& job) {
  const auto& frame = job.preprocess.frame;
  const auto [gain, bias] = luma_to_gray(frame.range, bits_per_component(frame.format));
  const auto views = yuv_views(frame.format);
  auto value =
      views.empty() ? job.planes.picture(job.place) : job.planes.picture(views.front(), job.place);
  Channels row{gain};
  if (!views.empty()) {
    row.clear();
    for (const auto& channel : views.front().channels) row.push_back(gain * channel.share);
  }
  if (job.image.channels > 1 || row.size() > 1) {
    value = job.builder.mix_channels("gray/spread", value,
                                     std::vector<Channels>(job.image.channels, row));
  } else if (gain != 1) {
    value = job.builder.multiply("gray/gain", value, row);
  }
  if (gain == 1 && bias == 0) return {value, 0};
  value = job.builder.add("gray/bias", value, shifted(Channels(job.image.channels, bias)));
  return {job.builder.clamp("gray/limit", value, -kShift, kWhite - kShift), kShift};
}

Picture from_rgb(const Job& job) {
  const auto format = job.preprocess.frame.format;
  const bool frame_is_bgr = format == PixelFormat::kBGR || format == PixelFormat::kBGRx;
  const auto value = job.planes.picture(job.place);
  if (job.image.channels == 1) {
    const auto shares = luma_weights(job.preprocess.frame.matrix);
    Channels row(shares.begin(), shares.end());
    if (frame_is_bgr) {
      std::reverse(row.begin(), row.end());
    }
    return {job.builder.mix_channels("gray/mix", value, {row}), 0};
  }
  if (frame_is_bgr == (job.preprocess.channels == ChannelOrder::kBGR)) return {value, 0};
  return {job.builder.gather("color/order", value, 1, {2, 1, 0}), 0};
}

Picture convert_color(const Job& job) {
  const auto format = job.preprocess.frame.format;
  const bool wants_color = job.image.channels > 1;
  if (is_yuv(format) && wants_color) return color_from_yuv(job);
  if (is_yuv(format) || format == PixelFormat::kGray8) return gray_from_luma(job);
  return from_rgb(job);
}

void add_borders(const Job& job, Picture& picture) {
  const auto& place = job.place;
  if (place.left + place.top + place.right + place.bottom == 0) return;
  picture.value =
      job.builder.pad("border", picture.value, {place.top, place.left, place.bottom, place.right},
                      job.preprocess.pad_value - picture.shift);
}

Channels per_channel(const std::vector<float>& values, double missing, std::uint32_t channels) {
  if (values.empty()) return Channels(channels, missing);
  if (values.size() == 1) return Channels(channels, values.front());
  return {values.begin(), values.end()};
}

bool all_equal(const Channels& values, double wanted) {
  return std::all_of(values.begin(), values.end(),
                     [wanted](double value) { return value == wanted; });
}

/// (value + shift - mean) / scale as one multiplication and one addition.
Value normalize(const Job& job, const Picture& picture) {
  const auto mean = per_channel(job.preprocess.mean, 0, job.image.channels);
  const auto scale = per_channel(job.preprocess.scale, 1, job.image.channels);
  Channels factor, offset;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    factor.push_back(1 / scale[i]);
    offset.push_back((picture.shift - mean[i]) / scale[i]);
  }
  auto value = picture.value;
  if (!all_equal(factor, 1)) {
    value = job.builder.multiply("scale", value, factor);
  }
  if (!all_equal(offset, 0)) {
    value = job.builder.add("mean", value, offset);
  }
  return value;
}

Value to_model_type(const Job& job, Value value) {
  const auto type = job.image.port.type;
  if (type == ElementType::kF32) return value;
  if (type == ElementType::kU8) {
    value = job.builder.round("round", value);
    const bool leaves_range = !job.preprocess.mean.empty() || !job.preprocess.scale.empty();
    if (leaves_range) {
      value = job.builder.clamp("limit", value, 0, kWhite);
    }
  }
  return job.builder.convert("to_model_type", value, type);
}

Value build(const Job& job) {
  auto picture = convert_color(job);
  add_borders(job, picture);
  auto value = normalize(job, picture);
  if (job.image.channels_last) {
    value = job.builder.transpose("to_model_layout", value, {0, 2, 3, 1});
  }
  return to_model_type(job, value);
}

}  // namespace

void add_preprocess(Model::Impl& model, const Preprocess& preprocess) {
  preprocess.frame.validate();
  const auto image = find_image_input(model, preprocess.input);
  check(model, preprocess, image);
  const bool stale = has_stale_shapes(model);
  const auto place = place_frame(preprocess.frame, image.width, image.height, preprocess.resize);
  GraphBuilder builder(model.document, model.weights, image.layer, image.port.name + "/npucore/");
  FramePlanes planes(builder, preprocess.frame, image.port);
  const auto result = build({preprocess, image, place, builder, planes});
  const auto replaced = image.layer.child("output").child("port").attribute("id").as_ullong();
  model.document.move_consumers({layer_id(image.layer), replaced}, result.port);
  model.document.remove_layer(image.layer);
  model.inputs = read_inputs(model.document);
  model.outputs = read_outputs(model.document);
  model.reshaped = stale;
  model.frame_input = FrameInput{preprocess, place.geometry, planes.input_names()};
}

}  // namespace npu::ir

#include "head_decoder.hpp"

#include <algorithm>
#include <cmath>

#include <npucore/error.hpp>

#include "../scalar.hpp"

namespace npu::vision {
namespace {

template <typename Scalar>
void add_scaled(const std::byte* from, std::size_t stride_bytes, float factor,
                std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] += factor * load<Scalar>(from + i * stride_bytes);
  }
}

void add_plane(const TensorView& protos, std::size_t channel, const PlanePart& part, float factor,
               std::vector<float>* logits) {
  const auto& strides = protos.strides_bytes;
  const std::byte* plane = protos.data + channel * strides[1] + part.left * strides[3];
  for (std::size_t y = 0; y < part.height; ++y) {
    const std::byte* row = plane + (part.top + y) * strides[2];
    const auto to = std::span(*logits).subspan(y * part.width, part.width);
    if (protos.type == npu::ElementType::kF16) {
      add_scaled<Half>(row, strides[3], factor, to);
    } else {
      add_scaled<float>(row, strides[3], factor, to);
    }
  }
}

/// Takes the last mask out where no pixel belongs to it: the authors drop such an object.
bool drop_empty_mask(Answer* answer) {
  const auto begin =
      answer->mask_pixels.begin() + static_cast<std::ptrdiff_t>(answer->masks.back().first);
  if (std::any_of(begin, answer->mask_pixels.end(), [](std::uint8_t pixel) { return pixel > 0; })) {
    return false;
  }
  answer->mask_pixels.erase(begin, answer->mask_pixels.end());
  answer->masks.pop_back();
  return true;
}

}  // namespace

HeadDecoder::HeadDecoder(const YoloHead& head, const Found& found)
    : head_(head), input_(found.input), made_for_(found.outputs[head.output]) {
  if (head.protos) {
    protos_made_for_ = found.outputs[*head.protos];
  }
}

void HeadDecoder::decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
                         FrameSize frame, const DecodeOptions& options, Answer* answer) {
  answer->clear();
  const BoxRows rows =
      rows_of(checked_output(outputs, head_.output, made_for_), head_.channels_first);
  if (head_.protos) {
    checked_output(outputs, *head_.protos, protos_made_for_);
    with_size(geometry);  // may throw, so before the answer is half filled
  }
  boxes_.begin(geometry, frame);
  collect(rows, options.confidence_threshold);
  // Anchors cover the whole picture, so the first box shows whether coordinates are pixels.
  // TensorFlow Lite's exports look the same but go from 0 to 1.
  if (has_pixels()) {
    check_pixels(boxes_, input_, rows.boxes,
                 [&](std::size_t box, std::size_t value) { return rows.at(box, value); });
  }
  choose(boxes_, options);
  boxes_.give(answer);
  if (head_.key_points > 0) {
    give_key_points(rows, geometry, frame, answer);
  }
  if (head_.protos) {
    give_masks(rows, outputs[*head_.protos], with_size(geometry), frame, answer);
  }
}

npu::FrameGeometry HeadDecoder::with_size(npu::FrameGeometry geometry) const {
  if (geometry.model_width == 0 || geometry.model_height == 0) {
    geometry.model_width = input_.width;
    geometry.model_height = input_.height;
  }
  if (geometry.model_width == 0 || geometry.model_height == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "masks cannot be placed: the size of the model's input is not known");
  }
  return geometry;
}

bool HeadDecoder::has_finite_extras(const BoxRows& rows, std::size_t box) const {
  for (std::size_t value = head_.first_extra(); value < head_.values; ++value) {
    if (!std::isfinite(rows.at(box, value))) return false;
  }
  return true;
}

float HeadDecoder::visibility(const BoxRows& rows, std::size_t box, std::size_t key_point) const {
  if (head_.key_point_values < 3) return 1;
  return probability(rows.at(box, head_.first_extra() + key_point * head_.key_point_values + 2));
}

// Refuses bad values before the answer is half filled.
bool HeadDecoder::is_whole(const BoxRows& rows, std::size_t box) const {
  if (!has_finite_extras(rows, box)) return false;
  for (std::size_t i = 0; i < head_.key_points; ++i) visibility(rows, box, i);
  return true;
}

void HeadDecoder::add_centered(const BoxRows& rows, std::size_t box, float score,
                               std::uint32_t label) {
  const double x = rows.at(box, 0), y = rows.at(box, 1);
  const double width = rows.at(box, 2), height = rows.at(box, 3);
  if (head_.task != Task::kOriented) return add_at({x, y, width, height}, rows, box, score, label);
  if (!is_whole(rows, box)) return;
  boxes_.add_oriented(OrientedBox{x, y, width, height, rows.at(box, head_.first_extra())}, score,
                      label, box);
}

void HeadDecoder::add_at(const std::array<double, YoloHead::kBoxValues>& place, const BoxRows& rows,
                         std::size_t box, float score, std::uint32_t label) {
  if (!is_whole(rows, box)) return;
  const auto [x, y, width, height] = place;
  boxes_.add(Edges{x - width / 2, y - height / 2, x + width / 2, y + height / 2}, score, label,
             box);
}

void HeadDecoder::add_edges(const BoxRows& rows, std::size_t box, float score,
                            std::uint32_t label) {
  if (!is_whole(rows, box)) return;
  boxes_.add(Edges{rows.at(box, 0), rows.at(box, 1), rows.at(box, 2), rows.at(box, 3)}, score,
             label, box);
}

void HeadDecoder::give_key_points(const BoxRows& rows, const npu::FrameGeometry& geometry,
                                  FrameSize frame, Answer* answer) const {
  answer->key_points_per_object = head_.key_points;
  for (const Candidate* candidate : boxes_.kept()) {
    for (std::size_t i = 0; i < head_.key_points; ++i) {
      const std::size_t value = head_.first_extra() + i * head_.key_point_values;
      answer->key_points.push_back(
          {.x = frame_x(rows.at(candidate->index, value), geometry, frame),
           .y = frame_y(rows.at(candidate->index, value + 1), geometry, frame),
           .confidence = visibility(rows, candidate->index, i)});
    }
  }
}

void HeadDecoder::give_masks(const BoxRows& rows, const TensorView& protos,
                             const npu::FrameGeometry& geometry, FrameSize frame, Answer* answer) {
  painter_.begin({.width = protos.dims[3], .height = protos.dims[2]}, geometry, frame,
                 answer->objects);
  std::size_t seen = 0;
  for (const Candidate* candidate : boxes_.kept()) {
    const PlanePart part = painter_.part_for(candidate->object);
    compute_logits(rows, candidate->index, protos, part);
    painter_.paint(candidate->object, part, logits_, answer);
    if (drop_empty_mask(answer)) continue;
    answer->objects[seen++] = candidate->object;
  }
  answer->objects.erase(answer->objects.begin() + static_cast<std::ptrdiff_t>(seen),
                        answer->objects.end());
}

// Adds up coefficients times prototypes.
void HeadDecoder::compute_logits(const BoxRows& rows, std::size_t box, const TensorView& protos,
                                 const PlanePart& part) {
  logits_.assign(part.width * part.height, 0);
  for (std::size_t i = 0; i < head_.mask_coefficients; ++i) {
    add_plane(protos, i, part, rows.at(box, head_.first_extra() + i), &logits_);
  }
}

}  // namespace npu::vision

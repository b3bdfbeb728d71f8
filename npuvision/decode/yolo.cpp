#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <npucore/error.hpp>
#include <npuvision/scalar.hpp>
#include <npuvision/yolo.hpp>

#include "yolo/rows.hpp"

namespace npu::vision {

const char* const kYoloExpectation =
    "a YOLO output is f32 or f16 of shape [1, 4 + classes, boxes] or [1, boxes, 4 + classes], or, "
    "end to end, [1, boxes, 6]";

namespace {

template <typename Scalar, std::size_t count>
std::array<float, count> load_all(const std::byte* from, std::size_t stride_bytes) {
  std::array<float, count> values;
  for (std::size_t i = 0; i < count; ++i) values[i] = load<Scalar>(from + i * stride_bytes);
  return values;
}

[[noreturn]] void refuse_value(const char* what, float value, const char* should) {
  std::array<char, 32> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   std::string("a box has the ") + what + " " + std::string(text.data(), end) +
                       ", which is no " + should +
                       ": the output is of another kind (key points, masks, angles or another "
                       "layout); set tensor-layout or tensor-name, or use a model for detection");
}

float probability(float score) {
  constexpr float kRounding = 1e-3F;  // of halves
  if (score > 1 + kRounding || score < -kRounding) {
    refuse_value("score", score, "probability");
  }
  return std::clamp(score, 0.0F, 1.0F);
}

std::uint32_t class_of(float label, std::size_t classes) {
  constexpr float kMost = 1 << 20;
  const bool is_class = label >= 0 && label < (classes > 0 ? static_cast<float>(classes) : kMost) &&
                        label == std::floor(label);
  if (!is_class) {
    refuse_value("class", label, "class of the model");
  }
  return static_cast<std::uint32_t>(label);
}

[[noreturn]] void refuse(const TensorView& tensor, const std::string& why) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "tensor " + tensor.describe() + " " + why + "; " + kYoloExpectation);
}

/// A last dimension of six is that of two classes, too.
bool is_end_to_end(const TensorView& tensor, std::size_t label_count) {
  constexpr std::size_t kMostOfEndToEnd = 1000;  // their usual number is 300
  if (tensor.dims[2] != YoloTensor::kEndToEndChannels) return false;
  if (tensor.dims[1] <= YoloTensor::kEndToEndChannels) return false;
  if (label_count != 0 && label_count != 2) return true;
  if (tensor.dims[1] > kMostOfEndToEnd) return false;
  refuse(tensor,
         "may have two classes, or be end to end: set tensor-layout to boxes-first or end-to-end");
}

YoloLayout resolve_layout(const TensorView& tensor, YoloLayout layout, std::size_t label_count) {
  if (layout != YoloLayout::kAuto) return layout;
  if (is_end_to_end(tensor, label_count)) return YoloLayout::kEndToEnd;
  const std::size_t second = tensor.dims[1], third = tensor.dims[2];
  if (label_count > 0 && second != third) {
    const std::size_t channels = label_count + YoloTensor::kBoxChannels;
    if (second == channels) return YoloLayout::kChannelsFirst;
    if (third == channels) return YoloLayout::kBoxesFirst;
  }
  if (second == third) {
    refuse(tensor, "could be either way round: set tensor-layout to channels-first or boxes-first");
  }
  return second < third ? YoloLayout::kChannelsFirst : YoloLayout::kBoxesFirst;
}

// Whether element [0, dims[1] - 1, dims[2] - 1] ends inside the memory, without overflow.
bool lies_inside(const TensorView& tensor, std::size_t element_bytes) {
  std::size_t end = element_bytes;
  for (std::size_t i = 1; i < 3; ++i) {
    std::size_t span = 0;
    if (__builtin_mul_overflow(tensor.dims[i] - 1, tensor.strides_bytes[i], &span)) return false;
    if (__builtin_add_overflow(end, span, &end)) return false;
  }
  return tensor.data != nullptr && end <= tensor.size_bytes;
}

void check_channels(const TensorView& tensor, std::size_t channels, bool channels_first,
                    std::size_t label_count) {
  if (channels <= YoloTensor::kBoxChannels) {
    refuse(tensor, "has " + std::to_string(channels) + " values per box, too few for a class");
  }
  // YOLOv5 writes [1, boxes, 5 + classes].
  if (!channels_first && label_count > 0 &&
      channels == label_count + YoloTensor::kBoxChannels + 1) {
    refuse(tensor, "has one value per box more than 4 + " + std::to_string(label_count) +
                       " labels: the objectness of YOLOv5 is not supported, or a label is missing");
  }
  if (channels > std::numeric_limits<std::uint32_t>::max()) {
    refuse(tensor, "is too large");
  }
}

}  // namespace

YoloTensor as_yolo_tensor(const TensorView& tensor, YoloLayout layout, std::size_t label_count) {
  if (tensor.type != npu::ElementType::kF32 && tensor.type != npu::ElementType::kF16) {
    refuse(tensor, "has the wrong element type");
  }
  if (tensor.rank != 3 || tensor.dims[0] != 1 || tensor.dims[1] == 0 || tensor.dims[2] == 0) {
    refuse(tensor, "has the wrong shape");
  }
  const YoloLayout resolved = resolve_layout(tensor, layout, label_count);
  const bool channels_first = resolved == YoloLayout::kChannelsFirst;
  const bool is_end_to_end = resolved == YoloLayout::kEndToEnd;
  const std::size_t channel_dim = channels_first ? 1 : 2, box_dim = channels_first ? 2 : 1;
  const std::size_t channels = tensor.dims[channel_dim];
  if (is_end_to_end && channels != YoloTensor::kEndToEndChannels) {
    refuse(tensor, "has " + std::to_string(channels) +
                       " values per box, but end to end it is 6: left, top, right, bottom, score, "
                       "class");
  }
  check_channels(tensor, channels, channels_first || is_end_to_end, label_count);
  if (tensor.dims[box_dim] > std::numeric_limits<std::uint32_t>::max()) {
    refuse(tensor, "is too large");
  }
  if (!lies_inside(tensor, bit_width(tensor.type) / 8)) {
    refuse(tensor,
           "does not fit into its memory of " + std::to_string(tensor.size_bytes) + " bytes");
  }
  return {.is_end_to_end = is_end_to_end,
          .type = tensor.type,
          .boxes = tensor.dims[box_dim],
          .classes = is_end_to_end ? label_count : channels - YoloTensor::kBoxChannels,
          .box_stride_bytes = tensor.strides_bytes[box_dim],
          .channel_stride_bytes = tensor.strides_bytes[channel_dim],
          .data = tensor.data};
}

std::span<const Detection> YoloDecoder::decode(const YoloTensor& tensor,
                                               const npu::FrameGeometry& geometry, FrameSize frame,
                                               const YoloOptions& options) {
  candidates_.clear();
  if (tensor.type == npu::ElementType::kF16) {
    collect<Half>(tensor, geometry, frame, options.threshold);
  } else {
    collect<float>(tensor, geometry, frame, options.threshold);
  }
  sort();
  if (tensor.is_end_to_end) {
    keep_best(options);
  } else {
    suppress(options);
  }
  detections_.clear();
  for (const Candidate* candidate : kept_) detections_.push_back(candidate->detection);
  return detections_;
}

template <typename Scalar>
void YoloDecoder::collect(const YoloTensor& tensor, const npu::FrameGeometry& geometry,
                          FrameSize frame, float threshold) {
  if (tensor.is_end_to_end) {
    return collect_end_to_end<Scalar>(tensor, geometry, frame, threshold);
  }
  for (std::size_t first = 0; first < tensor.boxes; first += BestScores::kBlock) {
    const std::size_t count = std::min(BestScores::kBlock, tensor.boxes - first);
    collect_block<Scalar>(tensor, first, count, geometry, frame, threshold);
  }
}

template <typename Scalar>
void YoloDecoder::collect_block(const YoloTensor& tensor, std::size_t first, std::size_t count,
                                const npu::FrameGeometry& geometry, FrameSize frame,
                                float threshold) {
  BestScores best;
  const std::byte* boxes = tensor.data + first * tensor.box_stride_bytes;
  const BoxRows rows{.type = tensor.type,
                     .boxes = tensor.boxes,
                     .values = YoloTensor::kBoxChannels + tensor.classes,
                     .box_stride_bytes = tensor.box_stride_bytes,
                     .value_stride_bytes = tensor.channel_stride_bytes,
                     .data = tensor.data};
  best.find(rows, first, count, YoloTensor::kBoxChannels, tensor.classes);
  for (std::size_t i = 0; i < count; ++i) {
    if (!(best.score[i] >= threshold) || !std::isfinite(best.score[i])) continue;
    const auto [x, y, width, height] = load_all<Scalar, YoloTensor::kBoxChannels>(
        boxes + i * tensor.box_stride_bytes, tensor.channel_stride_bytes);
    add({x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0},
        probability(best.score[i]), best.label[i], first + i, geometry, frame);
  }
}

template <typename Scalar>
void YoloDecoder::collect_end_to_end(const YoloTensor& tensor, const npu::FrameGeometry& geometry,
                                     FrameSize frame, float threshold) {
  for (std::size_t i = 0; i < tensor.boxes; ++i) {
    const auto [left, top, right, bottom, score, label] =
        load_all<Scalar, YoloTensor::kEndToEndChannels>(tensor.data + i * tensor.box_stride_bytes,
                                                        tensor.channel_stride_bytes);
    if (!(score >= threshold) || !std::isfinite(score)) continue;
    add({left, top, right, bottom}, probability(score), class_of(label, tensor.classes), i,
        geometry, frame);
  }
}

void YoloDecoder::add(std::array<double, YoloTensor::kBoxChannels> edges, float confidence,
                      std::uint32_t label_id, std::size_t index, const npu::FrameGeometry& geometry,
                      FrameSize frame) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(edges.begin(), edges.end(), finite)) return;
  Candidate candidate{.detection = {},
                      .left = edges[0],
                      .top = edges[1],
                      .right = edges[2],
                      .bottom = edges[3],
                      .index = static_cast<std::uint32_t>(index)};
  const auto to_frame = [](double edge, double offset, double scale, std::uint32_t limit) {
    return std::clamp((edge - offset) * scale, 0.0, static_cast<double>(limit));
  };
  const npu::FrameGeometry& g = geometry;
  candidate.detection = {.left = to_frame(candidate.left, g.offset_x, g.scale_x, frame.width),
                         .top = to_frame(candidate.top, g.offset_y, g.scale_y, frame.height),
                         .right = to_frame(candidate.right, g.offset_x, g.scale_x, frame.width),
                         .bottom = to_frame(candidate.bottom, g.offset_y, g.scale_y, frame.height),
                         .confidence = confidence,
                         .label_id = label_id};
  const Detection& d = candidate.detection;
  if (d.left < d.right && d.top < d.bottom) {
    candidates_.push_back(candidate);
  }
}

void YoloDecoder::sort() {
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    if (a.detection.confidence != b.detection.confidence) {
      return a.detection.confidence > b.detection.confidence;
    }
    return a.index < b.index;
  });
}

void YoloDecoder::keep_best(const YoloOptions& options) {
  kept_.clear();
  for (const Candidate& candidate : candidates_) {
    if (kept_.size() >= options.max_detections) break;
    kept_.push_back(&candidate);
  }
}

// Greedy non-maximum suppression inside each class.
void YoloDecoder::suppress(const YoloOptions& options) {
  kept_.clear();
  for (const Candidate& candidate : candidates_) {
    if (kept_.size() >= options.max_detections) break;
    const bool covered = std::any_of(kept_.begin(), kept_.end(), [&](const Candidate* better) {
      return better->detection.label_id == candidate.detection.label_id &&
             overlap(*better, candidate) > options.iou_threshold;
    });
    if (!covered) {
      kept_.push_back(&candidate);
    }
  }
}

// Intersection over union.
double YoloDecoder::overlap(const Candidate& a, const Candidate& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  const double both =
      (a.right - a.left) * (a.bottom - a.top) + (b.right - b.left) * (b.bottom - b.top);
  return shared / (both - shared);
}

}  // namespace npu::vision

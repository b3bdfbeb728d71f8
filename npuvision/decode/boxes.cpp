#include "boxes.hpp"

#include <algorithm>
#include <cmath>

#include <npucore/error.hpp>

namespace npu::vision {
namespace {

constexpr double kFar = 2;  // in pictures; boxes in shares end before it

double in_frame(double edge, double offset, double scale, std::uint32_t limit) {
  return std::clamp((edge - offset) * scale, 0.0, static_cast<double>(limit));
}

}  // namespace

double frame_x(double x, const npu::FrameGeometry& geometry, FrameSize frame) {
  return in_frame(x, geometry.offset_x, geometry.scale_x, frame.width);
}

double frame_y(double y, const npu::FrameGeometry& geometry, FrameSize frame) {
  return in_frame(y, geometry.offset_y, geometry.scale_y, frame.height);
}

Object filling(FrameSize frame, float confidence, std::uint32_t label_id) {
  return {.left = 0,
          .top = 0,
          .right = static_cast<double>(frame.width),
          .bottom = static_cast<double>(frame.height),
          .confidence = confidence,
          .label_id = label_id,
          .oriented = {}};
}

double overlap(const Edges& a, const Edges& b) {
  const double width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const double height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  const double both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
  return shared / (both - shared);
}

void Boxes::begin(const npu::FrameGeometry& geometry, FrameSize frame) {
  geometry_ = geometry;
  frame_ = frame;
  was_given_ = has_any_ = has_share_ = false;
  candidates_.clear();
  kept_.clear();
}

void Boxes::add(const Edges& edges, float confidence, std::uint32_t label_id, std::size_t index) {
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(edges.begin(), edges.end(), finite)) return;
  was_given_ = true;
  if (edges[0] < edges[2] && edges[1] < edges[3]) {
    has_any_ = true;
    has_share_ = has_share_ || (edges[2] <= kFar * geometry_.model_width &&
                                edges[3] <= kFar * geometry_.model_height);
  }
  const Object object{.left = frame_x(edges[0], geometry_, frame_),
                      .top = frame_y(edges[1], geometry_, frame_),
                      .right = frame_x(edges[2], geometry_, frame_),
                      .bottom = frame_y(edges[3], geometry_, frame_),
                      .confidence = confidence,
                      .label_id = label_id,
                      .oriented = {}};
  if (edges[0] < edges[2] && edges[1] < edges[3]) {
    candidates_.push_back({object, edges, static_cast<std::uint32_t>(index), {}});
  }
}

void Boxes::add_oriented(const OrientedBox& box, float confidence, std::uint32_t label_id,
                         std::size_t index) {
  const OrientedBox placed = into_frame(box, geometry_);
  const Edges edges = enclosing(placed);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(edges.begin(), edges.end(), finite)) return;
  // A scale near zero may leave a side without length.
  if (!(std::min({box.width, box.height, placed.width, placed.height}) > 0)) return;
  was_given_ = has_any_ = true;
  const Object object{.left = std::clamp<double>(edges[0], 0, frame_.width),
                      .top = std::clamp<double>(edges[1], 0, frame_.height),
                      .right = std::clamp<double>(edges[2], 0, frame_.width),
                      .bottom = std::clamp<double>(edges[3], 0, frame_.height),
                      .confidence = confidence,
                      .label_id = label_id,
                      .oriented = placed};
  candidates_.push_back({object, edges, static_cast<std::uint32_t>(index), gaussian_of(box)});
}

void Boxes::sort() {
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    if (a.object.confidence != b.object.confidence) {
      return a.object.confidence > b.object.confidence;
    }
    return a.index < b.index;
  });
}

void Boxes::keep_best(std::size_t most) {
  sort();
  kept_.clear();
  for (const Candidate& candidate : candidates_) {
    if (kept_.size() >= most) break;
    kept_.push_back(&candidate);
  }
  drop_outside();
}

// Greedy non-maximum suppression.
void Boxes::suppress(float iou_threshold, std::size_t most, bool is_class_agnostic) {
  sort();
  kept_.clear();
  for (const Candidate& candidate : candidates_) {
    if (kept_.size() >= most) break;
    const bool covered = std::any_of(kept_.begin(), kept_.end(), [&](const Candidate* better) {
      return (is_class_agnostic || better->object.label_id == candidate.object.label_id) &&
             overlap(better->edges, candidate.edges) > iou_threshold;
    });
    if (!covered) {
      kept_.push_back(&candidate);
    }
  }
  drop_outside();
}

void Boxes::choose(const DecodeOptions& options, bool by_itself) {
  if (options.suppresses.value_or(by_itself)) {
    suppress(options.iou_threshold, options.max_objects, options.is_class_agnostic);
  } else {
    keep_best(options.max_objects);
  }
}

bool Boxes::is_covered(std::size_t candidate, float iou_threshold) const {
  const Candidate& one = candidates_[candidate];
  return std::any_of(candidates_.begin(),
                     candidates_.begin() + static_cast<std::ptrdiff_t>(candidate),
                     [&](const Candidate& better) {
                       return better.object.label_id == one.object.label_id &&
                              probabilistic_overlap(better.turned, one.turned) >= iou_threshold;
                     });
}

// Fast non-maximum suppression: https://arxiv.org/abs/1904.02689.
void Boxes::suppress_oriented(float iou_threshold, std::size_t most) {
  sort();
  kept_.clear();
  for (std::size_t i = 0; i < candidates_.size() && kept_.size() < most; ++i) {
    if (!is_covered(i, iou_threshold)) {
      kept_.push_back(&candidates_[i]);
    }
  }
  drop_outside();
}

// Only now: the authors suppress, and count, what lies in a letterbox's border too.
void Boxes::drop_outside() {
  std::erase_if(kept_, [](const Candidate* candidate) {
    const Object& object = candidate->object;
    return !(object.left < object.right && object.top < object.bottom);
  });
}

void Boxes::give(Answer* answer) const {
  for (const Candidate* candidate : kept_) answer->objects.push_back(candidate->object);
}

void Boxes::check_shares() const {
  if (!has_any_ || has_share_) return;
  throw Error(ErrorCode::kInvalidArgument,
              "all boxes reach far beyond the picture, so they are pixels and not from 0 to 1: set "
              "model-family to one whose boxes are pixels");
}

void refuse_shares() {
  throw Error(
      ErrorCode::kInvalidArgument,
      "all boxes lie between 0 and 1, and not in pixels of the model's input: for an RT-DETR "
      "of Ultralytics set model-family to rtdetr; export a YOLO for OpenVINO, not for "
      "TensorFlow Lite; of another model, set model-family to one whose boxes are from 0 to "
      "1");
}

}  // namespace npu::vision

// Mask R-CNN as the Model API has it: a small mask for each box, which covers that box alone.
// https://github.com/open-edge-platform/model_api, instance_segmentation.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "boxes.hpp"
#include "families.hpp"
#include "masks.hpp"
#include "values.hpp"

namespace npu::vision {
namespace {

constexpr std::size_t kBoxValues = 5;  // left, top, right, bottom in model pixels, score
constexpr float kSure = 0.5F;          // masks have more inside the object

/// Shapes [boxes, 5], [boxes] and [boxes, rows, columns], each with or without a leading 1.
struct Parts {
  std::size_t boxes = 0, labels = 0, masks = 0;
  bool has_batch = false;

  std::size_t first_dim() const { return has_batch ? 1 : 0; }
};

/// The only output that fits; nullopt where none or several do.
template <typename Fits>
std::optional<std::size_t> only(std::span<const TensorView> outputs, const Fits& fits) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!fits(outputs[i])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

std::optional<Parts> parts_of(const Found& found, bool has_batch) {
  const auto has = [has_batch](const TensorView& tensor, std::initializer_list<std::size_t> alone,
                               std::initializer_list<std::size_t> in_batch) {
    return has_shape(tensor, has_batch ? in_batch : alone);
  };
  const auto boxes = only(found.outputs, [&](const TensorView& one) {
    return is_float(one) && has(one, {0, kBoxValues}, {1, 0, kBoxValues});
  });
  if (!boxes) return std::nullopt;
  const std::size_t count = found.outputs[*boxes].dims[has_batch ? 1 : 0];
  const auto labels = only(found.outputs, [&](const TensorView& one) {
    return is_readable(one) && has(one, {count}, {1, count});
  });
  const auto masks = only(found.outputs, [&](const TensorView& one) {
    return is_float(one) && has(one, {count, 0, 0}, {1, count, 0, 0});
  });
  if (!labels || !masks || *masks == *boxes) return std::nullopt;
  return Parts{*boxes, *labels, *masks, has_batch};
}

std::optional<Parts> parts_of(const Found& found) {
  const auto parts = parts_of(found, false);
  return parts ? parts : parts_of(found, true);
}

std::string refusal(const Found& found) {
  if (!parts_of(found)) return kOtherTensors;
  return found.card.family == Family::kMaskRcnn
             ? ""
             : "does not say from which number its classes count: set model-family to mask-rcnn "
               "where the first label is that of no object";
}

/// Place of a mask with a border of one value around it, in frame pixels.
struct Pasted {
  int left = 0, top = 0, right = 0, bottom = 0;  ///< the last pixel is included

  npu::FrameGeometry geometry() const {
    return {.model_width = static_cast<std::uint32_t>(std::max(right - left + 1, 1)),
            .model_height = static_cast<std::uint32_t>(std::max(bottom - top + 1, 1)),
            .offset_x = -static_cast<double>(left),
            .offset_y = -static_cast<double>(top)};
  }
  Object region(FrameSize frame) const {
    return {.left = std::clamp<double>(left, 0, frame.width),
            .top = std::clamp<double>(top, 0, frame.height),
            .right = std::clamp<double>(right + 1.0, 0, frame.width),
            .bottom = std::clamp<double>(bottom + 1.0, 0, frame.height),
            .oriented = {}};
  }
};

/// The rounded box, enlarged as the border enlarges the mask, cut to whole pixels.
Pasted pasted(const Object& box, std::size_t mask_rows) {
  const double growth = (static_cast<double>(mask_rows) + 2) / static_cast<double>(mask_rows);
  const auto along = [growth](double low, double high, int* first, int* last) {
    const double begin = std::rint(low), end = std::rint(high);
    const double half = (end - begin) * 0.5 * growth, center = (begin + end) * 0.5;
    *first = static_cast<int>(center - half);
    *last = static_cast<int>(center + half);
  };
  Pasted place;
  along(box.left, box.right, &place.left, &place.right);
  along(box.top, box.bottom, &place.top, &place.bottom);
  return place;
}

class MaskRcnnDecoder : public Decoder {
 public:
  explicit MaskRcnnDecoder(const Found& found)
      : parts_(parts_of(found).value()),
        made_for_(found.outputs.begin(), found.outputs.end()),
        labels_(found.card.labels.size()),
        input_(found.input) {
    const TensorView& masks = made_for_[parts_.masks];
    rows_ = masks.dims.at(parts_.first_dim() + 1);
    columns_ = masks.dims.at(parts_.first_dim() + 2);
  }

  Family family() const override { return Family::kMaskRcnn; }
  void decode(std::span<const TensorView> outputs, const npu::FrameGeometry& geometry,
              FrameSize frame, const DecodeOptions& options, Answer* answer) override;

 private:
  void add_boxes(const npu::FrameGeometry& geometry, FrameSize frame, float threshold);
  void give_masks(const TensorView& masks, FrameSize frame, Answer* answer);
  void read_mask(const TensorView& masks, std::size_t index, const PlanePart& part);
  LogitPlane plane() const { return {.width = columns_ + 2, .height = rows_ + 2}; }

  Parts parts_;
  std::vector<TensorView> made_for_;
  std::size_t labels_, rows_ = 0, columns_ = 0;
  InputSize input_;
  std::vector<float> box_values_, label_values_;
  std::vector<float> row_, logits_;  // of a mask, and of its painted part
  std::vector<Object> regions_;      // the part of the frame for each mask
  Boxes boxes_;
  MaskPainter painter_;
};

void MaskRcnnDecoder::decode(std::span<const TensorView> outputs,
                             const npu::FrameGeometry& geometry, FrameSize frame,
                             const DecodeOptions& options, Answer* answer) {
  answer->clear();
  read_all(checked_output(outputs, parts_.boxes, made_for_[parts_.boxes]), &box_values_);
  read_all(checked_output(outputs, parts_.labels, made_for_[parts_.labels]), &label_values_);
  const TensorView& masks = checked_output(outputs, parts_.masks, made_for_[parts_.masks]);
  boxes_.begin(geometry, frame);
  add_boxes(geometry, frame, options.confidence_threshold);
  check_pixels(boxes_, input_, label_values_.size(), [&](std::size_t box, std::size_t value) {
    return box_values_[box * kBoxValues + value];
  });
  boxes_.choose(options, false);
  boxes_.give(answer);
  give_masks(masks, frame, answer);
}

// The graph does not give the class of no object, from which labels count. Boxes that contain no
// whole pixel are dropped.
void MaskRcnnDecoder::add_boxes(const npu::FrameGeometry& geometry, FrameSize frame,
                                float threshold) {
  for (std::size_t i = 0; i < label_values_.size(); ++i) {
    const float* box = &box_values_[i * kBoxValues];
    const float score = box[4];
    if (!(score >= threshold) || !std::isfinite(score)) continue;
    class_of(label_values_[i], 0);
    const std::uint32_t label = class_of(label_values_[i] + 1, labels_);
    const double width =
        std::rint(frame_x(box[2], geometry, frame)) - std::rint(frame_x(box[0], geometry, frame));
    const double height =
        std::rint(frame_y(box[3], geometry, frame)) - std::rint(frame_y(box[1], geometry, frame));
    if (!(width > 0 && height > 0 && width * height > 1)) continue;
    boxes_.add({box[0], box[1], box[2], box[3]}, probability(score), label, i);
  }
}

void MaskRcnnDecoder::give_masks(const TensorView& masks, FrameSize frame, Answer* answer) {
  regions_.clear();
  for (const Object& object : answer->objects) {
    regions_.push_back(pasted(object, rows_).region(frame));
  }
  painter_.begin(plane(), {}, frame, regions_);
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    painter_.aim(pasted(answer->objects[i], rows_).geometry());
    const PlanePart part = painter_.part_for(regions_[i]);
    read_mask(masks, boxes_.kept()[i]->index, part);
    painter_.paint(regions_[i], part, logits_, answer);
  }
}

/// Reads the mask with its border, minus kSure: only positive values belong to the object.
void MaskRcnnDecoder::read_mask(const TensorView& masks, std::size_t index, const PlanePart& part) {
  const std::size_t first = parts_.first_dim();
  logits_.assign(part.width * part.height, -kSure);
  row_.resize(columns_);
  for (std::size_t y = 0; y < part.height; ++y) {
    const std::size_t row = part.top + y;
    if (row == 0 || row > rows_) continue;
    const std::byte* from = masks.data + index * masks.strides_bytes.at(first) +
                            (row - 1) * masks.strides_bytes.at(first + 1);
    read(masks, from, masks.strides_bytes.at(first + 2), row_);
    for (std::size_t x = 0; x < part.width; ++x) {
      const std::size_t column = part.left + x;
      if (column == 0 || column > columns_ || !std::isfinite(row_[column - 1])) continue;
      logits_[y * part.width + x] = row_[column - 1] - kSure;
    }
  }
}

std::unique_ptr<Decoder> make(const Found& found) {
  return std::make_unique<MaskRcnnDecoder>(found);
}

constexpr std::array kTasks{Task::kSegment};

}  // namespace

const Contract kMaskRcnnContract{
    Family::kMaskRcnn, kTasks,
    "boxes [boxes, 5], labels [boxes] and masks [boxes, rows, columns], or each with a 1 in front",
    refusal, make};

}  // namespace npu::vision

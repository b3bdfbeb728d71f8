#include "nms_tails.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "detector_tails.hpp"
#include "nodes.hpp"

namespace npu::test {
namespace {

using namespace ov::opset13;

constexpr int kSize = 640;  // of the picture, which only the boxes know of

Value scalar(std::int64_t value) {
  return make<Constant>(ov::element::i64, ov::Shape{}, std::vector<std::int64_t>{value});
}

Value real(float value) {
  return make<Constant>(ov::element::f32, ov::Shape{}, std::vector<float>{value});
}

/// The only picture of a batch.
Value only(const Value& batch) {
  return make<Gather>(batch, scalar(0), scalar(0));
}

class MaskedBuilder {
 public:
  explicit MaskedBuilder(const MaskedTail& tail) : tail_(tail) {}

  const ov::OutputVector& shown() const { return shown_; }

  Value build(const Value& head) {
    split(head);
    const Value best = make<ReduceMax>(scores_, numbers({-1}), false);
    const Value places = chosen(only(best));
    if (tail_.shows_mask) {
      shown_.push_back(make<Convert>(make<Gather>(places, scalar(0), scalar(0)), ov::element::f32));
    }
    const Value boxes = make<GatherND>(only(boxes_), places);
    const Value score = make<GatherND>(only(best), places);
    const Value label = make<GatherND>(only(class_of(tail_.takes_lowest_class)), places);
    const Value other = make<GatherND>(only(class_of(tail_.moves_by_other_class)), places);
    const Value kept = suppressed(moved(boxes, other), score);
    return filled(rows(boxes, score, label, places, kept));
  }

 private:
  void split(const Value& head) {
    const Value rows = make<Transpose>(head, numbers({0, 2, 1}));
    // The size of the values after boxes and scores is computed.
    const Value size = make<Gather>(make<ShapeOf>(rows), scalar(2), scalar(0));
    const Value more = make<Add>(size, scalar(-4 - tail_.classes));
    const Value lengths = make<Concat>(
        ov::OutputVector{numbers({4}), numbers({tail_.classes}), make<Unsqueeze>(more, scalar(0))},
        0);
    const auto parts = std::make_shared<VariadicSplit>(rows, numbers({2}), lengths);
    boxes_ = parts->output(0);
    scores_ = parts->output(1);
    more_ = parts->output(2);
    if (!tail_.gathers_by_names) {
      boxes_ = make<Relu>(boxes_);
      scores_ = make<Relu>(scores_);
    }
  }

  Value class_of(bool lowest) const {
    const auto mode = lowest ? ov::op::TopKMode::MIN : ov::op::TopKMode::MAX;
    const auto sort =
        tail_.is_stable ? ov::op::TopKSortType::SORT_VALUES : ov::op::TopKSortType::NONE;
    const auto top = std::make_shared<TopK>(scores_, scalar(1), -1, mode, sort, ov::element::i64,
                                            tail_.is_stable);
    return make<Squeeze>(top->output(1), numbers({-1}));
  }

  Value chosen(const Value& best) const {
    Value by = best;
    if (tail_.masks_by_other_best) {
      const auto parts =
          std::make_shared<VariadicSplit>(scores_, numbers({-1}), numbers({tail_.classes - 1, 1}));
      by = only(make<ReduceMax>(parts->output(0), numbers({-1}), false));
    }
    const Value mask = tail_.masks_equal ? make<GreaterEqual>(by, real(tail_.conf))
                                         : make<Greater>(by, real(tail_.conf));
    return make<Reshape>(make<NonZero>(mask, ov::element::i64), numbers({-1, 1}), true);
  }

  Value moved(const Value& boxes, const Value& label) const {
    const float scale = 1.0F / static_cast<float>(tail_.classes);
    Value scaled = boxes;
    if (tail_.is_scaled) {
      const Value longest = make<Convert>(
          make<ReduceMax>(numbers({kSize / 2, kSize}), numbers({0}), false), ov::element::f32);
      scaled = make<Multiply>(make<Divide>(boxes, longest), real(scale));
    }
    if (tail_.is_agnostic) return scaled;
    const Value size = make<Concat>(ov::OutputVector{make<ShapeOf>(label), numbers({4})}, 0);
    const Value column = make<Reshape>(label, numbers({0, 1}), true);
    const Value each = make<Broadcast>(column, size, ov::op::BroadcastType::BIDIRECTIONAL);
    const float offset = tail_.is_scaled ? scale : static_cast<float>(kSize);
    const Value move = make<Multiply>(make<Convert>(each, ov::element::f32), real(offset));
    Value apart = make<Add>(
        make<Slice>(scaled, numbers({0}), numbers({4}), numbers({1}), numbers({1})), move);
    if (tail_.moves_twice) {
      apart = make<Add>(apart, move);
    }
    return tail_.scales_moved == 1 ? apart : make<Multiply>(apart, real(tail_.scales_moved));
  }

  Value suppressed(const Value& boxes, const Value& score) const {
    using Encoding = ov::op::v9::NonMaxSuppression::BoxEncodingType;
    const auto nms = std::make_shared<NonMaxSuppression>(
        make<Reshape>(boxes, numbers({1, -1, 4}), false), make<Unsqueeze>(score, numbers({0, 1})),
        scalar(tail_.most_of_class), real(tail_.iou), real(std::numeric_limits<float>::lowest()),
        Encoding::CORNER, true, ov::element::i64);
    const Value places =
        make<Squeeze>(make<Gather>(nms->output(0), numbers({2}), scalar(1)), numbers({1}));
    const int most = tail_.limit > 0 ? tail_.limit : tail_.detections;
    Value first = make<Slice>(places, numbers({0}), numbers({most}), numbers({1}), numbers({0}));
    if (tail_.limits_again) {
      first =
          make<Slice>(first, numbers({0}), numbers({tail_.detections}), numbers({1}), numbers({0}));
    }
    return make<Convert>(make<Convert>(first, ov::element::i32), ov::element::u32);
  }

  Value rows(const Value& boxes, const Value& score, const Value& label, const Value& places,
             const Value& kept) const {
    const auto taken = [&](const Value& values) { return make<Gather>(values, kept, scalar(0)); };
    const auto column = [&](const Value& values) {
      return make<Reshape>(taken(values), numbers({-1, 1}), false);
    };
    Value first = tail_.shows_other_boxes ? make<Multiply>(boxes, real(2)) : boxes;
    Value points = column(score);
    if (tail_.changes_scores) {
      points = make<Multiply>(points, real(0.5F));
    }
    ov::OutputVector parts{taken(first), points, make<Convert>(column(label), ov::element::f32)};
    if (tail_.more > 0) {
      parts.push_back(taken(make<GatherND>(only(more_), places)));
    }
    return make<Concat>(parts, -1);
  }

  /// A tensor of zeros into which rows and what fills them up are written.
  Value filled(const Value& rows) const {
    const std::int64_t width = 6 + tail_.more, all = width * tail_.detections;
    const Value count = make<Gather>(make<ShapeOf>(rows), scalar(0), scalar(0));
    const Value missing =
        make<Multiply>(make<Unsqueeze>(make<Subtract>(scalar(tail_.detections), count), scalar(0)),
                       numbers({width}));
    const Value ends =
        make<Reshape>(make<Concat>(ov::OutputVector{numbers({tail_.padding_in_front}), missing}, 0),
                      numbers({-1, 2}), false);
    const auto sides = std::make_shared<Split>(ends, scalar(1), 2);
    const Value flat = make<Reshape>(rows, numbers({-1}), false);
    const Value padded = make<Pad>(flat, make<Squeeze>(sides->output(0), numbers({1})),
                                   make<Squeeze>(sides->output(1), numbers({1})),
                                   real(tail_.padding), ov::op::PadMode::CONSTANT);
    const Value counted = make<Range>(scalar(tail_.first_place), scalar(all + tail_.first_place),
                                      scalar(1), ov::element::i64);
    const Value zeros =
        make<Constant>(ov::element::f32, ov::Shape{static_cast<std::size_t>(all)}, 0.0F);
    const Value written =
        make<ScatterNDUpdate>(zeros, make<Reshape>(counted, numbers({-1, 1}), false),
                              make<Reshape>(padded, numbers({all}), false));
    const int rows_of_one = tail_.detections / tail_.pictures;
    const Value output = make<Reshape>(written, numbers({-1, rows_of_one, width}), true);
    if (tail_.pictures > 1) return output;
    return make<Slice>(output, numbers({0}), numbers({1}), numbers({1}), numbers({0}));
  }

  const MaskedTail& tail_;
  ov::OutputVector shown_;
  Value boxes_, scores_, more_;
};

}  // namespace

Model model_of(const MaskedTail& tail) {
  const auto values = static_cast<std::size_t>(4 + tail.classes + tail.more);
  const auto head = std::make_shared<Parameter>(
      ov::element::f32, ov::Shape{1, values, static_cast<std::size_t>(tail.boxes)});
  head->output(0).set_names({"boxes"});
  MaskedBuilder builder(tail);
  const auto output = builder.build(make<Relu>(head->output(0)));
  output.get_tensor().set_names({"output0"});
  ov::OutputVector outputs{output};
  outputs.insert(outputs.end(), builder.shown().begin(), builder.shown().end());
  return written(outputs, {head});
}

std::vector<float> random_heads(int boxes, int classes, int more, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> any(0, 1);
  const auto count = static_cast<std::size_t>(boxes);
  std::vector<float> values(count * static_cast<std::size_t>(4 + classes + more));
  for (std::size_t box = 0; box < count; ++box) {
    const auto value = [&](std::size_t row) -> float& { return values[row * count + box]; };
    // Around a few places, so that many overlap.
    value(0) = static_cast<float>(random() % 4) * 140 + any(random) * 30;
    value(1) = static_cast<float>(random() % 4) * 140 + any(random) * 30;
    value(2) = value(0) + 40 + any(random) * 40;
    value(3) = value(1) + 40 + any(random) * 40;
    for (std::size_t row = 4; row < static_cast<std::size_t>(4 + classes + more); ++row) {
      value(row) = any(random);
    }
  }
  return values;
}

std::vector<float> tied_heads(int boxes, int classes, int more, unsigned seed) {
  constexpr float kSteps = 8;
  auto values = random_heads(boxes, classes, more, seed);
  const auto count = static_cast<std::size_t>(boxes);
  const auto end = count * static_cast<std::size_t>(4 + classes);
  for (std::size_t i = 4 * count; i < end; ++i) {
    values[i] = std::round(values[i] * kSteps) / kSteps;
  }
  return values;
}

}  // namespace npu::test

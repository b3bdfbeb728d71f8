#include "class_nms_tails.hpp"

#include <openvino/opsets/opset13.hpp>

#include "detector_tails.hpp"

namespace npu::test {
namespace {

using namespace ov::opset13;
using Value = ov::Output<ov::Node>;
using SortType = ov::op::util::MulticlassNmsBase::SortResultType;

std::shared_ptr<Constant> numbers(const std::vector<std::int64_t>& values) {
  return Constant::create(ov::element::i64, {values.size()}, values);
}

template <class Enum>
Enum sort_of(ClassTail::Sort sort) {
  if (sort == ClassTail::Sort::kByScore) return Enum::SCORE;
  return sort == ClassTail::Sort::kByClass ? Enum::CLASSID : Enum::NONE;
}

ov::element::Type_t index_type(const ClassTail& tail) {
  return tail.has_long_numbers ? ov::element::Type_t::i64 : ov::element::Type_t::i32;
}

std::shared_ptr<ov::Node> matrix_nms(const ClassTail& tail, const Value& boxes,
                                     const Value& scores) {
  MatrixNms::Attributes attributes;
  attributes.sort_result_type = sort_of<MatrixNms::SortResultType>(tail.sort);
  attributes.output_type = index_type(tail);
  attributes.score_threshold = tail.score;
  attributes.nms_top_k = tail.candidates;
  attributes.keep_top_k = tail.detections;
  attributes.background_class = tail.background;
  attributes.decay_function =
      tail.is_gaussian ? MatrixNms::DecayFunction::GAUSSIAN : MatrixNms::DecayFunction::LINEAR;
  attributes.gaussian_sigma = tail.sigma;
  attributes.post_threshold = tail.lowest;
  attributes.normalized = tail.is_normalized;
  return std::make_shared<MatrixNms>(boxes, scores, attributes);
}

std::shared_ptr<ov::Node> multiclass_nms(const ClassTail& tail, const Value& boxes,
                                         const Value& scores) {
  MulticlassNms::Attributes attributes;
  attributes.sort_result_type = sort_of<SortType>(tail.sort);
  attributes.output_type = index_type(tail);
  attributes.iou_threshold = tail.iou;
  attributes.score_threshold = tail.score;
  attributes.nms_top_k = tail.candidates;
  attributes.keep_top_k = tail.detections;
  attributes.background_class = tail.background;
  attributes.normalized = tail.is_normalized;
  attributes.nms_eta = tail.eta;
  if (!tail.has_rows_of_all) return std::make_shared<MulticlassNms>(boxes, scores, attributes);
  // Then boxes are [classes, rows, 4] and scores [classes, rows].
  const auto each = std::make_shared<Tile>(boxes, numbers({tail.classes, 1, 1}));
  const auto flat = std::make_shared<Squeeze>(scores, numbers({0}));
  const auto rows = Constant::create(ov::element::i32, {1}, {tail.boxes});
  return std::make_shared<MulticlassNms>(each, flat, rows, attributes);
}

}  // namespace

Model model_of(const ClassTail& tail) {
  const auto values = static_cast<std::size_t>(4 + tail.classes);
  const auto head = std::make_shared<Parameter>(
      ov::element::f32, ov::Shape{1, values, static_cast<std::size_t>(tail.boxes)});
  head->output(0).set_names({"boxes"});
  const auto parts = std::make_shared<VariadicSplit>(std::make_shared<Relu>(head), numbers({1}),
                                                     numbers({4, tail.classes}));
  const Value boxes = std::make_shared<Transpose>(parts->output(0), numbers({0, 2, 1}));
  Value scores = parts->output(1);
  if (!tail.are_scores_by_class) {
    const auto rows = std::make_shared<Transpose>(scores, numbers({0, 2, 1}));
    scores = std::make_shared<Transpose>(std::make_shared<Relu>(rows), numbers({0, 2, 1}));
  }
  const auto nms =
      tail.is_matrix ? matrix_nms(tail, boxes, scores) : multiclass_nms(tail, boxes, scores);
  Value output = nms->output(0);
  if (tail.changes_rows) {
    output = std::make_shared<Multiply>(output, Constant::create(ov::element::f32, {}, {0.5F}));
  }
  if (tail.has_whole_rows) {
    output = std::make_shared<Convert>(output, ov::element::i32);
  }
  output.get_tensor().set_names({"output0"});
  ov::OutputVector outputs{output};
  if (tail.shows_counts) {
    const auto places = std::make_shared<Squeeze>(nms->output(1), numbers({1}));
    outputs.push_back(std::make_shared<Convert>(places, ov::element::f32));
    outputs.push_back(nms->output(2));
  }
  if (tail.shows_features) {
    const auto all = std::make_shared<Squeeze>(boxes, numbers({0}));
    outputs.push_back(std::make_shared<Gather>(all, nms->output(1), numbers({0})));
  }
  return written(outputs, {head});
}

}  // namespace npu::test

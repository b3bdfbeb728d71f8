#include "detector_tails.hpp"

#include <filesystem>
#include <fstream>
#include <openvino/pass/serialize.hpp>
#include <regex>
#include <sstream>

#include "support/temp_dir.hpp"

#include "nodes.hpp"

namespace npu::test {
namespace {

using namespace ov::opset13;

class TailBuilder {
 public:
  explicit TailBuilder(const Tail& tail) : tail_(tail) {}

  /// Outputs beside the detections.
  const ov::OutputVector& shown() const { return shown_; }

  Value build(const Value& head) {
    split(head);
    if (tail_.shows_head) {
      shown_.push_back(make<Relu>(head));
    }
    if (tail_.shows_classes) {
      const Value all = make<ReduceMax>(scores_, numbers({1}), false);
      shown_.push_back(std::make_shared<TopK>(all, scalar(3), -1, ov::op::TopKMode::MAX,
                                              ov::op::TopKSortType::SORT_VALUES)
                           ->output(0));
    }
    const Value best = first_rows();
    if (tail_.shows_rows) {
      shown_.push_back(make<Convert>(best, ov::element::f32));
    }
    const Value chosen = rows_at(scores_, best, tail_.classes);
    const auto mode = tail_.keeps_lowest ? ov::op::TopKMode::MIN : ov::op::TopKMode::MAX;
    const Value flat = make<Reshape>(chosen, numbers({0, -1}), true);
    const auto top = std::make_shared<TopK>(flat, scalar(tail_.detections), -1, mode,
                                            ov::op::TopKSortType::SORT_VALUES, tail_.index);
    place_ = whole(top->output(1));
    if (tail_.shows_scores) {
      shown_.push_back(make<Relu>(top->output(0)));
    }
    const Value row = quotient();
    std::vector<Value> parts{values(boxes_, 4, best, row)};
    if (tail_.scales_boxes) {
      parts[0] = make<Multiply>(parts[0], make<Constant>(ov::element::f32, ov::Shape{}, 2.0F));
    }
    parts.push_back(make<Unsqueeze>(top->output(0), numbers({-1})));
    parts.push_back(make<Convert>(make<Unsqueeze>(remainder(), numbers({-1})), ov::element::f32));
    if (tail_.swaps_score) {
      std::swap(parts[1], parts[2]);
    }
    if (tail_.more > 0) {
      parts.push_back(values(more_, tail_.more, best, row));
    }
    return make<Concat>(ov::OutputVector(parts.begin(), parts.end()), -1);
  }

 private:
  Value scalar(std::int64_t value) const {
    return make<Constant>(tail_.constants, ov::Shape{}, std::vector<std::int64_t>{value});
  }
  Value whole(const Value& value) const {
    return tail_.index == tail_.constants ? value : make<Convert>(value, tail_.constants);
  }

  void split(const Value& head) {
    const Value rows = make<Transpose>(head, numbers({0, 2, 1}));
    std::vector<std::int64_t> widths{4, tail_.classes};
    const std::size_t boxes = tail_.has_scores_first ? 1 : 0;
    std::swap(widths[0], widths[boxes]);
    if (tail_.more > 0) {
      widths.push_back(tail_.more);
    }
    const auto parts = std::make_shared<VariadicSplit>(rows, numbers({-1}), numbers(widths));
    boxes_ = parts->output(boxes);
    scores_ = parts->output(1 - boxes);
    if (tail_.more > 0) {
      more_ = parts->output(2);
    }
    if (!tail_.is_one_tensor) {
      boxes_ = make<Relu>(boxes_);
      scores_ = make<Sigmoid>(scores_);
    }
  }

  Value first_rows() const {
    Value seen = scores_;
    if (tail_.uses_other_best) {
      seen = make<VariadicSplit>(scores_, numbers({-1}), numbers({tail_.classes - 1, 1}));
    }
    const auto count = tail_.first_detections > 0 ? tail_.first_detections : tail_.detections;
    const auto top = std::make_shared<TopK>(make<ReduceMax>(seen, numbers({-1}), false),
                                            scalar(count), -1, ov::op::TopKMode::MAX,
                                            ov::op::TopKSortType::SORT_VALUES, tail_.index);
    return make<Unsqueeze>(top->output(1), numbers({-1}));
  }

  Value divided() const {
    const Value quotient =
        make<Divide>(place_, scalar(tail_.divisor > 0 ? tail_.divisor : tail_.classes));
    if (tail_.correction != Tail::Correction::kNone) return corrected(quotient);
    return tail_.by_floor ? make<Floor>(quotient) : quotient;
  }
  /// As PyTorch writes floor_divide to ONNX.
  Value corrected(const Value& quotient) const {
    const Value classes = scalar(tail_.classes), zero = scalar(0);
    const Value rest = make<Subtract>(place_, make<Multiply>(quotient, classes));
    const Value is_negative = make<LogicalXor>(make<Less>(place_, scalar(tail_.correct_below)),
                                               make<Less>(classes, zero));
    const Value is_corrected =
        make<LogicalAnd>(is_negative, make<LogicalNot>(make<Equal>(rest, zero)));
    if (tail_.correction == Tail::Correction::kSelected) {
      return make<Select>(is_corrected, make<Subtract>(quotient, scalar(1)), quotient);
    }
    const Value less = make<Multiply>(make<Convert>(is_corrected, tail_.constants), scalar(1));
    return make<Subtract>(quotient, less);
  }
  Value quotient() const { return divided(); }
  Value remainder() const {
    if (!tail_.remainder_by_product) return make<FloorMod>(place_, scalar(tail_.classes));
    return make<Subtract>(place_, make<Multiply>(divided(), scalar(tail_.classes)));
  }

  Value rows_at(const Value& data, const Value& index, int width) const {
    const Value each = make<Tile>(index, numbers({1, 1, width}));
    return make<GatherElements>(data, make<Convert>(each, ov::element::i32), 1);
  }
  /// Takes rows by an index [1, detections], as PyTorch's indices in brackets are converted.
  Value taken(const Value& data, const Value& index, int width) const {
    const Value flat = make<Reshape>(data, numbers({-1, width}), false);
    const Value zero = make<Constant>(ov::element::i32, ov::Shape{1, 1}, 0);
    const Value at = make<Add>(make<Convert>(index, ov::element::i32), zero);
    const Value axis = make<Constant>(ov::element::i32, ov::Shape{}, 0);
    return make<Reshape>(make<Gather>(flat, at, axis), numbers({1, tail_.detections, width}),
                         false);
  }
  Value values(const Value& data, int width, const Value& best, const Value& row) const {
    if (tail_.gathers_boxes_twice) return taken(rows_at(data, best, width), row, width);
    return rows_at(data, taken(best, row, 1), width);
  }

  const Tail& tail_;
  ov::OutputVector shown_;
  Value boxes_, scores_, more_, place_;
};

void remove_output_names(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::ofstream(file) << std::regex_replace(text.str(), std::regex(" output_names=\"[^\"]*\""), "");
}

}  // namespace

Model written(const ov::OutputVector& outputs, const ov::ParameterVector& parameters,
              bool is_older) {
  const TempDir dir;
  const auto model = std::make_shared<ov::Model>(outputs, parameters, "made");
  ov::pass::Serialize(dir.path() / "model.xml", dir.path() / "model.bin").run_on_model(model);
  if (is_older) {
    remove_output_names(dir.path() / "model.xml");
  }
  return Model::read(dir.path() / "model.xml");
}

Model model_of(const std::vector<Tail>& tails) {
  const Tail& first = tails.front();
  const auto values = static_cast<std::size_t>(4) + static_cast<std::size_t>(first.classes) +
                      static_cast<std::size_t>(first.more);
  const auto head = std::make_shared<Parameter>(
      ov::element::f32, ov::Shape{1, values, static_cast<std::size_t>(first.boxes)});
  head->output(0).set_names({"boxes"});
  const auto rows = make<Relu>(head->output(0));
  if (first.names_head) {
    rows.get_tensor().set_names({"head"});
  }
  ov::OutputVector outputs;
  for (std::size_t i = 0; i < tails.size(); ++i) {
    TailBuilder builder(tails[i]);
    const auto output = builder.build(rows);
    output.get_tensor().set_names({"output" + std::to_string(i)});
    outputs.insert(outputs.end(), tails[i].is_two_outputs ? 2 : 1, output);
    outputs.insert(outputs.end(), builder.shown().begin(), builder.shown().end());
  }
  return written(outputs, {head}, first.is_older_file);
}

Model model_of(const Tail& tail) {
  return model_of(std::vector<Tail>{tail});
}

}  // namespace npu::test

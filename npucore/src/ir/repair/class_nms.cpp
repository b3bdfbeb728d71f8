#include "class_nms.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

constexpr std::int64_t kRowValues = 6;
constexpr const char* kMatrix = "MatrixNms";

bool is_share(double value) {
  return value >= 0 && value <= 1;
}

/// The attributes of one layer; missing ones have the operator's own default.
class Attributes {
 public:
  explicit Attributes(pugi::xml_node layer) : data_(layer.child("data")) {}

  std::string_view text(const char* name) const { return data_.attribute(name).value(); }
  /// NaN if the text is no number.
  double real(const char* name, double otherwise) const {
    if (!data_.attribute(name)) return otherwise;
    return parse_real(text(name)).value_or(NAN);
  }
  /// -1 for all, as the operators write it; 0 for an invalid count.
  std::int64_t count(const char* name) const {
    const double value = real(name, -1);
    const bool fits = value == -1 || (value >= 1 && value <= INT32_MAX);
    return fits ? static_cast<std::int64_t>(value) : 0;
  }
  bool flag(const char* name, bool otherwise) const {
    const auto attribute = data_.attribute(name);
    return attribute ? attribute.as_bool() : otherwise;
  }

 private:
  pugi::xml_node data_;
};

std::optional<Tail::ClassNms::Matrix> read_matrix(const Attributes& attributes) {
  Tail::ClassNms::Matrix matrix;
  matrix.lowest = attributes.real("post_threshold", 0);
  const auto decay = attributes.text("decay_function");
  if (decay == "gaussian") {
    matrix.sigma = attributes.real("gaussian_sigma", 2);
    if (!(*matrix.sigma >= 0 && *matrix.sigma <= Tail::kLargest)) return {};
  } else if (!decay.empty() && decay != "linear") {
    return {};
  }
  return is_share(matrix.lowest) ? std::optional(matrix) : std::nullopt;
}

std::optional<Tail::ClassNms> read_options(pugi::xml_node layer, const Meaning& scores) {
  const Attributes attributes(layer);
  Tail::ClassNms nms;
  nms.iou = attributes.real("iou_threshold", 0);
  nms.score = attributes.real("score_threshold", 0);
  nms.margin = attributes.flag("normalized", true) ? 0 : 1;
  const auto candidates = attributes.count("nms_top_k");
  const double background = attributes.real("background_class", -1);
  // A threshold that falls with each box is a different rule.
  if (candidates == 0 || attributes.real("nms_eta", 1) != 1) return {};
  if (candidates > 0 && candidates < scores.rows) {
    nms.candidates = candidates;
  }
  if (background >= 0 && background < static_cast<double>(scores.width)) {
    nms.background = static_cast<std::int64_t>(background);
  }
  if (layer_type(layer) == kMatrix) {
    nms.matrix = read_matrix(attributes);
    if (!nms.matrix) return {};
  }
  return is_share(nms.score) && is_share(nms.iou) ? std::optional(nms) : std::nullopt;
}

class ClassNmsReader {
 public:
  ClassNmsReader(const Document& document, const Weights& weights)
      : document_(document), meanings_(document, weights) {}

  std::optional<Tail> read(PortRef output) {
    const auto shape = meanings_.shape_of(output);
    if (shape.size() < 2 || shape.back() != kRowValues) return {};
    const PortRef rows = without_views(output);
    const auto layer = document_.layer(rows.layer);
    const auto type = layer_type(layer);
    const bool is_one = type == "MulticlassNms" || type == kMatrix;
    if (!is_one || document_.output_port(rows).index != 0) return {};
    if (!read_inputs(layer)) return {};
    tail_.class_nms = read_options(layer, tail_.scores);
    if (!tail_.class_nms || !read_detections(layer)) return {};
    tail_.detectors.push_back(layer_id(layer));
    find_counts(layer_id(layer));
    return tail_;
  }

 private:
  bool keeps_fractions(PortRef from, PortRef to) const;
  PortRef without_views(PortRef value) const;
  bool read_inputs(pugi::xml_node layer);
  bool read_scores(PortRef scores);
  bool read_detections(pugi::xml_node layer);
  void find_counts(LayerId detector);

  const Document& document_;
  Meanings meanings_;
  Tail tail_;
};

/// False if a Convert to whole numbers cuts off fractions.
bool ClassNmsReader::keeps_fractions(PortRef from, PortRef to) const {
  const auto is_real = [&](PortRef value) {
    const std::string_view type = document_.output_port(value).node.attribute("precision").value();
    return type == "FP32" || type == "FP16";
  };
  return is_real(to) || !is_real(from);
}

/// Looks through layers that keep the elements and their order; the type may change.
PortRef ClassNmsReader::without_views(PortRef value) const {
  constexpr int kMostThrough = 8;
  for (int i = 0; i < kMostThrough; ++i) {
    const auto layer = document_.layer(value.layer);
    const auto type = layer_type(layer);
    const bool is_view =
        type == "Reshape" || type == "Squeeze" || type == "Unsqueeze" || type == "Convert";
    const auto from = is_view ? meanings_.input(layer, 0) : std::nullopt;
    if (!from || (type == "Convert" && !keeps_fractions(*from, value))) break;
    value = *from;
  }
  return value;
}

/// Takes one picture only; a third input would assign rows to pictures.
bool ClassNmsReader::read_inputs(pugi::xml_node layer) {
  const auto boxes = meanings_.input(layer, 0), scores = meanings_.input(layer, 1);
  if (!boxes || !scores || input_ports(layer).size() != 2) return false;
  tail_.boxes = meanings_.of(*boxes);
  const bool are_boxes = tail_.boxes.is(Meaning::Kind::kRows) && !tail_.boxes.chosen &&
                         tail_.boxes.width == kBoxValues;
  return are_boxes && meanings_.shape_of(*boxes).size() == 3 && read_scores(*scores);
}

/// Reads scores [1, classes, boxes]: transposed columns of rows, or a tensor of its own.
bool ClassNmsReader::read_scores(PortRef scores) {
  const auto layer = document_.layer(scores.layer);
  const auto order =
      layer_type(layer) == "Transpose" ? meanings_.whole_numbers(layer, 1) : std::nullopt;
  const auto from = meanings_.input(layer, 0);
  if (from && order == std::vector<std::int64_t>{0, 2, 1}) {
    tail_.scores = meanings_.of(*from);
    const bool are_rows = tail_.scores.is(Meaning::Kind::kRows) && !tail_.scores.chosen;
    if (are_rows && tail_.scores.rows == tail_.boxes.rows) return true;
  }
  tail_.scores = meanings_.as_rows(scores);
  if (!tail_.scores.is(Meaning::Kind::kRows)) return false;
  std::swap(tail_.scores.rows, tail_.scores.width);
  tail_.are_scores_by_class = true;
  return tail_.scores.rows == tail_.boxes.rows;
}

bool ClassNmsReader::read_detections(pugi::xml_node layer) {
  const auto most = Attributes(layer).count("keep_top_k");
  const auto of_class =
      std::min(tail_.class_nms->candidates.value_or(tail_.boxes.rows), tail_.boxes.rows);
  const auto all = of_class * tail_.classes();
  tail_.detections = most < 0 ? all : std::min(most, all);
  return tail_.detections >= 1 && tail_.detections <= Tail::kMostDetections &&
         of_class <= Tail::kMostDetections;
}

/// Finds outputs with the chosen rows and their number, which the host finds itself.
void ClassNmsReader::find_counts(LayerId detector) {
  for (const auto result : document_.layers_of_type("Result")) {
    const auto from = document_.producer(result, input_port(result, 0));
    if (!from) continue;
    const PortRef value = without_views(*from);
    if (value.layer == detector && document_.output_port(value).index > 0) {
      tail_.counts.push_back(layer_id(result));
    }
  }
}

}  // namespace

std::optional<Tail> read_class_nms(const Document& document, const Weights& weights,
                                   PortRef output) {
  return ClassNmsReader(document, weights).read(output);
}

}  // namespace npu::ir

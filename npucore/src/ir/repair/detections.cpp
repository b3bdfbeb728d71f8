#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/graph_builder.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"
#include "ir/reshape.hpp"

#include "meaning.hpp"
#include "repair.hpp"

namespace npu::ir {
namespace {

using Kind = Meaning::Kind;
constexpr std::int64_t kBoxValues = 4;
// What the host takes: a model's card has no more labels (npuvision, CardLimits).
constexpr std::int64_t kMostDetections = 1 << 16, kMostClasses = 1 << 16;

/// What the end of a graph does, and on which columns: the host does the same with these.
struct Tail {
  Meaning boxes, scores;
  std::vector<Meaning> more;       ///< masks' coefficients, key points, an angle
  std::vector<LayerId> detectors;  ///< what chooses the detections
  std::int64_t detections = 0;
  struct Nms {
    double iou = 0, score = 0;
  };
  std::optional<Nms> nms;  ///< else TopK
  std::int64_t classes() const { return scores.width; }
};

class TailReader {
 public:
  TailReader(const Document& document, const Weights& weights)
      : document_(document), meanings_(document, weights) {}

  /// Nothing where the value is not exactly such a tail's.
  std::optional<Tail> read(PortRef output);

 private:
  PortRef without_padding(PortRef value) const;
  bool is_cut_at(pugi::xml_node slice, std::int64_t rows) const;
  bool is_filled_with_zeros(pugi::xml_node concat) const;
  bool read_parts(pugi::xml_node concat);
  bool add_values(const Meaning& part);
  bool read_top_k();
  bool is_chosen_by_scores();
  bool read_nms(pugi::xml_node layer);
  bool read_nms_inputs(pugi::xml_node layer);
  std::int64_t top_k_size(LayerId layer) const;

  const Document& document_;
  Meanings meanings_;
  Tail tail_;
  Meaning score_, class_;
};

/// From a model's output back to the rows of detections: NonMaxSuppression gives as many as it
/// finds, zeros fill up.
PortRef TailReader::without_padding(PortRef value) const {
  constexpr int kMostSteps = 8;
  const auto rows = meanings_.shape_of(value);
  for (int i = 0; i < kMostSteps; ++i) {
    const auto layer = document_.layer(value.layer);
    const auto type = layer_type(layer);
    const bool is_view = type == "Reshape" || type == "Squeeze" || type == "Unsqueeze";
    const bool is_cut = type == "Slice" && rows.size() == 3 && is_cut_at(layer, rows[1]);
    const bool is_filled = type == "Concat" && is_filled_with_zeros(layer);
    const auto from = meanings_.input(layer, 0);
    if (!from || !(is_view || is_cut || is_filled)) break;
    // The same rows in the same order, whatever their number.
    const auto before = meanings_.shape_of(*from);
    if (before.empty() || rows.empty() || before.back() != rows.back()) break;
    value = *from;
  }
  return value;
}

bool TailReader::is_cut_at(pugi::xml_node slice, std::int64_t rows) const {
  const auto is = [&](std::size_t position, std::int64_t wanted) {
    const auto numbers = meanings_.whole_numbers(slice, position);
    return numbers && numbers->size() == 1 && numbers->front() == wanted;
  };
  return is(1, 0) && is(2, rows) && is(3, 1) && is(4, 1);
}

/// Of rows, behind those that are there.
bool TailReader::is_filled_with_zeros(pugi::xml_node concat) const {
  constexpr std::size_t kMost = 1 << 20;
  const auto port = input_port(concat, 1);
  if (input_ports(concat).size() != 2 || !port) return false;
  const auto axis = parse_real(concat.child("data").attribute("axis").value());
  if (axis != 1.0) return false;
  return meanings_.are_zeros({layer_id(concat), port.attribute("id").as_ullong()}, kMost);
}

bool TailReader::add_values(const Meaning& part) {
  if (!part.is(Kind::kDetValues)) return false;
  tail_.more.push_back(part);
  return true;
}

/// Boxes, scores, classes and what else there is, side by side.
bool TailReader::read_parts(pugi::xml_node concat) {
  constexpr std::size_t kFewest = 3, kMost = 16;
  const auto ports = input_ports(concat);
  if (layer_type(concat) != "Concat" || ports.size() < kFewest || ports.size() > kMost) {
    return false;
  }
  const auto axis = parse_real(concat.child("data").attribute("axis").value());
  const auto rank = static_cast<double>(port_shape(ports[0]).size());
  if (!axis || (*axis != -1 && *axis != rank - 1)) return false;
  std::vector<Meaning> parts;
  for (auto port : ports) {
    const auto from = document_.producer(concat, port);
    const auto shape = from ? meanings_.shape_of(*from) : Shape{};
    parts.push_back(from ? meanings_.of(*from) : Meaning{});
    if (shape.empty() || shape.back() != parts.back().width) return false;
  }
  tail_.boxes = parts[0];
  score_ = parts[1];
  class_ = parts[2];
  if (!tail_.boxes.is(Kind::kDetValues) || tail_.boxes.width != kBoxValues) return false;
  if (!score_.is(Kind::kDetScore) || !class_.is(Kind::kDetClass)) return false;
  if (!std::all_of(parts.begin() + kFewest, parts.end(),
                   [&](const Meaning& part) { return add_values(part); })) {
    return false;
  }
  const auto is_same = [&](const Meaning& part) { return part.detector == score_.detector; };
  return is_same(tail_.boxes) && is_same(class_) &&
         std::all_of(tail_.more.begin(), tail_.more.end(), is_same);
}

std::int64_t TailReader::top_k_size(LayerId layer) const {
  const auto ports = output_ports(document_.layer(layer));
  std::int64_t size = 1;
  for (const auto dim : ports.empty() ? Shape{} : port_shape(ports.front())) {
    size = dim > 1 ? dim : size;
  }
  return size;
}

/// The first TopK, if there is one, must take the best rows by the same scores, and enough.
bool TailReader::is_chosen_by_scores() {
  if (!score_.chosen) return true;
  const auto ports = output_ports(document_.layer(*score_.chosen));
  if (ports.size() != 2) return false;
  const Meaning best = meanings_.of({*score_.chosen, ports[1].attribute("id").as_ullong()});
  return best.is(Kind::kBestRows) && best.root == score_.root && best.first == score_.first &&
         best.classes == score_.classes &&
         top_k_size(*score_.chosen) >= top_k_size(score_.detector);
}

bool TailReader::read_top_k() {
  tail_.scores = score_;
  tail_.scores.width = score_.classes;
  tail_.detections = top_k_size(score_.detector);
  return class_.root == score_.root && class_.first == score_.first && is_chosen_by_scores();
}

/// Scores are [1, classes, boxes]: each class a row.
bool TailReader::read_nms_inputs(pugi::xml_node layer) {
  constexpr std::size_t kScores = 1;
  const auto boxes = meanings_.input(layer, 0), scores = meanings_.input(layer, kScores);
  if (!boxes || !scores || tail_.boxes.root != *boxes) return false;
  const auto transpose = document_.layer(scores->layer);
  const auto order =
      layer_type(transpose) == "Transpose" ? meanings_.whole_numbers(transpose, 1) : std::nullopt;
  if (!order || *order != std::vector<std::int64_t>{0, 2, 1}) return false;
  const auto from = meanings_.input(transpose, 0);
  tail_.scores = from ? meanings_.of(*from) : Meaning{};
  return tail_.scores.is(Kind::kRows) && !tail_.scores.chosen &&
         tail_.scores.rows == tail_.boxes.rows;
}

bool TailReader::read_nms(pugi::xml_node layer) {
  const auto data = layer.child("data");
  const std::string_view encoding = data.attribute("box_encoding").value();
  if (!encoding.empty() && encoding != "corner") return false;
  const auto sorts = data.attribute("sort_result_descending");
  if (sorts && !sorts.as_bool()) return false;
  const auto most = meanings_.whole_numbers(layer, 2);
  const auto iou = meanings_.real_number(layer, 3), score = meanings_.real_number(layer, 4);
  const bool is_soft =
      static_cast<bool>(input_port(layer, 5)) && meanings_.real_number(layer, 5) != 0.0;
  if (is_soft || !most || most->size() != 1 || !iou || !score) return false;
  if (!(*iou >= 0 && *iou <= 1 && *score >= 0 && *score <= 1)) return false;
  tail_.nms = Tail::Nms{*iou, *score};
  // So that no class has more than fit.
  return most->front() >= tail_.detections && read_nms_inputs(layer);
}

std::optional<Tail> TailReader::read(PortRef output) {
  const auto shape = meanings_.shape_of(output);
  if (shape.size() != 3 || shape[0] != 1 || shape[1] < 1 || shape[1] > kMostDetections) return {};
  const auto rows = without_padding(output);
  const auto concat = document_.layer(rows.layer);
  if (!read_parts(concat)) return {};
  const auto detector = document_.layer(score_.detector);
  tail_.detectors.push_back(score_.detector);
  if (score_.chosen) {
    tail_.detectors.push_back(*score_.chosen);
  }
  if (layer_type(detector) == "TopK") {
    const bool fits = rows == output && read_top_k() && tail_.detections == shape[1];
    return fits ? std::optional(tail_) : std::nullopt;
  }
  tail_.detections = shape[1];
  return layer_type(detector) == "NonMaxSuppression" && read_nms(detector) ? std::optional(tail_)
                                                                           : std::nullopt;
}

// ---- Cutting

/// The columns of a tail as one tensor, in the order in which the host reads them.
std::vector<Meaning> columns_of(const Tail& tail) {
  std::vector<Meaning> parts{tail.boxes, tail.scores};
  parts.insert(parts.end(), tail.more.begin(), tail.more.end());
  return parts;
}

std::int64_t width_of(const std::vector<Meaning>& parts) {
  std::int64_t width = 0;
  for (const auto& part : parts) width += part.width;
  return width;
}

ElementType type_of(const Document& document, PortRef port) {
  return precision_to_type(document.output_port(port).node.attribute("precision").value());
}

/// Whether all columns are those of one tensor, in order.
bool is_one_tensor(const Document& document, const std::vector<Meaning>& parts) {
  std::int64_t next = 0;
  for (const auto& part : parts) {
    if (part.root != parts[0].root || part.first != next) return false;
    next += part.width;
  }
  return port_shape(document.output_port(parts[0].root).node).back() == next;
}

/// Whether another output, or a state, reads what chooses the detections: then it stays.
bool is_read_elsewhere(const Document& document, pugi::xml_node result, LayerId detector) {
  const auto followers = document.followers();
  std::set<LayerId> seen{detector};
  std::vector<LayerId> ready{detector};
  while (!ready.empty()) {
    const auto next = followers.find(ready.back());
    ready.pop_back();
    if (next == followers.end()) continue;
    for (const auto layer : next->second) {
      const auto type = layer_type(document.layer(layer));
      if ((type == "Result" || type == "Assign") && layer != layer_id(result)) return true;
      if (seen.insert(layer).second) {
        ready.push_back(layer);
      }
    }
  }
  return false;
}

bool can_join(const Document& document, const std::vector<Meaning>& parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const Meaning& part) {
    return part.rows == parts[0].rows && part.rows > width_of(parts) &&
           type_of(document, part.root) == type_of(document, parts[0].root) &&
           layer_type(document.layer(part.root.layer)) != "Parameter";
  });
}

/// What a transposition of rows and columns makes its result of: the model's own layout.
PortRef without_transpose(const Document& document, const Weights& weights, PortRef rows) {
  const auto layer = document.layer(rows.layer);
  if (layer_type(layer) != "Transpose") return rows;
  const Meanings meanings(document, weights);
  const auto order = meanings.whole_numbers(layer, 1);
  const auto from = meanings.input(layer, 0);
  const bool swaps = order && *order == std::vector<std::int64_t>{0, 2, 1};
  if (!swaps || !from || layer_type(document.layer(from->layer)) == "Parameter") return rows;
  const auto shape = port_shape(document.output_port(*from).node);
  const auto behind = port_shape(document.output_port(rows).node);
  const bool fits = shape.size() == 3 && shape[1] == behind[2] && shape[2] == behind[1];
  return fits ? *from : rows;
}

PortRef join(Model::Impl& model, const std::vector<Meaning>& parts, pugi::xml_node place,
             const std::string& name) {
  if (is_one_tensor(model.document, parts)) {
    return without_transpose(model.document, model.weights, parts[0].root);
  }
  GraphBuilder builder(model.document, model.weights, place, name + "/rows/");
  std::vector<Value> columns;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = parts[i];
    const Value root{part.root, type_of(model.document, part.root),
                     port_shape(model.document.output_port(part.root).node)};
    columns.push_back(
        builder.slice(base::text("columns", i), root, {{2, part.first, part.first + part.width}}));
  }
  return builder.concat("joined", columns, 2).port;
}

/// The output keeps the names of its tensor, by which a model's description may know it.
void move_names(Document& document, PortRef from, PortRef to) {
  auto source = document.output_port(from).node, target = document.output_port(to).node;
  auto names = tensor_names(source);
  for (auto& name : tensor_names(target)) names.push_back(std::move(name));
  source.remove_attribute("names");
  if (!names.empty()) {
    set(target, "names", join_tensor_names(each_once(names)));
  }
}

void connect_result(Document& document, pugi::xml_node result, PortRef from) {
  auto port = input_port(result, 0);
  const PortRef to{layer_id(result), port.attribute("id").as_ullong()};
  document.disconnect(to);
  document.connect(from, to);
  const auto as = document.output_port(from).node;
  set_port_shape(port, port_shape(as));
  set(port, "precision", as.attribute("precision").value());
}

void note(Model::Impl& model, const Tail& tail) {
  auto& info = model.model_info;
  info["host_postprocess"] = tail.nms ? "nms" : "topk";
  info["host_classes"] = std::to_string(tail.classes());
  info["host_detections"] = std::to_string(tail.detections);
  if (tail.nms) {
    info["host_iou_threshold"] = shortest(static_cast<float>(tail.nms->iou));
    info["host_score_threshold"] = shortest(static_cast<float>(tail.nms->score));
  }
}

std::string describe(const Document& document, const Tail& tail, PortRef output) {
  const auto shape = to_string(port_shape(document.output_port(output).node));
  return base::text(tail.nms ? "NonMaxSuppression" : "TopK and Gather", " cut off: the output is ",
                    shape, " with ", tail.classes(), tail.classes() == 1 ? " class" : " classes",
                    ", of which the host takes ", tail.detections);
}

std::ptrdiff_t outputs_of(const Document& document, PortRef port) {
  const auto results = document.layers_of_type("Result");
  return std::count_if(results.begin(), results.end(), [&](pugi::xml_node result) {
    return document.producer(result, input_port(result, 0)) == port;
  });
}

std::optional<std::string> cut(Model::Impl& model, pugi::xml_node result, PortRef output,
                               const Tail& tail) {
  const auto parts = columns_of(tail);
  if (!can_join(model.document, parts) || tail.classes() > kMostClasses) return {};
  // A value with two outputs has one name for both.
  if (outputs_of(model.document, output) > 1) return {};
  for (const auto detector : tail.detectors) {
    if (is_read_elsewhere(model.document, result, detector)) return {};
  }
  const auto place = model.document.layer(output.layer);
  const auto joined = join(model, parts, place, layer_name(place));
  if (outputs_of(model.document, joined) > 0) return {};
  move_names(model.document, output, joined);
  connect_result(model.document, result, joined);
  model.document.remove_unused();
  note(model, tail);
  return describe(model.document, tail, joined);
}

bool has_detector(const Document& document) {
  return !document.layers_of_type("TopK").empty() ||
         !document.layers_of_type("NonMaxSuppression").empty();
}

}  // namespace

std::optional<std::string> cut_detections(Model::Impl& model) {
  constexpr std::size_t kMostOutputs = 16;
  const auto results = model.document.layers_of_type("Result");
  if (has_stale_shapes(model) || results.size() > kMostOutputs || !has_detector(model.document)) {
    return {};
  }
  for (auto result : results) {
    const auto output = model.document.producer(result, input_port(result, 0));
    if (!output) continue;
    const auto tail = TailReader(model.document, model.weights).read(*output);
    if (tail) return cut(model, result, *output, *tail);
  }
  return {};
}

}  // namespace npu::ir

#include <algorithm>
#include <array>
#include <set>

#include "base/log.hpp"
#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/graph_builder.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/ports.hpp"
#include "ir/graph/xml.hpp"

#include "class_nms.hpp"
#include "host_notes.hpp"
#include "repair.hpp"

namespace npu::ir {
namespace {

// The host's limit: a model's card has no more labels (npuvision, CardLimits).
constexpr std::int64_t kMostClasses = 1 << 16;

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

/// Whether the columns are all those of one tensor, in order.
bool is_one_tensor(const Document& document, const std::vector<Meaning>& parts) {
  std::int64_t next = 0;
  for (const auto& part : parts) {
    if (part.root != parts[0].root || part.first != next) return false;
    next += part.width;
  }
  return port_shape(document.output_port(parts[0].root).node).back() == next;
}

/// Whether another output or a state reads the layers that choose the detections: they stay then.
bool is_read_elsewhere(const Document& document, const std::set<LayerId>& results,
                       LayerId detector) {
  const auto followers = document.followers();
  std::set<LayerId> seen{detector};
  std::vector<LayerId> ready{detector};
  while (!ready.empty()) {
    const auto next = followers.find(ready.back());
    ready.pop_back();
    if (next == followers.end()) continue;
    for (const auto layer : next->second) {
      const auto type = layer_type(document.layer(layer));
      if ((type == "Result" || type == "Assign") && !results.contains(layer)) return true;
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

/// The input of a transposition of rows and columns: the model's own layout.
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

Value value_of(const Document& document, PortRef port) {
  return {port, type_of(document, port), port_shape(document.output_port(port).node)};
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
    columns.push_back(builder.slice(base::text("columns", i), value_of(model.document, part.root),
                                    {{2, part.first, part.first + part.width}}));
  }
  return builder.concat("joined", columns, 2).port;
}

/// Scores are [1, classes, boxes]: the boxes' columns become rows in front of them.
PortRef join_by_class(Model::Impl& model, const Tail& tail, pugi::xml_node place) {
  GraphBuilder builder(model.document, model.weights, place, layer_name(place) + "/rows/");
  const auto first = tail.boxes.first;
  const Value boxes = builder.slice("boxes", value_of(model.document, tail.boxes.root),
                                    {{2, first, first + tail.boxes.width}});
  const Value turned = builder.transpose("boxes_by_value", boxes, {0, 2, 1});
  return builder.concat("joined", {turned, value_of(model.document, tail.scores.root)}, 1).port;
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

void remove_output(Document& document, LayerId result) {
  const auto layer = document.layer(result);
  document.disconnect({result, input_port(layer, 0).attribute("id").as_ullong()});
  document.remove_layer(layer);
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

std::string describe(const Document& document, const Tail& tail, PortRef output) {
  const auto shape = to_string(port_shape(document.output_port(output).node));
  return base::text(name_of(tail), " cut off: the output is ", shape, " with ", tail.classes(),
                    tail.classes() == 1 ? " class" : " classes", ", of which the host takes ",
                    tail.detections,
                    tail.counts.empty() ? "" : "; what told their number and places is gone");
}

std::ptrdiff_t outputs_of(const Document& document, PortRef port) {
  const auto results = document.layers_of_type("Result");
  return std::count_if(results.begin(), results.end(), [&](pugi::xml_node result) {
    return document.producer(result, input_port(result, 0)) == port;
  });
}

/// The output of one detector, and the tail that chooses its rows.
struct End {
  pugi::xml_node result;
  PortRef output;
  Tail tail;
};

/// The tensor that becomes the output, if it exists already.
std::optional<PortRef> tensor_of(const Model::Impl& model, const End& end) {
  const auto parts = columns_of(end.tail);
  if (end.tail.are_scores_by_class || !is_one_tensor(model.document, parts)) return {};
  return without_transpose(model.document, model.weights, parts[0].root);
}

bool can_cut(const Model::Impl& model, const End& end) {
  const auto& document = model.document;
  const bool fits = can_join(document, columns_of(end.tail)) && end.tail.classes() <= kMostClasses;
  // Two outputs of one value would share one name.
  if (!fits || outputs_of(document, end.output) > 1) return false;
  const auto tensor = tensor_of(model, end);
  if (tensor && outputs_of(document, *tensor) > 0) return false;
  std::set<LayerId> results(end.tail.counts.begin(), end.tail.counts.end());
  results.insert(layer_id(end.result));
  return std::none_of(end.tail.detectors.begin(), end.tail.detectors.end(), [&](LayerId detector) {
    return is_read_elsewhere(document, results, detector);
  });
}

std::string cut(Model::Impl& model, const End& end) {
  const auto& tail = end.tail;
  const auto place = model.document.layer(end.output.layer);
  const auto joined = tail.are_scores_by_class
                          ? join_by_class(model, tail, place)
                          : join(model, columns_of(tail), place, layer_name(place));
  move_names(model.document, end.output, joined);
  connect_result(model.document, end.result, joined);
  for (const auto count : tail.counts) remove_output(model.document, count);
  model.document.remove_unused();
  for (const auto& [key, value] : host_notes(tail)) model.model_info[key] = value;
  return describe(model.document, tail, joined);
}

constexpr std::array kDetectors{"TopK", "NonMaxSuppression", "MulticlassNms", "MatrixNms"};

bool has_detector(const Document& document) {
  return std::any_of(kDetectors.begin(), kDetectors.end(),
                     [&](const char* type) { return !document.layers_of_type(type).empty(); });
}

std::vector<End> find_ends(const Model::Impl& model) {
  std::vector<End> ends;
  for (auto result : model.document.layers_of_type("Result")) {
    const auto output = model.document.producer(result, input_port(result, 0));
    if (!output) continue;
    auto tail = read_tail(model.document, model.weights, *output);
    if (!tail) {
      tail = read_class_nms(model.document, model.weights, *output);
    }
    if (tail) {
      ends.push_back({result, *output, std::move(*tail)});
    }
  }
  return ends;
}

std::string output_name(const Document& document, PortRef output) {
  const auto names = tensor_names(document.output_port(output).node);
  return names.empty() ? layer_name(document.layer(output.layer)) : names.front();
}

/// These layers and all that feed them.
std::set<LayerId> sources_of(const Document& document, const std::vector<pugi::xml_node>& layers) {
  std::set<LayerId> seen;
  std::vector<pugi::xml_node> ready = layers;
  while (!ready.empty()) {
    const auto layer = ready.back();
    ready.pop_back();
    if (!seen.insert(layer_id(layer)).second) continue;
    for (const auto port : input_ports(layer)) {
      if (const auto from = document.producer(layer, port)) {
        ready.push_back(document.layer(from->layer));
      }
    }
  }
  return seen;
}

/// The outputs that stay beside ends that are cut off.
class OtherOutputs {
 public:
  OtherOutputs(const Document& document, const std::vector<End>& ends) : document_(document) {
    std::vector<pugi::xml_node> results;
    for (const auto& end : ends) {
      results.push_back(end.result);
      gone_.insert(layer_id(end.result));
      gone_.insert(end.tail.counts.begin(), end.tail.counts.end());
      values_.insert(width_of(columns_of(end.tail)));
    }
    of_ends_ = sources_of(document, results);
  }

  /// The reason why a decoder could mistake one for a cut output, as the model's description covers
  /// all outputs; empty if there is none.
  std::string doubt() const {
    for (const auto result : document_.layers_of_type("Result")) {
      const auto output = document_.producer(result, input_port(result, 0));
      if (!output || gone_.contains(layer_id(result))) continue;
      const auto name = base::quoted(output_name(document_, *output));
      const auto shape = port_shape(document_.output_port(*output).node);
      if (is_another_end(result, shape.size() == 3)) {
        return base::text(name, " is of a detector whose end the host cannot do");
      }
      if (shape.size() == 3 && (values_.contains(shape[1]) || values_.contains(shape[2]))) {
        return base::text(name, " could be taken for what the host gets");
      }
    }
    return "";
  }

 private:
  /// Whether a detector feeds it that feeds none of the ends. TopK also feeds other outputs.
  bool is_another_end(pugi::xml_node result, bool may_be_rows) const {
    const auto sources = sources_of(document_, {result});
    return std::any_of(sources.begin(), sources.end(), [&](LayerId source) {
      const auto type = layer_type(document_.layer(source));
      const bool is_one = std::find(kDetectors.begin(), kDetectors.end(), type) != kDetectors.end();
      return is_one && !of_ends_.contains(source) && (may_be_rows || type != kDetectors.front());
    });
  }

  const Document& document_;
  std::set<LayerId> gone_, of_ends_;
  std::set<std::int64_t> values_;  // of a box
};

/// The reason why several ends cannot be cut off together; empty if they can. The model's
/// description gives the host's work once, so it must be the same for all.
std::string doubt_about(const Model::Impl& model, const std::vector<End>& ends) {
  std::set<PortRef> tensors;
  for (const auto& end : ends) {
    const auto name = base::quoted(output_name(model.document, end.output));
    if (!can_cut(model, end)) return base::text("that of ", name, " has other readers");
    if (host_notes(end.tail) != host_notes(ends[0].tail)) {
      return base::text("that of ", name, " has other numbers, or another operator");
    }
    const auto tensor = tensor_of(model, end);
    if (tensor && !tensors.insert(*tensor).second) return "they choose from one tensor";
  }
  return OtherOutputs(model.document, ends).doubt();
}

}  // namespace

std::optional<std::string> cut_detections(Model::Impl& model) {
  constexpr std::size_t kMostOutputs = 16;
  if (has_stale_shapes(model) || !has_detector(model.document) ||
      model.document.layers_of_type("Result").size() > kMostOutputs) {
    return {};
  }
  const auto ends = find_ends(model);
  if (ends.empty() || (ends.size() == 1 && !can_cut(model, ends[0]))) return {};
  if (const auto doubt = doubt_about(model, ends); !doubt.empty()) {
    base::log(LogLevel::kWarning,
              base::text("left ", ends.size(), ends.size() == 1 ? " end" : " ends",
                         " of detectors in ", model.document.title(),
                         ends.size() == 1 ? " as it is" : " as they are", ", because ", doubt,
                         ": the host can do the same for all, or nothing; give each detector a "
                         "model of its own"));
    return {};
  }
  std::string told;
  for (const auto& end : ends) told += (told.empty() ? "" : "; ") + cut(model, end);
  return told;
}

}  // namespace npu::ir

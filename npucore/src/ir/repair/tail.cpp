#include "tail.hpp"

#include <algorithm>
#include <string_view>

#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

using Kind = Meaning::Kind;

class TailReader {
 public:
  TailReader(const Document& document, const Weights& weights)
      : document_(document), meanings_(document, weights) {}

  /// Nothing unless the value is exactly such a tail's.
  std::optional<Tail> read(PortRef output);

 private:
  PortRef without_padding(PortRef value);
  std::optional<PortRef> before_padding(pugi::xml_node layer, const Shape& rows);
  bool is_cut_at(pugi::xml_node slice, std::int64_t rows) const;
  bool is_filled_with_zeros(pugi::xml_node concat) const;
  bool is_padded_with_zeros(pugi::xml_node pad) const;
  bool overwrites_all(pugi::xml_node scatter);
  bool read_parts(pugi::xml_node concat);
  bool add_values(const Meaning& part);
  bool read_top_k();
  bool is_chosen_by_scores();
  bool read_nms(pugi::xml_node layer);
  bool read_nms_inputs(pugi::xml_node layer);
  bool read_best_class_inputs(pugi::xml_node layer);
  std::int64_t top_k_size(LayerId layer) const;

  const Document& document_;
  Meanings meanings_;
  Tail tail_;
  Meaning score_, class_;
};

/// The input of a layer that keeps the rows and their order, but may change their number.
std::optional<PortRef> TailReader::before_padding(pugi::xml_node layer, const Shape& rows) {
  constexpr std::size_t kUpdates = 2;
  const auto type = layer_type(layer);
  const bool is_view = type == "Reshape" || type == "Squeeze" || type == "Unsqueeze";
  const bool is_cut = type == "Slice" && rows.size() == 3 && is_cut_at(layer, rows[1]);
  const bool is_filled = (type == "Concat" && is_filled_with_zeros(layer)) ||
                         (type == "Pad" && is_padded_with_zeros(layer));
  if (is_view || is_cut || is_filled) return meanings_.input(layer, 0);
  return overwrites_all(layer) ? meanings_.input(layer, kUpdates) : std::nullopt;
}

/// Goes from a model's output back to the rows of detections: NonMaxSuppression gives as many as it
/// finds, and zeros fill the rest.
PortRef TailReader::without_padding(PortRef value) {
  constexpr int kMostBehind = 12;
  const auto rows = meanings_.shape_of(value);
  for (int i = 0; i < kMostBehind; ++i) {
    const auto from = before_padding(document_.layer(value.layer), rows);
    if (!from) break;
    value = *from;
  }
  return value;
}

bool TailReader::is_cut_at(pugi::xml_node slice, std::int64_t rows) const {
  const auto is = [&](std::size_t position, std::int64_t wanted) {
    const auto numbers = meanings_.whole_numbers(slice, position);
    return numbers && numbers->size() == 1 && numbers->front() == wanted;
  };
  // Takes the only picture, or its first rows.
  const bool is_picture = is(2, 1) && is(4, 0);
  return is(1, 0) && is(3, 1) && (is_picture || (is(2, rows) && is(4, 1)));
}

/// Whether it appends rows of zeros.
bool TailReader::is_filled_with_zeros(pugi::xml_node concat) const {
  constexpr std::size_t kMost = 1 << 20;
  const auto port = input_port(concat, 1);
  if (input_ports(concat).size() != 2 || !port) return false;
  const auto axis = parse_real(concat.child("data").attribute("axis").value());
  if (axis != 1.0) return false;
  return meanings_.are_zeros({layer_id(concat), port.attribute("id").as_ullong()}, kMost);
}

/// Whether it pads only behind the last element; whole rows lie in the order of memory.
bool TailReader::is_padded_with_zeros(pugi::xml_node pad) const {
  constexpr std::size_t kBegins = 1, kValue = 3;
  const std::string_view mode = pad.child("data").attribute("pad_mode").value();
  const auto begins = meanings_.whole_numbers(pad, kBegins);
  if (mode != "constant" || !begins || begins->size() != 1 || begins->front() != 0) return false;
  return !input_port(pad, kValue) || meanings_.real_number(pad, kValue) == 0.0;
}

/// Whether a ScatterNDUpdate writes all elements in order: the result is the update.
bool TailReader::overwrites_all(pugi::xml_node scatter) {
  constexpr std::size_t kPlaces = 1, kUpdates = 2;
  if (layer_type(scatter) != "ScatterNDUpdate") return false;
  const auto data = meanings_.input(scatter, 0), places = meanings_.input(scatter, kPlaces);
  const auto updates = meanings_.input(scatter, kUpdates);
  if (!data || !places || !updates) return false;
  const auto shape = meanings_.shape_of(*data);
  if (shape.size() != 1 || meanings_.shape_of(*updates) != shape) return false;
  const Meaning all = meanings_.of(*places);
  return all.is(Kind::kPlaces) && all.rows == shape[0] &&
         meanings_.shape_of(*places) == Shape{shape[0], 1};
}

bool TailReader::add_values(const Meaning& part) {
  if (!part.is(Kind::kDetValues)) return false;
  tail_.more.push_back(part);
  return true;
}

/// Reads boxes, scores, classes and any more columns, side by side.
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
  const auto is_same = [&](const Meaning& part) {
    return part.detector == score_.detector && part.most == score_.most;
  };
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

/// A first TopK must take the best rows, by the same scores, and enough of them.
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
  tail_.scores.first = score_.class_first;
  tail_.scores.width = score_.classes;
  tail_.detections = top_k_size(score_.detector);
  return class_.root == score_.root && class_.first == score_.first && is_chosen_by_scores();
}

/// Takes scores as [1, classes, boxes]: each class a row.
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

/// Takes the best class of each row that a mask chose.
bool TailReader::read_best_class_inputs(pugi::xml_node layer) {
  constexpr std::size_t kScores = 1;
  const auto boxes = meanings_.input(layer, 0), scores = meanings_.input(layer, kScores);
  if (!boxes || !scores) return false;
  const Meaning seen = meanings_.of(*boxes), by = meanings_.of(*scores);
  const auto is_of_same = [&](const Meaning& other) {
    return other.class_root == score_.class_root && other.chosen == score_.chosen &&
           other.class_first == score_.class_first && other.classes == score_.classes;
  };
  const bool are_boxes = seen.width == kBoxValues && seen.root == tail_.boxes.root &&
                         seen.first == tail_.boxes.first && seen.chosen == score_.chosen;
  if (!are_boxes || !by.is(Kind::kBest) || !is_of_same(by) || !is_of_same(class_)) return false;
  // Without an offset, a box of any class suppresses.
  if (seen.is(Kind::kMoved) && seen.offset != 0 && !is_of_same(seen)) return false;
  if (!seen.is(Kind::kMoved) && !seen.is(Kind::kRows)) return false;
  if (seen.scale < Tail::kLeastScale || seen.scale > Tail::kLargest) return false;
  if (seen.offset > Tail::kLargest) return false;
  tail_.scores = score_;
  tail_.scores.first = score_.class_first;
  tail_.scores.width = score_.classes;
  tail_.nms->is_best_class = true;
  tail_.nms->scale = seen.scale;
  tail_.nms->offset = seen.offset;
  tail_.nms->score = std::max(tail_.nms->score, by.threshold);
  return true;
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
  tail_.nms = Tail::Nms{*iou, *score};
  // Its limit per class must not drop detections.
  if (most->front() < tail_.detections) return false;
  if (!(score_.chosen ? read_best_class_inputs(layer) : read_nms_inputs(layer))) return false;
  const double lowest = tail_.nms->score;
  return *iou >= 0 && *iou <= 1 && lowest >= 0 && lowest <= 1;
}

std::optional<Tail> TailReader::read(PortRef output) {
  const auto shape = meanings_.shape_of(output);
  if (shape.size() != 3 || shape[0] != 1) return {};
  if (shape[1] < 1 || shape[1] > Tail::kMostDetections) return {};
  const auto rows = without_padding(output);
  const auto concat = document_.layer(rows.layer);
  const auto width = meanings_.shape_of(rows);
  if (width.empty() || width.back() != shape.back() || !read_parts(concat)) return {};
  const auto detector = document_.layer(score_.detector);
  tail_.detectors.push_back(score_.detector);
  if (score_.chosen) {
    tail_.detectors.push_back(*score_.chosen);
  }
  if (layer_type(detector) == "TopK") {
    const bool fits = rows == output && read_top_k() && tail_.detections == shape[1];
    return fits ? std::optional(tail_) : std::nullopt;
  }
  if (score_.most.value_or(shape[1]) != shape[1]) return {};
  tail_.detections = shape[1];
  return read_nms(detector) ? std::optional(tail_) : std::nullopt;
}

}  // namespace

std::optional<Tail> read_tail(const Document& document, const Weights& weights, PortRef output) {
  return TailReader(document, weights).read(output);
}

}  // namespace npu::ir

// The layers that Ultralytics' exports with nms=True put between a detector's rows and its output:
// a choice of the rows whose best score is above a threshold, and NonMaxSuppression of these, each
// class apart.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "ir/graph/layer.hpp"

#include "meaning.hpp"

namespace npu::ir {
namespace {

bool is_finite_factor(std::optional<double> factor) {
  return factor && std::isfinite(*factor) && *factor > 0;
}

std::int64_t axis_from(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

}  // namespace

/// Reads a Gather of an axis' only element, which keeps the meaning.
std::optional<Meaning> Meanings::read_only_picture(pugi::xml_node layer) {
  const auto data = input(layer, 0);
  const auto places = whole_numbers(layer, 1);
  if (!data || !places || places->size() != 1) return {};
  const auto shape = shape_of(*data);
  const auto axis = axis_of(layer, 2, shape.size());
  if (!axis) return {};
  const Meaning meaning = of(*data);
  const bool is_nms = meaning.is(Kind::kNmsIndices) || meaning.is(Kind::kNmsScores);
  if (is_nms && *axis == 1 && shape.size() == 2) {
    return nms_column(meaning, axis_from(places->front(), 3));
  }
  const bool is_only = shape[static_cast<std::size_t>(*axis)] == 1 && places->front() == 0;
  return is_only && !is_nms ? std::optional(meaning) : std::nullopt;
}

Meaning Meanings::nms_column(Meaning meaning, std::int64_t column) const {
  constexpr std::int64_t kClass = 1, kLast = 2;
  const bool are_indices = meaning.is(Kind::kNmsIndices);
  meaning.kind = Kind::kOther;
  // Chosen rows all have the one class that NonMaxSuppression sees.
  if (column == kClass && are_indices && !meaning.chosen) {
    meaning.kind = Kind::kDetClass;
  } else if (column == kLast && are_indices) {
    meaning.kind = meaning.chosen ? Kind::kDetRow : Kind::kDetBox;
  } else if (column == kLast) {
    meaning.kind = Kind::kDetScore;
  }
  return meaning;
}

/// Reads the best class of each row, and its score: a TopK of one.
Meaning Meanings::read_best_of_row(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from) return {};
  const auto shape = shape_of(*from);
  const std::string_view axis = layer.child("data").attribute("axis").value();
  Meaning meaning = of(*from);
  if ((axis != "-1" && axis != "2") || !meaning.is(Kind::kRows) || meaning.chosen) return {};
  if (shape.back() != meaning.width) return {};
  meaning.kind = document_.output_port(value).index == 1 ? Kind::kBestClass : Kind::kBest;
  meaning.class_root = meaning.root;
  meaning.class_first = meaning.first;
  meaning.classes = meaning.width;
  meaning.width = 1;
  return meaning;
}

Meaning Meanings::read_greater(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  const auto threshold = real_number(layer, 1);
  if (!from || !threshold || shape_of(*from) != shape_of(value)) return {};
  Meaning meaning = of(*from);
  if (!meaning.is(Kind::kBest) || meaning.chosen) return {};
  meaning.kind = Kind::kMask;
  meaning.threshold = *threshold;
  return meaning;
}

/// Takes a list only: its places are whole numbers, in a column or in a row.
Meaning Meanings::read_non_zero(pugi::xml_node layer, PortRef) {
  const auto from = input(layer, 0);
  if (!from || shape_of(*from).size() != 1) return {};
  Meaning meaning = of(*from);
  if (!meaning.is(Kind::kMask)) return {};
  meaning.kind = Kind::kMaskRows;
  meaning.chosen = layer_id(layer);
  return meaning;
}

Meaning Meanings::chosen_by_mask(const Meaning& index, Meaning values) const {
  const bool are_scores = values.is(Kind::kBest) || values.is(Kind::kBestClass);
  if (!(are_scores || values.is(Kind::kRows)) || values.chosen || values.rows != index.rows) {
    return {};
  }
  const bool are_by_these = values.root == index.root && values.class_first == index.class_first &&
                            values.classes == index.classes;
  if (are_scores && !are_by_these) return {};
  values.chosen = index.chosen;
  values.threshold = index.threshold;
  return values;
}

/// Reads rows of [rows, values] or [rows], by a list of places, each one number.
Meaning Meanings::read_gather_nd(pugi::xml_node layer, PortRef) {
  const auto data = input(layer, 0), places = input(layer, 1);
  const std::string_view batches = layer.child("data").attribute("batch_dims").value();
  if (!data || !places || (!batches.empty() && batches != "0")) return {};
  const auto shape = shape_of(*data), index_shape = shape_of(*places);
  if (shape.empty() || shape.size() > 2 || index_shape.size() != 2 || index_shape[1] != 1) {
    return {};
  }
  const Meaning index = of(*places);
  if (!index.is(Kind::kMaskRows)) return {};
  const Meaning chosen = chosen_by_mask(index, of(*data));
  const std::int64_t width = shape.size() == 2 ? shape[1] : 1;
  return chosen.width == width && shape[0] == index.rows ? chosen : Meaning{};
}

/// Reads some columns of rows, or the first detections.
Meaning Meanings::read_slice(pugi::xml_node layer, PortRef) {
  const auto from = input(layer, 0);
  const auto only = [&](std::size_t position) -> std::optional<std::int64_t> {
    const auto numbers = whole_numbers(layer, position);
    return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  };
  const auto begin = only(1), end = only(2), step = only(3);
  if (!from || !begin || !end || step != 1 || *begin < 0) return {};
  const auto shape = shape_of(*from);
  const auto axis = axis_of(layer, 4, shape.size());
  if (!axis) return {};
  Meaning meaning = of(*from);
  if (meaning.is(Kind::kDetRow) && shape.size() == 1 && *begin == 0 && *end > 0) {
    meaning.most = std::min(*end, meaning.most.value_or(*end));
    return meaning;
  }
  const bool has_columns = meaning.is(Kind::kRows) || meaning.is(Kind::kMoved);
  const bool is_of_columns = *axis + 1 == static_cast<std::int64_t>(shape.size());
  if (!has_columns || !is_of_columns || shape.back() != meaning.width) return {};
  const auto stop = std::min(*end, meaning.width);
  if (*begin >= stop) return {};
  meaning.first += *begin;
  meaning.width = stop - *begin;
  return meaning;
}

Meaning Meanings::read_range(pugi::xml_node layer, PortRef value) {
  const auto first = whole_numbers(layer, 0), step = whole_numbers(layer, 2);
  const auto shape = shape_of(value);
  const std::vector<std::int64_t> zero{0}, one{1};
  if (first != zero || step != one || shape.size() != 1 || shape[0] < 1) return {};
  Meaning meaning;
  meaning.kind = Kind::kPlaces;
  meaning.rows = shape[0];
  return meaning;
}

/// Reads chosen or moved boxes times a number, or their class times a number.
Meaning Meanings::read_scaled(pugi::xml_node layer) {
  const bool divides = layer_type(layer) == "Divide";
  const bool swapped = !divides && is_finite_factor(real_number(layer, 0));
  const auto factor = real_number(layer, swapped ? 0 : 1);
  if (!is_finite_factor(factor)) return {};
  Meaning meaning = of_input(layer, swapped ? 1 : 0);
  const double by = divides ? 1 / *factor : *factor;
  if (meaning.is(Kind::kBestClass) && meaning.chosen) {
    meaning.kind = Kind::kMove;
    meaning.offset = by;
    return meaning;
  }
  const bool are_boxes = meaning.is(Kind::kMoved) || (meaning.is(Kind::kRows) && meaning.chosen);
  if (!are_boxes) return {};
  meaning.kind = Kind::kMoved;
  meaning.scale *= by;
  meaning.offset *= by;
  return meaning;
}

/// Reads arithmetic with real numbers: boxes scaled, and moved apart by class.
Meaning Meanings::read_moved(pugi::xml_node layer, PortRef value) {
  const auto type = layer_type(layer);
  const auto left = input(layer, 0), right = input(layer, 1);
  if (!left || !right) return {};
  if (type == "Multiply" || type == "Divide") {
    const Meaning scaled = read_scaled(layer);
    const bool keeps = shape_of(value) == shape_of(*left) || shape_of(value) == shape_of(*right);
    return keeps ? scaled : Meaning{};
  }
  if (type != "Add" || shape_of(*left) != shape_of(*right)) return {};
  Meaning boxes = of(*left), move = of(*right);
  if (boxes.is(Kind::kMove)) {
    std::swap(boxes, move);
  }
  const bool are_boxes = boxes.is(Kind::kMoved) || (boxes.is(Kind::kRows) && boxes.chosen);
  const bool fits = are_boxes && move.is(Kind::kMove) && boxes.offset == 0 &&
                    boxes.width == move.width && boxes.chosen == move.chosen;
  if (!fits) return {};
  boxes.kind = Kind::kMoved;
  boxes.class_root = move.class_root;
  boxes.class_first = move.class_first;
  boxes.classes = move.classes;
  boxes.offset = move.offset;
  return boxes;
}

Meaning Meanings::read_nms(pugi::xml_node layer, PortRef value) {
  const auto boxes = input(layer, 0);
  const auto index = document_.output_port(value).index;
  if (!boxes || index > 1) return {};
  Meaning meaning = as_rows(*boxes);
  if (!meaning.is(Kind::kRows)) {
    meaning = of(*boxes);
    const bool are_boxes = meaning.is(Kind::kMoved) || meaning.is(Kind::kRows);
    if (!are_boxes || !meaning.chosen) return {};
  }
  if (meaning.width != kBoxValues) return {};
  meaning.kind = index == 0 ? Kind::kNmsIndices : Kind::kNmsScores;
  meaning.detector = layer_id(layer);
  meaning.width = 1;
  return meaning;
}

}  // namespace npu::ir

#include "meaning.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

// A tail has some thirty layers; nothing deeper is one.
constexpr std::size_t kDeepestMeaning = 48;
constexpr std::size_t kMostMeanings = 4096;
constexpr std::size_t kMostOfShape = 16;

/// Nothing if a dimension is open, or there are too many elements.
std::optional<std::int64_t> elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto dim : shape) {
    if (dim < 1 || __builtin_mul_overflow(count, dim, &count)) return {};
  }
  return count;
}

std::optional<std::int64_t> counted_axis(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) return {};
  return axis < 0 ? axis + size : axis;
}

std::string_view attribute(pugi::xml_node layer, const char* name) {
  return layer.child("data").attribute(name).value();
}

bool is_float(pugi::xml_node port) {
  const std::string_view type = port.attribute("precision").value();
  return type == "FP32" || type == "FP16";
}

/// Whether the type holds any place in a tensor.
bool is_whole(pugi::xml_node port) {
  const std::string_view type = port.attribute("precision").value();
  return type == "I32" || type == "I64" || type == "U32" || type == "U64";
}

bool is_index(Meaning::Kind kind) {
  using Kind = Meaning::Kind;
  return kind == Kind::kBestRows || kind == Kind::kTopPlaces || kind == Kind::kDetRow ||
         kind == Kind::kDetBox || kind == Kind::kMaskRows;
}

bool has_one_axis(const Shape& shape, std::int64_t axis) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<std::int64_t>(i) != axis && shape[i] != 1) return false;
  }
  return true;
}

/// Whether rows lie along `axis`, with all their values behind it and nothing before.
bool are_rows_along(const Shape& shape, std::int64_t axis, std::int64_t width) {
  std::int64_t before = 1, behind = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (at == axis) continue;
    if (__builtin_mul_overflow(at < axis ? before : behind, shape[i],
                               at < axis ? &before : &behind)) {
      return false;
    }
  }
  return before == 1 && behind == width;
}

}  // namespace

Shape Meanings::shape_of(PortRef value) const {
  const auto node = document_.output_port(value).node;
  return node ? port_shape(node) : Shape{};
}

std::optional<PortRef> Meanings::input(pugi::xml_node layer, std::size_t position) const {
  const auto port = input_port(layer, position);
  if (!port) return {};
  return document_.producer(layer, port);
}

std::optional<std::vector<std::int64_t>> Meanings::whole_numbers(PortRef value) const {
  const auto numbers = numbers_.of(value);
  if (!numbers) return {};
  std::vector<std::int64_t> known;
  for (const auto& number : *numbers) {
    if (!number) return {};
    known.push_back(*number);
  }
  return known;
}

std::optional<std::vector<std::int64_t>> Meanings::whole_numbers(pugi::xml_node layer,
                                                                 std::size_t position) const {
  const auto from = input(layer, position);
  if (!from) return {};
  return whole_numbers(*from);
}

std::optional<double> Meanings::real_number(pugi::xml_node layer, std::size_t position) const {
  const auto port = input_port(layer, position);
  if (!port) return {};
  const auto values =
      constant_input(document_, weights_, {layer_id(layer), port.attribute("id").as_ullong()}, 1);
  if (values) return values->size() == 1 ? std::optional(values->front()) : std::nullopt;
  const auto whole = whole_numbers(layer, position);
  if (!whole || whole->size() != 1) return {};
  return static_cast<double>(whole->front());
}

bool Meanings::are_zeros(PortRef input, std::size_t most) const {
  const auto values = constant_input(document_, weights_, input, most);
  return values && !values->empty() &&
         std::all_of(values->begin(), values->end(), [](double value) { return value == 0; });
}

bool Meanings::is_zero(pugi::xml_node layer, std::size_t position) const {
  const auto from = input(layer, position);
  if (!from) return false;
  // Includes zero times the number of rows: the index of the only picture of a batch.
  const auto numbers = whole_numbers(*from);
  return numbers && std::all_of(numbers->begin(), numbers->end(), [](auto x) { return x == 0; });
}

std::optional<std::int64_t> Meanings::axis_of(pugi::xml_node layer, std::size_t position,
                                              std::size_t rank) const {
  const auto numbers = whole_numbers(layer, position);
  if (!numbers || numbers->size() != 1) return {};
  return counted_axis(numbers->front(), rank);
}

Meaning Meanings::as_rows(PortRef value) const {
  const auto shape = shape_of(value);
  const auto node = document_.output_port(value).node;
  const bool fits = shape.size() == 3 && shape[0] == 1 && elements(shape) && is_float(node);
  if (!fits) return {};
  Meaning rows;
  rows.kind = Kind::kRows;
  rows.root = value;
  rows.rows = shape[1];
  rows.width = shape[2];
  return rows;
}

Meaning Meanings::of(PortRef value) {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  if (depth_ >= kDeepestMeaning || known_.size() >= kMostMeanings) return {};
  ++depth_;
  Meaning meaning = read(value);
  --depth_;
  if (meaning.is(Kind::kOther)) {
    meaning = as_rows(value);
  }
  known_.emplace(value, meaning);
  return meaning;
}

Meaning Meanings::read(PortRef value) {
  using Reader = Meaning (Meanings::*)(pugi::xml_node, PortRef);
  static const std::unordered_map<std::string_view, Reader> kReaders{
      {"Convert", &Meanings::read_convert},
      {"Reshape", &Meanings::read_view},
      {"Squeeze", &Meanings::read_view},
      {"Unsqueeze", &Meanings::read_view},
      {"Transpose", &Meanings::read_transpose},
      {"Tile", &Meanings::read_repeat},
      {"Broadcast", &Meanings::read_repeat},
      {"Split", &Meanings::read_split},
      {"VariadicSplit", &Meanings::read_split},
      {"ReduceMax", &Meanings::read_reduce_max},
      {"TopK", &Meanings::read_top_k},
      {"Gather", &Meanings::read_gather},
      {"GatherElements", &Meanings::read_gather_elements},
      {"GatherND", &Meanings::read_gather_nd},
      {"Greater", &Meanings::read_greater},
      {"NonZero", &Meanings::read_non_zero},
      {"Select", &Meanings::read_select},
      {"Slice", &Meanings::read_slice},
      {"Range", &Meanings::read_range},
      {"Divide", &Meanings::read_arithmetic},
      {"FloorMod", &Meanings::read_arithmetic},
      {"Mod", &Meanings::read_arithmetic},
      {"Multiply", &Meanings::read_arithmetic},
      {"Subtract", &Meanings::read_arithmetic},
      {"Add", &Meanings::read_arithmetic},
      {"Floor", &Meanings::read_convert},
  };
  const auto layer = document_.layer(value.layer);
  const auto type = layer_type(layer);
  if (type == "NonMaxSuppression") return read_nms(layer, value);
  const auto found = kReaders.find(type);
  return found == kReaders.end() ? Meaning{} : (this->*found->second)(layer, value);
}

Meaning Meanings::of_input(pugi::xml_node layer, std::size_t position) {
  const auto from = input(layer, position);
  return from ? of(*from) : Meaning{};
}

/// Reads a layer that keeps the elements and their order.
Meaning Meanings::read_view(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from) return {};
  const Meaning meaning = of(*from);
  if (meaning.is(Kind::kNmsIndices) || meaning.is(Kind::kNmsScores)) return {};
  const auto before = elements(shape_of(*from)), behind = elements(shape_of(value));
  // The number of NonMaxSuppression's detections is unknown; no view changes it.
  return before && behind && before != behind ? Meaning{} : meaning;
}

/// Reads a Convert to a type that keeps the value, and Floor of whole numbers.
Meaning Meanings::read_convert(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from) return {};
  const Meaning meaning = of(*from);
  const auto before = document_.output_port(*from).node, behind = document_.output_port(value).node;
  const bool stays_whole = is_whole(before) && is_whole(behind);
  if (layer_type(layer) == "Floor") return stays_whole ? meaning : Meaning{};
  if (is_index(meaning.kind)) return stays_whole ? meaning : Meaning{};
  const bool is_class = (meaning.is(Kind::kDetClass) || meaning.is(Kind::kBestClass)) &&
                        is_whole(before) && is_float(behind);
  const bool stays_real = is_float(before) && is_float(behind);
  return stays_whole || stays_real || is_class ? meaning : Meaning{};
}

/// Reads a Transpose that moves only axes of size 1.
Meaning Meanings::read_transpose(pugi::xml_node layer, PortRef) {
  const auto from = input(layer, 0);
  const auto order = whole_numbers(layer, 1);
  if (!from || !order) return {};
  const auto shape = shape_of(*from);
  std::int64_t last = -1;
  for (const auto axis : *order) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(shape.size())) return {};
    if (shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return {};
    last = axis;
  }
  return of(*from);
}

/// Reads an index or a class repeated for a row's values: [1, rows, 1] -> [1, rows, width].
Meaning Meanings::read_repeat(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from) return {};
  Meaning meaning = of(*from);
  const auto before = shape_of(*from), behind = shape_of(value);
  const bool is_class = meaning.is(Kind::kBestClass);
  if ((!is_index(meaning.kind) && !is_class) || meaning.width != 1 || before.empty() ||
      before.size() != behind.size() || !(elements(behind) || is_class)) {
    return {};
  }
  if (!std::equal(before.begin(), before.end() - 1, behind.begin())) return {};
  if (before.back() != 1 && before.back() != behind.back()) return {};
  meaning.width = before.back() == behind.back() ? 1 : behind.back();
  return meaning;
}

Meaning Meanings::read_split(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from) return {};
  const auto shape = shape_of(*from);
  const auto axis = axis_of(layer, 1, shape.size());
  if (!axis || *axis + 1 != static_cast<std::int64_t>(shape.size())) return {};
  Meaning meaning = of(*from);
  std::int64_t first = 0;
  const auto ports = output_ports(layer);
  const auto output = document_.output_port(value);
  if (ports.size() > kMostOfShape || output.index >= ports.size()) return {};
  for (std::size_t i = 0; i < output.index; ++i) {
    const auto part = port_shape(ports[i]);
    if (part.empty() || part.back() < 1 || part.back() > shape.back()) return {};
    first += part.back();
  }
  const auto own = shape_of(value);
  if (own.empty() || own.back() < 1 || first + own.back() > shape.back()) return {};
  const bool is_nms = meaning.is(Kind::kNmsIndices) || meaning.is(Kind::kNmsScores);
  if (is_nms && shape.size() == 2 && own.back() == 1) {
    return nms_column(meaning, first);
  }
  if (!meaning.is(Kind::kRows) || shape.back() != meaning.width) return {};
  meaning.first += first;
  meaning.width = own.back();
  return meaning;
}

Meaning Meanings::read_reduce_max(pugi::xml_node layer, PortRef) {
  const auto from = input(layer, 0);
  if (!from) return {};
  const auto shape = shape_of(*from);
  const auto axis = axis_of(layer, 1, shape.size());
  Meaning meaning = of(*from);
  if (!axis || *axis + 1 != static_cast<std::int64_t>(shape.size())) return {};
  if (!meaning.is(Kind::kRows) || meaning.chosen || shape.back() != meaning.width) return {};
  meaning.kind = Kind::kBest;
  meaning.class_root = meaning.root;
  meaning.class_first = meaning.first;
  meaning.classes = meaning.width;
  meaning.width = 1;
  return meaning;
}

Meaning Meanings::read_top_k(pugi::xml_node layer, PortRef value) {
  const auto from = input(layer, 0);
  if (!from || attribute(layer, "mode") != "max") return {};
  const auto shape = shape_of(*from), behind = shape_of(value);
  const bool is_of_row = shape.size() == 3 && behind.size() == 3 && behind[2] == 1 && shape[1] > 1;
  if (is_of_row && shape[1] == behind[1]) return read_best_of_row(layer, value);
  if (attribute(layer, "sort") != "value") return {};
  const auto said = parse_real(attribute(layer, "axis"));
  if (!said || !(*said >= -64 && *said <= 64)) return {};
  const auto axis = counted_axis(static_cast<std::int64_t>(*said), shape.size());
  if (!axis || !has_one_axis(shape, *axis)) return {};
  Meaning meaning = of(*from);
  const bool places = document_.output_port(value).index == 1;
  if (places && !is_whole(document_.output_port(value).node)) return {};
  if (meaning.is(Kind::kBest) && places) {
    meaning.kind = Kind::kBestRows;
    meaning.chosen = layer_id(layer);
  } else if (meaning.is(Kind::kRows)) {
    meaning.kind = places ? Kind::kTopPlaces : Kind::kDetScore;
    meaning.detector = layer_id(layer);
  } else {
    return {};
  }
  if (!meaning.is(Kind::kBestRows)) {
    meaning.class_root = meaning.root;
    meaning.class_first = meaning.first;
    meaning.classes = meaning.width;
  }
  meaning.width = 1;
  return meaning;
}

/// The values of `data` in the rows that an index names.
Meaning Meanings::chosen_by(const Meaning& index, PortRef data) {
  Meaning values = of(data);
  if (index.is(Kind::kMaskRows)) return chosen_by_mask(index, values);
  if (index.is(Kind::kBestRows) && values.is(Kind::kRows) && !values.chosen &&
      values.rows == index.rows) {
    values.chosen = index.chosen;
    return values;
  }
  const auto make_values = [&](Meaning rows) {
    rows.kind = Kind::kDetValues;
    rows.detector = index.detector;
    rows.most = index.most;
    return rows;
  };
  if (index.is(Kind::kDetBox)) {
    const bool fits = values.is(Kind::kRows) && !values.chosen && values.rows == index.rows;
    return fits ? make_values(values) : Meaning{};
  }
  if (!index.is(Kind::kDetRow)) return {};
  const bool is_score = values.is(Kind::kBest) || values.is(Kind::kBestClass);
  if (is_score && index.chosen && values.chosen == index.chosen) {
    const auto kind = values.is(Kind::kBest) ? Kind::kDetScore : Kind::kDetClass;
    values = make_values(values);
    values.kind = kind;
    return values;
  }
  if (values.is(Kind::kBestRows) && values.chosen == index.chosen && values.width == 1) {
    values.kind = Kind::kDetBox;
    values.detector = index.detector;
    values.chosen.reset();
    return values;
  }
  if (index.chosen && values.is(Kind::kRows) && values.chosen == index.chosen) {
    return make_values(values);
  }
  const Meaning whole = as_rows(data);
  return !index.chosen && whole.is(Kind::kRows) && whole.rows == index.rows ? make_values(whole)
                                                                            : Meaning{};
}

Meaning Meanings::read_gather(pugi::xml_node layer, PortRef value) {
  const auto data = input(layer, 0);
  if (!data) return {};
  if (const auto same = read_only_picture(layer)) return *same;
  const auto shape = shape_of(*data);
  const auto axis = axis_of(layer, 2, shape.size());
  if (!axis) return {};
  const Meaning index = of_input(layer, 1);
  if (!is_index(index.kind) || index.width != 1 || index.is(Kind::kTopPlaces)) return {};
  const Meaning chosen = chosen_by(index, *data);
  const auto batches = attribute(layer, "batch_dims");
  const bool has_batches = !batches.empty() && batches != "0";
  if (has_batches && (batches != "1" || *axis != 1)) return {};
  const auto count = shape[static_cast<std::size_t>(*axis)];
  // The number of rows that a NonZero chose is unknown.
  if (count < 1 && !(count == -1 && index.chosen)) return {};
  if (!are_rows_along(shape, *axis, chosen.width)) return {};
  return elements(shape_of(value)) || chosen.detector != 0 ? chosen : Meaning{};
}

Meaning Meanings::read_gather_elements(pugi::xml_node layer, PortRef) {
  const auto data = input(layer, 0);
  if (!data) return {};
  const auto shape = shape_of(*data);
  const auto said = parse_real(attribute(layer, "axis"));
  if (!said || !(*said >= -64 && *said <= 64) || shape.size() != 3 || shape[0] != 1) return {};
  if (counted_axis(static_cast<std::int64_t>(*said), shape.size()) != 1) return {};
  const Meaning index = of_input(layer, 1);
  const auto places = input(layer, 1);
  if (!places || !is_index(index.kind) || index.is(Kind::kTopPlaces)) return {};
  // All values of a row must have the same index.
  const auto index_shape = shape_of(*places);
  if (index_shape.size() != 3 || index_shape[0] != 1 || index_shape[2] != shape[2]) return {};
  if (index.width != shape[2]) return {};
  Meaning each = index;
  each.width = 1;
  const Meaning chosen = chosen_by(each, *data);
  return chosen.width == shape[2] ? chosen : Meaning{};
}

/// Splits places among rows times classes into row and class.
Meaning Meanings::read_arithmetic(pugi::xml_node layer, PortRef value) {
  if (!is_whole(document_.output_port(value).node)) return read_moved(layer, value);
  const auto type = layer_type(layer);
  Meaning left = of_input(layer, 0), right = of_input(layer, 1);
  if (type == "Add") {
    if (is_index(left.kind) && is_zero(layer, 1)) return left;
    return is_index(right.kind) && is_zero(layer, 0) ? right : Meaning{};
  }
  if (type == "Subtract") {
    const bool fits =
        left.is(Kind::kTopPlaces) && right.is(Kind::kDetFirst) && left.detector == right.detector;
    if (!fits) return read_correction(layer);
    left.kind = Kind::kDetClass;
    return left;
  }
  const bool swapped = type == "Multiply" && right.is(Kind::kDetRow);
  if (swapped) {
    std::swap(left, right);
  }
  const auto classes = whole_numbers(layer, swapped ? 0 : 1);
  if (!classes || classes->size() != 1) return {};
  const auto rows = type == "Multiply" ? Kind::kDetRow : Kind::kTopPlaces;
  if (!left.is(rows) || classes->front() != left.classes) return {};
  if (type == "Multiply") {
    left.kind = Kind::kDetFirst;
  } else {
    left.kind = type == "Divide" ? Kind::kDetRow : Kind::kDetClass;
  }
  return left;
}

}  // namespace npu::ir

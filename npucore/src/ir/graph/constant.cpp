#include "constant.hpp"

#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/enum_names.hpp"
#include "base/text.hpp"

#include "layer.hpp"

namespace npu::ir {

double half_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

namespace {

template <class T>
T load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double value_at(std::span<const std::byte> bytes, ElementType type, std::size_t index) {
  if (type == ElementType::kF16) return half_to_double(load<std::uint16_t>(bytes, index));
  if (type == ElementType::kF64) return load<double>(bytes, index);
  return static_cast<double>(load<float>(bytes, index));
}

std::optional<std::vector<double>> constant_values(pugi::xml_node layer, const Weights& weights,
                                                   std::size_t most) {
  const auto data = layer.child("data");
  const auto type = base::element_type_from_string(data.attribute("element_type").value());
  if (type != ElementType::kF32 && type != ElementType::kF16 && type != ElementType::kF64) {
    return {};
  }
  const auto range = data_range(layer);
  const auto width = bit_width(type) / 8;
  if (!range) return {};
  if (range->size_bytes / width > most) return std::vector<double>();
  const auto bytes = weights.view(range->offset, range->size_bytes);
  std::vector<double> values;
  for (std::size_t i = 0; i < bytes.size() / width; ++i) {
    values.push_back(value_at(bytes, type, i));
  }
  return values;
}

/// Many constants may name the same bytes: more than this is not looked through.
constexpr std::size_t kMostWideBytes = std::size_t{64} << 20;

/// The first number, in words, that signed 32 bits do not hold.
template <class Whole>
std::optional<std::string> wide_among(std::span<const std::byte> bytes) {
  constexpr Whole kToTheEnd = Whole{1} << 62;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Whole); ++i) {
    const auto number = load<Whole>(bytes, i);
    const bool is_past_the_end = number >= kToTheEnd;
    const bool is_before_the_begin = std::is_signed_v<Whole> && number <= Whole{0} - kToTheEnd;
    if (is_past_the_end || is_before_the_begin || std::in_range<std::int32_t>(number)) continue;
    return base::text(number);
  }
  return {};
}

std::optional<std::string> wide_number(pugi::xml_node layer, const Weights& weights,
                                       std::size_t* bytes_left) {
  const std::string_view type = layer.child("data").attribute("element_type").value();
  const auto range = data_range(layer);
  if ((type != "i64" && type != "u64") || !range || range->size_bytes > *bytes_left) return {};
  *bytes_left -= range->size_bytes;
  const auto bytes = weights.view(range->offset, range->size_bytes);
  return type == "i64" ? wide_among<std::int64_t>(bytes) : wide_among<std::uint64_t>(bytes);
}

}  // namespace

std::vector<pugi::xml_node> all_constants(pugi::xml_node net) {
  struct Finder : pugi::xml_tree_walker {
    std::vector<pugi::xml_node> found;
    bool for_each(pugi::xml_node& node) override {
      if (std::string_view(node.name()) == "layer" && layer_type(node) == "Const") {
        found.push_back(node);
      }
      return true;
    }
  };
  Finder finder;
  net.traverse(finder);
  return finder.found;
}

void remove_addresses(pugi::xml_node constant) {
  for (auto rt_info : constant.children("rt_info")) {
    for (auto entry = rt_info.child("attribute"); entry;) {
      const auto next = entry.next_sibling("attribute");
      if (std::string_view(entry.attribute("name").value()) == kPointerAttribute) {
        rt_info.remove_child(entry);
      }
      entry = next;
    }
  }
}

std::optional<DataRange> data_range(pugi::xml_node constant) {
  const auto data = constant.child("data");
  const auto offset = parse_unsigned(data.attribute("offset").value());
  const auto size = parse_unsigned(data.attribute("size").value());
  if (!offset || !size) return {};
  return DataRange{*offset, *size};
}

std::optional<std::vector<double>> constant_input(const Document& document, const Weights& weights,
                                                  PortRef input, std::size_t most) {
  auto producer = document.producer(input);
  if (!producer) return {};
  auto layer = document.layer(producer->layer);
  if (layer_type(layer) == "Convert") {
    producer = document.producer({producer->layer, 0});
    if (!producer) return {};
    layer = document.layer(producer->layer);
  }
  if (layer_type(layer) != "Const") return {};
  return constant_values(layer, weights, most);
}

std::vector<std::string> wide_number_warnings(const Document& document, const Weights& weights) {
  std::size_t left = kMostWideBytes, others = 0;
  std::string first;
  for (const auto layer : all_constants(document.net())) {
    const auto wide = wide_number(layer, weights, &left);
    if (!wide) continue;
    others += first.empty() ? 0 : 1;
    if (first.empty()) {
      first = base::text(describe_layer(layer), " holds ", *wide);
    }
  }
  if (first.empty()) return {};
  const std::string more =
      others > 0 ? base::text(", and ", others, " more hold such numbers") : "";
  return {base::text(
      first, more,
      ": NPUs compute i64 and u64 with 32 bits, so what depends on it may be wrong; keep "
      "the model's whole numbers within +-2147483647")};
}

}  // namespace npu::ir

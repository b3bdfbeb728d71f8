// Division of whole numbers as PyTorch exports it to ONNX: it rounds down below zero, by
// subtracting one if the signs differ and there is a remainder. Places are never below zero.
#include <algorithm>
#include <string_view>

#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"

#include "meaning.hpp"

namespace npu::ir {
namespace {

constexpr int kDeepest = 12;

bool is_place(const Meaning& meaning) {
  return meaning.is(Meaning::Kind::kTopPlaces) || meaning.is(Meaning::Kind::kDetRow);
}

}  // namespace

/// True if all values of a constant, whatever its size, are false.
bool Meanings::is_false_constant(pugi::xml_node layer) const {
  constexpr std::uint64_t kMostBytes = 4096;
  const std::string_view type = layer.child("data").attribute("element_type").value();
  const auto range = data_range(layer);
  if (type != "boolean" || !range || range->size_bytes > kMostBytes) return false;
  const auto bytes = weights_.view(range->offset, range->size_bytes);
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(),
                                       [](std::byte byte) { return byte == std::byte{}; });
}

/// Whether the first input of a Less is known to be zero or more.
bool Meanings::is_never_negative(pugi::xml_node layer) {
  if (is_place(of_input(layer, 0))) return true;
  const auto numbers = whole_numbers(layer, 0);
  return numbers && std::all_of(numbers->begin(), numbers->end(), [](auto x) { return x >= 0; });
}

/// True if the value is false for every frame.
bool Meanings::is_always_false(pugi::xml_node layer, std::size_t position, int steps) {
  const auto from = input(layer, position);
  if (!from || steps > kDeepest) return false;
  const auto maker = document_.layer(from->layer);
  const auto type = layer_type(maker);
  if (type == "Const") return is_false_constant(maker);
  if (type == "Less") return is_zero(maker, 1) && is_never_negative(maker);
  if (type == "Convert") return is_always_false(maker, 0, steps + 1);
  const auto is_false = [&](std::size_t i) { return is_always_false(maker, i, steps + 1); };
  if (type == "LogicalAnd" || type == "Multiply") return is_false(0) || is_false(1);
  return type == "LogicalXor" && is_false(0) && is_false(1);
}

/// Reads a correction that subtracts nothing.
Meaning Meanings::read_correction(pugi::xml_node layer) {
  const Meaning left = of_input(layer, 0);
  return is_place(left) && is_always_false(layer, 1, 0) ? left : Meaning{};
}

/// Reads a choice by a condition that is never true.
Meaning Meanings::read_select(pugi::xml_node layer, PortRef value) {
  constexpr std::size_t kOtherwise = 2;
  const auto from = input(layer, kOtherwise);
  if (!from || shape_of(*from) != shape_of(value) || !is_always_false(layer, 0, 0)) return {};
  const Meaning otherwise = of(*from);
  return is_place(otherwise) ? otherwise : Meaning{};
}

}  // namespace npu::ir

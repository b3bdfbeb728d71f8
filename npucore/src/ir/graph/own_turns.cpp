#include "own_turns.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layer.hpp"
#include "whole_numbers.hpp"

namespace npu::ir {
namespace {

constexpr std::int64_t kColors = 3;
constexpr int kMostLayers = 8;  // between a Convolution and the constant with its weights

using Numbers = std::vector<std::int64_t>;

/// The numbers that feed a layer; nothing where one is unknown, or the layer has no such input.
std::optional<Numbers> numbers_of(const Document& document, const Weights& weights,
                                  pugi::xml_node layer, std::size_t position) {
  const auto port = input_port(layer, position);
  const auto from = port ? document.producer(layer, port) : std::nullopt;
  const auto read = from ? WholeNumberReader(document, weights).of(*from) : std::nullopt;
  if (!read) return {};
  Numbers numbers;
  for (const auto& number : *read) {
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

/// Size of a dimension, counted from the end where `axis` is negative; -1 where it is open, 0 where
/// there is none.
std::int64_t size_along(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = axis < 0 ? axis + rank : axis;
  return at < 0 || at >= rank ? 0 : shape[static_cast<std::size_t>(at)];
}

Turn turn_of_order(const Numbers& order) {
  if (order == Numbers{0, 1, 2}) return Turn::kNone;
  return order == Numbers{2, 1, 0} ? Turn::kTurned : Turn::kOther;
}

/// Places may count from the end.
Turn turn_of_gather(const Document& document, const Weights& weights, pugi::xml_node layer) {
  auto places = numbers_of(document, weights, layer, 1);
  const auto axis = numbers_of(document, weights, layer, 2);
  if (!places || !axis || axis->size() != 1) return Turn::kUnknown;
  const std::int64_t size = size_along(port_shape(input_port(layer, 0)), axis->front());
  if (size != kColors && size >= 0) return Turn::kOther;
  for (auto& place : *places) place += place < 0 ? kColors : 0;
  return turn_of_order(*places);
}

/// `steps` along `axes`, of a layer that leaves the picture's size.
Turn turn_of_steps(const Shape& shape, const Numbers& axes, const Numbers& steps) {
  if (axes.size() != steps.size()) return Turn::kUnknown;
  Turn turn = Turn::kNone;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 1) continue;
    const std::int64_t size = size_along(shape, axes[i]);
    if (size == 1) continue;
    if (steps[i] != -1 || size != kColors) return Turn::kOther;
    turn = Turn::kTurned;
  }
  return turn;
}

bool leaves_size(pugi::xml_node layer) {
  const auto outputs = output_ports(layer);
  return !outputs.empty() && port_shape(outputs.front()) == port_shape(input_port(layer, 0));
}

Turn turn_of_slice(const Document& document, const Weights& weights, pugi::xml_node layer) {
  if (!leaves_size(layer)) return Turn::kOther;
  const auto steps = numbers_of(document, weights, layer, 3);
  if (!steps) return Turn::kUnknown;
  Numbers axes;
  if (input_port(layer, 4)) {
    const auto named = numbers_of(document, weights, layer, 4);
    if (!named) return Turn::kUnknown;
    axes = *named;
  } else {
    for (std::size_t i = 0; i < steps->size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  return turn_of_steps(port_shape(input_port(layer, 0)), axes, *steps);
}

/// Behind an ellipsis axes count from the end.
Turn turn_of_strided_slice(const Document& document, const Weights& weights, pugi::xml_node layer) {
  if (!leaves_size(layer)) return Turn::kOther;
  const auto steps = input_port(layer, 3) ? numbers_of(document, weights, layer, 3) : Numbers();
  if (!steps) return Turn::kUnknown;
  std::string mask = layer.child("data").attribute("ellipsis_mask").value();
  std::erase_if(mask, [](char c) { return c != '0' && c != '1'; });
  const std::size_t ellipsis = mask.find('1');
  Numbers axes, taken;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    if (i == ellipsis) continue;
    const auto from_end = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(steps->size());
    axes.push_back(i > ellipsis ? from_end : static_cast<std::int64_t>(i));
    taken.push_back((*steps)[i]);
  }
  return turn_of_steps(port_shape(input_port(layer, 0)), axes, taken);
}

Turn turn_of_reverse(const Document& document, const Weights& weights, pugi::xml_node layer) {
  const auto axes = numbers_of(document, weights, layer, 1);
  const std::string_view mode = layer.child("data").attribute("mode").value();
  if (!axes || mode != "index") return Turn::kUnknown;
  return turn_of_steps(port_shape(input_port(layer, 0)), *axes, Numbers(axes->size(), -1));
}

/// "Gather_123", perhaps with "_compressed" behind it: a name that OpenVINO makes up for a Gather
/// and gives to the constant into which it folds it.
bool is_name_of_gather(std::string_view name) {
  constexpr std::string_view kBegin = "Gather_", kEnd = "_compressed";
  if (!name.starts_with(kBegin)) return false;
  name.remove_prefix(kBegin.size());
  if (name.ends_with(kEnd)) {
    name.remove_suffix(kEnd.size());
  }
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Turn turn_of(const Document& document, const Weights& weights, pugi::xml_node layer) {
  const std::string type = layer_type(layer);
  if (type == "Gather") return turn_of_gather(document, weights, layer);
  if (type == "Slice") return turn_of_slice(document, weights, layer);
  if (type == "StridedSlice") return turn_of_strided_slice(document, weights, layer);
  if (type == "Reverse") return turn_of_reverse(document, weights, layer);
  return Turn::kOther;
}

Turn turn_of(const Document& document, const Weights& weights, pugi::xml_node split,
             pugi::xml_node concat) {
  const auto axis = numbers_of(document, weights, split, 1);
  const auto parts = input_ports(concat);
  if (!axis || axis->size() != 1 || parts.size() != kColors) return Turn::kOther;
  const Shape shape = port_shape(input_port(split, 0));
  const std::int64_t joined = concat.child("data").attribute("axis").as_llong();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto counted = [rank](std::int64_t at) { return at < 0 ? at + rank : at; };
  if (size_along(shape, axis->front()) != kColors || counted(joined) != counted(axis->front())) {
    return Turn::kOther;
  }
  Numbers order;
  for (const auto part : parts) {
    const auto from = document.producer(concat, part);
    if (!from || from->layer != layer_id(split)) return Turn::kOther;
    order.push_back(static_cast<std::int64_t>(document.output_port(*from).index));
  }
  return turn_of_order(order);
}

bool has_turned_weights(const Document& document, const Weights& weights,
                        pugi::xml_node convolution) {
  auto from = document.producer(convolution, input_port(convolution, 1));
  for (int step = 0; from && step < kMostLayers; ++step) {
    const auto layer = document.layer(from->layer);
    const std::string type = layer_type(layer);
    if (type == "Gather") return turn_of(document, weights, layer) == Turn::kTurned;
    if (type == "Const") {
      const auto outputs = output_ports(layer);
      const bool has_colors = !outputs.empty() && size_along(port_shape(outputs[0]), 1) == kColors;
      return has_colors && is_name_of_gather(layer_name(layer));
    }
    const auto ports = input_ports(layer);
    const auto filter = std::find_if(ports.begin(), ports.end(), [](pugi::xml_node port) {
      return size_along(port_shape(port), 1) == kColors;
    });
    if (filter == ports.end()) return false;
    from = document.producer(layer, *filter);
  }
  return false;
}

}  // namespace npu::ir

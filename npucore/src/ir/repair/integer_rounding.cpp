#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "ir/graph/layer.hpp"

#include "repair.hpp"

namespace npu::ir {
namespace {

bool is_integer(pugi::xml_node port) {
  constexpr std::array<std::string_view, 8> kTypes{"I8", "I16", "I32", "I64",
                                                   "U8", "U16", "U32", "U64"};
  const std::string_view type = port.attribute("precision").value();
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool rounds(pugi::xml_node layer) {
  const auto type = layer_type(layer);
  return type == "Floor" || type == "Ceiling" || type == "Round";
}

PortRef output_of(pugi::xml_node layer) {
  const auto port = layer.child("output").child("port");
  return {layer_id(layer), port.attribute("id").as_ullong()};
}

/// The values that are outputs of the model.
std::set<PortRef> values_of_outputs(const Document& document) {
  std::set<PortRef> values;
  for (auto result : document.layers_of_type("Result")) {
    if (const auto from = document.producer(result, input_port(result, 0))) {
      values.insert(*from);
    }
  }
  return values;
}

/// Keeps an output's layer: the output is named after it.
bool drop(Document& document, pugi::xml_node layer, const std::set<PortRef>& outputs) {
  if (input_ports(layer).size() != 1 || output_ports(layer).size() != 1) return false;
  const auto input = input_port(layer, 0);
  const auto from = document.producer(layer, input);
  const auto to = output_of(layer);
  if (!from || !is_integer(document.output_port(*from).node)) return false;
  if (!is_integer(document.output_port(to).node) || outputs.contains(to)) return false;
  document.move_consumers(to, *from);
  document.disconnect({layer_id(layer), input.attribute("id").as_ullong()});
  document.remove_layer(layer);
  return true;
}

}  // namespace

std::optional<std::string> drop_integer_rounding(Model::Impl& model) {
  // Dropping a layer visits all edges: too slow for very many layers.
  constexpr std::size_t kMost = 64;
  const auto outputs = values_of_outputs(model.document);
  std::size_t dropped = 0;
  for (auto layer : model.document.layers()) {
    if (dropped < kMost && rounds(layer) && drop(model.document, layer, outputs)) {
      ++dropped;
    }
  }
  if (dropped == 0) return {};
  return base::text(dropped, dropped == 1 ? " rounding" : " roundings",
                    " of whole numbers dropped (Floor, Ceiling, Round)");
}

}  // namespace npu::ir

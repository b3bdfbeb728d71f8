#include "ports.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/type_names.hpp"

#include "layer.hpp"

namespace npu::ir {
namespace {

std::uint64_t port_id(pugi::xml_node port) {
  return parse_unsigned(port.attribute("id").value()).value_or(0);
}

Port read_input(pugi::xml_node layer) {
  const auto data = layer.child("data");
  const auto port = layer.child("output").child("port");
  Port input;
  input.name = layer_name(layer);
  input.tensor_names = tensor_names(port);
  input.type = base::element_type_from_string(data.attribute("element_type").value());
  input.shape = parse_shape(data.attribute("shape").value()).value_or(port_shape(port));
  return input;
}

PortRef producer_of(const Document& document, pugi::xml_node layer) {
  return document.producer({layer_id(layer), port_id(input_ports(layer).front())})
      .value_or(PortRef{});
}

PortRef in_front_of_identity(const Document& document, PortRef output) {
  while (layer_type(document.layer(output.layer)) == "Identity") {
    output = producer_of(document, document.layer(output.layer));
  }
  return output;
}

Port read_output(const Document& document, pugi::xml_node result, OutputNames by) {
  auto producer = producer_of(document, result);
  if (by == OutputNames::kWithoutIdentity) {
    producer = in_front_of_identity(document, producer);
  }
  const auto maker = document.layer(producer.layer);
  const auto [port, index, is_only] = document.output_port(producer);
  Port output;
  output.name = layer_name(maker);
  if (!is_only) {
    output.name += base::text('.', index);
  }
  auto names = tensor_names(port);
  for (auto& name : split_tensor_names(result.attribute("output_names").value())) {
    names.push_back(std::move(name));
  }
  output.tensor_names = each_once(names);
  output.type = precision_to_type(port.attribute("precision").value());
  output.shape = port_shape(port);
  return output;
}

void flatten(pugi::xml_node node, const std::string& prefix,
             std::map<std::string, std::string>& found) {
  // rt_info of models is two levels deep; the limit keeps a hostile file off the stack.
  constexpr auto kMostSlashes = 8;
  if (std::count(prefix.begin(), prefix.end(), '/') > kMostSlashes) return;
  for (auto child : node.children()) {
    const auto key = prefix + child.name();
    if (const auto value = child.attribute("value")) {
      found[key] = value.value();
    }
    flatten(child, key + "/", found);
  }
}

}  // namespace

std::vector<Port> read_inputs(const Document& document) {
  std::vector<Port> inputs;
  for (auto layer : document.layers_of_type("Parameter")) inputs.push_back(read_input(layer));
  return inputs;
}

std::vector<Port> read_outputs(const Document& document, OutputNames by) {
  std::vector<Port> outputs;
  for (auto layer : document.layers_of_type("Result")) {
    outputs.push_back(read_output(document, layer, by));
  }
  return outputs;
}

std::map<std::string, std::string> read_model_info(const Document& document) {
  std::map<std::string, std::string> found;
  flatten(document.net().child("rt_info").child("model_info"), {}, found);
  return found;
}

}  // namespace npu::ir

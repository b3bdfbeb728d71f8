#include "ports.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/enum_names.hpp"
#include "base/text.hpp"

#include "layer.hpp"
#include "limits.hpp"

namespace npu::ir {
namespace {

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
  return document.producer(layer, input_port(layer, 0)).value_or(PortRef{});
}

/// Finds the layer before the Identities that feed a Result. Many may end in one chain: visits each
/// once.
class Makers {
 public:
  explicit Makers(const Document& document) : document_(document) {}

  PortRef of(PortRef output) {
    std::vector<PortRef> passed;
    while (layer_type(document_.layer(output.layer)) == "Identity") {
      const auto known = known_.find(output);
      if (known != known_.end()) {
        output = known->second;
        break;
      }
      passed.push_back(output);
      output = producer_of(document_, document_.layer(output.layer));
    }
    for (const auto identity : passed) known_.emplace(identity, output);
    return output;
  }

 private:
  const Document& document_;
  std::map<PortRef, PortRef> known_;
};

/// The output, without the names that a Result adds.
Port read_output(const Document& document, PortRef producer) {
  const auto maker = document.layer(producer.layer);
  const auto [port, index, is_only] = document.output_port(producer);
  Port output;
  output.name = layer_name(maker);
  if (!is_only) {
    output.name += base::text('.', index);
  }
  output.tensor_names = each_once(tensor_names(port));
  output.type = precision_to_type(port.attribute("precision").value());
  output.shape = port_shape(port);
  return output;
}

/// Reads each port once: many Results may share it, and its text may be long.
class OutputPorts {
 public:
  explicit OutputPorts(const Document& document) : document_(document) {}

  Port of(pugi::xml_node result, PortRef producer) {
    const auto known = known_.find(producer);
    Port output = known != known_.end()
                      ? known->second
                      : known_.emplace(producer, read_output(document_, producer)).first->second;
    for (auto& name : split_tensor_names(result.attribute("output_names").value())) {
      output.tensor_names.push_back(std::move(name));
    }
    output.tensor_names = each_once(output.tensor_names);
    return output;
  }

 private:
  const Document& document_;
  std::map<PortRef, Port> known_;
};

std::size_t name_bytes(const Port& port) {
  return std::accumulate(port.tensor_names.begin(), port.tensor_names.end(), port.name.size(),
                         [](std::size_t sum, const auto& name) { return sum + name.size(); });
}

using ModelInfo = std::map<std::string, std::string>;

/// Returns false if the entries have more than `left` bytes.
bool flatten(pugi::xml_node node, const std::string& prefix, ModelInfo& found, std::size_t& left) {
  // rt_info of models is two levels deep; the limit keeps a hostile file off the stack.
  constexpr auto kMostSlashes = 8;
  if (std::count(prefix.begin(), prefix.end(), '/') > kMostSlashes) return true;
  for (auto child : node.children()) {
    const auto key = prefix + child.name();
    const std::string_view value = child.attribute("value").value();
    if (key.size() + value.size() > left) return false;
    left -= key.size() + value.size();
    if (child.attribute("value")) {
      found[key] = value;
    }
    if (!flatten(child, key + "/", found, left)) return false;
  }
  return true;
}

}  // namespace

std::vector<Port> read_inputs(const Document& document) {
  std::vector<Port> inputs;
  for (auto layer : document.layers_of_type("Parameter")) inputs.push_back(read_input(layer));
  return inputs;
}

std::vector<Port> read_outputs(const Document& document, OutputNames by) {
  std::vector<Port> outputs;
  Makers makers(document);
  OutputPorts ports(document);
  std::size_t bytes = 0;
  for (auto result : document.layers_of_type("Result")) {
    const auto producer = producer_of(document, result);
    outputs.push_back(
        ports.of(result, by == OutputNames::kAsInFile ? producer : makers.of(producer)));
    bytes += name_bytes(outputs.back());
    if (bytes > Limits::kCopiedBytes) {
      document.fail(base::text("the names of its outputs have more than ", Limits::kCopiedBytes,
                               " bytes together"));
    }
  }
  return outputs;
}

std::map<std::string, std::string> read_model_info(const Document& document) {
  ModelInfo found;
  auto left = Limits::kCopiedBytes;
  if (!flatten(document.net().child("rt_info").child("model_info"), {}, found, left)) {
    document.fail(base::text("its model information (rt_info/model_info) has more than ",
                             Limits::kCopiedBytes, " bytes, written out"));
  }
  return found;
}

}  // namespace npu::ir

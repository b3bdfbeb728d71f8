#include "layers.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <npucore/error.hpp>

#include "base/text.hpp"

#include "layer.hpp"
#include "xml.hpp"

namespace npu::ir {
namespace {

/// All layers that depend on the inputs, the inputs included.
std::unordered_set<LayerId> behind_inputs(
    const Document& document, const std::unordered_map<LayerId, std::vector<LayerId>>& followers) {
  std::unordered_set<LayerId> found;
  std::vector<LayerId> ready;
  for (auto parameter : document.layers_of_type("Parameter")) {
    ready.push_back(layer_id(parameter));
  }
  while (!ready.empty()) {
    const LayerId layer = ready.back();
    ready.pop_back();
    if (!found.insert(layer).second) continue;
    const auto next = followers.find(layer);
    if (next == followers.end()) continue;
    ready.insert(ready.end(), next->second.begin(), next->second.end());
  }
  return found;
}

/// All layers, each after those that feed it.
std::vector<pugi::xml_node> in_order(
    const Document& document, const std::unordered_map<LayerId, std::vector<LayerId>>& followers) {
  const auto layers = document.layers();
  std::unordered_map<LayerId, std::size_t> places, waits_for;
  for (std::size_t i = 0; i < layers.size(); ++i) places[layer_id(layers[i])] = i;
  for (const auto& [from, others] : followers) {
    for (const auto other : others) ++waits_for[other];
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!waits_for.contains(layer_id(layers[i]))) {
      ready.push(i);
    }
  }
  std::vector<pugi::xml_node> ordered;
  while (!ready.empty()) {
    ordered.push_back(layers[ready.top()]);
    ready.pop();
    const auto next = followers.find(layer_id(ordered.back()));
    if (next == followers.end()) continue;
    for (const auto other : next->second) {
      if (--waits_for[other] == 0) {
        ready.push(places[other]);
      }
    }
  }
  return ordered;
}

bool gives_values(pugi::xml_node layer) {
  const auto type = layer_type(layer);
  return type != "Parameter" && type != "Result" && type != "Assign" &&
         !output_ports(layer).empty();
}

Layer describe(pugi::xml_node layer) {
  Layer described{layer_name(layer), layer_type(layer), {}};
  const auto ports = output_ports(layer);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    Port port;
    port.name = ports.size() == 1 ? described.name : base::text(described.name, '.', i);
    port.tensor_names = tensor_names(ports[i]);
    port.type = precision_to_type(ports[i].attribute("precision").value());
    port.shape = port_shape(ports[i]);
    described.outputs.push_back(std::move(port));
  }
  return described;
}

pugi::xml_node find(const Document& document, const std::string& name) {
  for (auto layer : document.layers()) {
    if (layer_name(layer) == name && gives_values(layer)) return layer;
  }
  throw Error(ErrorCode::kNotFound, base::text(base::quoted(document.file()), " has no layer ",
                                               base::quoted(name), " that gives a value"));
}

/// A name that no layer has: compilers tell layers apart by them.
std::string result_name(const Layer& layer, std::size_t port) {
  return base::text(layer.outputs[port].name, "/npucore_output");
}

}  // namespace

std::vector<Layer> read_layers(const Document& document) {
  const auto followers = document.followers();
  const auto dependent = behind_inputs(document, followers);
  std::vector<Layer> found;
  for (auto layer : in_order(document, followers)) {
    if (gives_values(layer) && dependent.contains(layer_id(layer))) {
      found.push_back(describe(layer));
    }
  }
  return found;
}

void add_output(Document& document, const std::string& name) {
  const auto layer = find(document, name);
  const auto described = describe(layer);
  const auto ports = output_ports(layer);
  std::unordered_set<std::uint64_t> taken;
  for (auto result : document.layers_of_type("Result")) {
    const auto from = document.producer(result, input_port(result, 0));
    if (from && from->layer == layer_id(layer)) {
      taken.insert(from->port);
    }
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const PortRef from{layer_id(layer),
                       parse_unsigned(ports[i].attribute("id").value()).value_or(0)};
    if (taken.contains(from.port)) continue;
    auto result = document.insert_layer({}, result_name(described, i), "Result", "opset1");
    auto port = add(add(result, "input"), "port");
    set(port, "id", 0);
    set(port, "precision", ports[i].attribute("precision").value());
    for (const auto dimension : described.outputs[i].shape) {
      set_text(add(port, "dim"), std::to_string(dimension));
    }
    document.connect(from, {layer_id(result), 0});
  }
}

}  // namespace npu::ir

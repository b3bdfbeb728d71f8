#include "layers.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <npucore/error.hpp>

#include "base/text.hpp"

#include "layer.hpp"
#include "xml.hpp"

namespace npu::ir {
namespace {

using Followers = std::unordered_map<LayerId, std::vector<LayerId>>;
enum class Dependence { kAny, kOnValues };

/// All layers that depend on the inputs, or on more than their sizes; the inputs included.
std::unordered_set<LayerId> behind_inputs(const Document& document, const Followers& followers,
                                          Dependence by = Dependence::kAny) {
  std::unordered_set<LayerId> found;
  std::vector<LayerId> ready;
  for (auto parameter : document.layers_of_type("Parameter")) {
    ready.push_back(layer_id(parameter));
  }
  while (!ready.empty()) {
    const LayerId layer = ready.back();
    ready.pop_back();
    if (by == Dependence::kOnValues && layer_type(document.layer(layer)) == "ShapeOf") continue;
    if (!found.insert(layer).second) continue;
    const auto next = followers.find(layer);
    if (next == followers.end()) continue;
    ready.insert(ready.end(), next->second.begin(), next->second.end());
  }
  return found;
}

/// All layers, each after those that feed it.
std::vector<pugi::xml_node> in_order(const Document& document, const Followers& followers) {
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

std::uint64_t port_id(pugi::xml_node port) {
  return parse_unsigned(port.attribute("id").value()).value_or(0);
}

/// Type and shape of a port.
Port describe(pugi::xml_node port) {
  Port described;
  described.type = precision_to_type(port.attribute("precision").value());
  described.shape = port_shape(port);
  return described;
}

Layer describe(const Document& document, pugi::xml_node layer) {
  Layer described{layer_name(layer), layer_type(layer), {}, {}};
  for (auto input : input_ports(layer)) {
    if (const auto from = document.producer(layer, input)) {
      described.inputs.push_back(describe(document.output_port(*from).node));
    }
  }
  const auto ports = output_ports(layer);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    Port port = describe(ports[i]);
    port.name = ports.size() == 1 ? described.name : base::text(described.name, '.', i);
    port.tensor_names = tensor_names(ports[i]);
    described.outputs.push_back(std::move(port));
  }
  return described;
}

pugi::xml_node find(const Document& document, const std::string& name) {
  for (auto layer : document.layers()) {
    if (layer_name(layer) == name && gives_values(layer)) return layer;
  }
  throw Error(ErrorCode::kNotFound, base::text(document.title(), " has no layer ",
                                               base::quoted(name), " that gives a value"));
}

/// A name that no layer has: compilers tell layers apart by them.
std::string result_name(const Layer& layer, std::size_t port) {
  return base::text(layer.outputs[port].name, "/npucore_output");
}

/// The layers of read_layers().
std::vector<pugi::xml_node> dependent_layers(const Document& document, const Followers& followers) {
  const auto dependent = behind_inputs(document, followers);
  auto layers = in_order(document, followers);
  std::erase_if(layers, [&](pugi::xml_node layer) {
    return !gives_values(layer) || !dependent.contains(layer_id(layer));
  });
  return layers;
}

/// Adds a Result for each value of a layer that is wanted and has none.
void add_results(Document& document, pugi::xml_node layer, const auto& is_wanted) {
  const auto described = describe(document, layer);
  const auto ports = output_ports(layer);
  std::unordered_set<std::uint64_t> taken;
  for (auto result : document.layers_of_type("Result")) {
    const auto from = document.producer(result, input_port(result, 0));
    if (from && from->layer == layer_id(layer)) {
      taken.insert(from->port);
    }
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const PortRef from{layer_id(layer), port_id(ports[i])};
    if (taken.contains(from.port) || !is_wanted(from)) continue;
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

/// The first input of a layer, and the output that feeds it.
struct FirstInput {
  PortRef input;
  std::optional<PortRef> from;
};

FirstInput first_input(const Document& document, pugi::xml_node layer) {
  const auto port = input_port(layer, 0);
  return {{layer_id(layer), port_id(port)}, document.producer(layer, port)};
}

/// Removes the Results of layers that are dropped.
void remove_results(Document& document, const std::unordered_set<LayerId>& dropped) {
  for (auto result : document.layers_of_type("Result")) {
    const auto [input, from] = first_input(document, result);
    if (!from || !dropped.contains(from->layer)) continue;
    document.disconnect(input);
    document.remove_layer(result);
  }
}

/// Lets a state whose next value is dropped keep the one it has; removes it if that is dropped too.
void hold_states(Document& document, const std::unordered_set<LayerId>& dropped) {
  const auto variable = [](pugi::xml_node layer) {
    return std::string_view(layer.child("data").attribute("variable_id").value());
  };
  const auto reads = document.layers_of_type("ReadValue");
  for (auto assign : document.layers_of_type("Assign")) {
    const auto [input, from] = first_input(document, assign);
    if (!from || !dropped.contains(from->layer)) continue;
    document.disconnect(input);
    const auto read = std::find_if(reads.begin(), reads.end(), [&](pugi::xml_node layer) {
      return variable(layer) == variable(assign) && !dropped.contains(layer_id(layer));
    });
    if (read == reads.end()) {
      document.remove_layer(assign);
    } else {
      document.connect({layer_id(*read), port_id(output_ports(*read).front())}, input);
    }
  }
}

}  // namespace

std::vector<Layer> read_layers(const Document& document) {
  std::vector<Layer> found;
  for (auto layer : dependent_layers(document, document.followers())) {
    found.push_back(describe(document, layer));
  }
  return found;
}

void add_output(Document& document, const std::string& name) {
  add_results(document, find(document, name), [](PortRef) { return true; });
}

void keep_first(Document& document, std::size_t count) {
  const auto followers = document.followers();
  const auto layers = dependent_layers(document, followers);
  const auto last = layers.begin() + static_cast<std::ptrdiff_t>(std::min(count, layers.size()));
  std::unordered_set<LayerId> dropped;
  std::set<PortRef> used;
  for (auto layer = last; layer != layers.end(); ++layer) {
    dropped.insert(layer_id(*layer));
    for (auto port : input_ports(*layer)) {
      if (const auto from = document.producer(*layer, port)) {
        used.insert(*from);
      }
    }
  }
  const auto by_values = behind_inputs(document, followers, Dependence::kOnValues);
  for (auto layer = layers.begin(); layer != last; ++layer) {
    const auto id = layer_id(*layer);
    const auto first = used.lower_bound({id, 0});
    if (first == used.end() || first->layer != id || !by_values.contains(id)) continue;
    add_results(document, *layer, [&](PortRef port) { return used.contains(port); });
  }
  remove_results(document, dropped);
  hold_states(document, dropped);
  document.remove_unused();
}

}  // namespace npu::ir

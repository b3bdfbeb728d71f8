#include "ir_mutator.hpp"

#include "xml_mutator.hpp"

namespace npu::fuzz {
namespace {

using Nodes = std::vector<pugi::xml_node>;

// Those that the library edits or asks about, and some that it does not.
constexpr std::array kTypes{"Identity",  "Convert", "Interpolate",  "Broadcast", "ReadValue",
                            "Assign",    "Clamp",   "FakeQuantize", "Concat",    "Convolution",
                            "Reshape",   "Squeeze", "Transpose",    "Add",       "Result",
                            "Parameter", "Const",   "If",           "Loop",      "Multiply"};
constexpr std::array kOpsets{"opset1", "opset3", "opset4", "opset6", "opset11", "opset16"};
constexpr std::array kElementTypes{"f32", "f16", "u8", "i64", "string", "u1", "f64", "boolean"};

Nodes children(pugi::xml_node parent, const char* name) {
  Nodes found;
  for (auto node : parent.children(name)) found.push_back(node);
  return found;
}

/// A graph as the mutations see it: the outermost one, or a body.
struct Graph {
  explicit Graph(pugi::xml_node graph)
      : layers(graph.child("layers")), edges(graph.child("edges")) {
    if (!edges && layers) {
      edges = graph.append_child("edges");
    }
  }
  Nodes all_layers() const { return children(layers, "layer"); }
  Nodes all_edges() const { return children(edges, "edge"); }

  pugi::xml_node layers, edges;
};

void set(pugi::xml_node node, const char* name, const std::string& value) {
  auto attribute = node.attribute(name);
  if (!attribute) {
    attribute = node.append_attribute(name);
  }
  attribute.set_value(value.c_str());
}

std::string unused_id(const Nodes& nodes) {
  std::uint64_t id = 0;
  for (auto node : nodes) {
    id = std::max<std::uint64_t>(id, node.attribute("id").as_uint() + std::uint64_t{1});
  }
  return std::to_string(id);
}

void connect(Graph& graph, const std::string& from_layer, const std::string& from_port,
             const std::string& to_layer, const std::string& to_port) {
  auto edge = graph.edges.append_child("edge");
  set(edge, "from-layer", from_layer);
  set(edge, "from-port", from_port);
  set(edge, "to-layer", to_layer);
  set(edge, "to-port", to_port);
}

std::string shape_text(Random& random) {
  std::string text;
  for (auto rank = random.below(6); rank > 0; --rank) {
    constexpr std::array kDims{"1", "3", "8", "?", "1..8", "2..", "0", "-1", "..."};
    text += (text.empty() ? "" : ",") + std::string(random.pick(kDims));
  }
  return text;
}

void add_dims(pugi::xml_node port, Random& random) {
  for (auto rank = random.below(5); rank > 0; --rank) {
    constexpr std::array kDims{"1", "3", "2", "8", "-1", "0", "16"};
    port.append_child("dim").text().set(random.pick(kDims));
  }
}

void add_data(pugi::xml_node layer, Random& random) {
  auto data = layer.append_child("data");
  set(data, "shape", shape_text(random));
  set(data, "element_type", random.pick(kElementTypes));
  set(data, "offset", std::to_string(random.below(64)));
  set(data, "size", std::to_string(random.below(64)));
  set(data, "destination_type", random.pick(kElementTypes));
  set(data, "shape_calculation_mode", random.one_in(2) ? "sizes" : "scales");
  set(data, "variable_id", "v");
  set(data, "min", "0");
  set(data, "max", random.one_in(2) ? "255" : "1");
}

/// An output port of some layer, with its layer's id; empty where there is none.
std::pair<std::string, std::string> some_output(const Graph& graph, Random& random) {
  const auto layers = graph.all_layers();
  if (layers.empty()) return {};
  const auto layer = random.pick(layers);
  const auto ports = children(layer.child("output"), "port");
  if (ports.empty()) return {};
  return {layer.attribute("id").value(), random.pick(ports).attribute("id").value()};
}

pugi::xml_node make_layer(Graph& graph, Random& random) {
  const auto layers = graph.all_layers();
  auto layer = random.one_in(2) || layers.empty()
                   ? graph.layers.append_child("layer")
                   : graph.layers.insert_child_before("layer", random.pick(layers));
  set(layer, "id", unused_id(layers));
  set(layer, "name", "made");
  set(layer, "type", random.pick(kTypes));
  set(layer, "version", random.pick(kOpsets));
  add_data(layer, random);
  return layer;
}

/// A new layer of any type and any number of ports, put into an edge where there is one.
void insert_layer(Graph& graph, Random& random) {
  const auto edges = graph.all_edges();
  auto layer = make_layer(graph, random);
  const std::string id = layer.attribute("id").value();
  const auto ins = random.below(6), outs = random.below(3);
  for (std::size_t port = 0; port < ins + outs; ++port) {
    auto node = layer.child(port < ins ? "input" : "output");
    if (!node) {
      node = layer.append_child(port < ins ? "input" : "output");
    }
    node = node.append_child("port");
    set(node, "id", std::to_string(port));
    set(node, "precision", random.one_in(2) ? "FP32" : "I64");
    add_dims(node, random);
  }
  pugi::xml_node cut = edges.empty() ? pugi::xml_node() : random.pick(edges);
  for (std::size_t port = 0; port < ins; ++port) {
    auto [from, from_port] = some_output(graph, random);
    if (port == 0 && cut) {
      from = cut.attribute("from-layer").value();
      from_port = cut.attribute("from-port").value();
    }
    if (!from.empty()) {
      connect(graph, from, from_port, id, std::to_string(port));
    }
  }
  if (!cut || outs == 0) return;
  set(cut, "from-layer", id);
  set(cut, "from-port", std::to_string(ins));
}

bool joins(pugi::xml_node edge, const char* layer, const char* port, pugi::xml_node of,
           pugi::xml_node at) {
  return std::string_view(edge.attribute(layer).value()) == of.attribute("id").value() &&
         std::string_view(edge.attribute(port).value()) == at.attribute("id").value();
}

/// An input port goes with its edge, so that all others still have one.
void remove_input(Graph& graph, pugi::xml_node layer, pugi::xml_node port) {
  for (auto edge : graph.all_edges()) {
    if (joins(edge, "to-layer", "to-port", layer, port)) {
      graph.edges.remove_child(edge);
    }
  }
  layer.child("input").remove_child(port);
}

void remove_some_input(Graph& graph, Random& random) {
  const auto layers = graph.all_layers();
  if (layers.empty()) return;
  const auto layer = random.pick(layers);
  const auto ports = children(layer.child("input"), "port");
  if (!ports.empty()) {
    remove_input(graph, layer, random.pick(ports));
  }
}

/// A layer goes with its edges and the ports at which they end.
void remove_layer(Graph& graph, Random& random) {
  const auto layers = graph.all_layers();
  if (layers.empty()) return;
  const auto gone = random.pick(layers);
  const std::string_view id = gone.attribute("id").value();
  for (auto edge : graph.all_edges()) {
    if (edge.attribute("to-layer").value() == id) {
      graph.edges.remove_child(edge);
    } else if (edge.attribute("from-layer").value() == id) {
      const auto to =
          graph.layers.find_child_by_attribute("layer", "id", edge.attribute("to-layer").value());
      const auto port = to.child("input").find_child_by_attribute(
          "port", "id", edge.attribute("to-port").value());
      to.child("input").remove_child(port);
      graph.edges.remove_child(edge);
    }
  }
  graph.layers.remove_child(gone);
}

void rewire(Graph& graph, Random& random) {
  auto edges = graph.all_edges();
  const auto [layer, port] = some_output(graph, random);
  if (edges.empty() || layer.empty()) return;
  auto& edge = random.pick(edges);
  set(edge, "from-layer", layer);
  set(edge, "from-port", port);
}

void retype(Graph& graph, Random& random) {
  auto layers = graph.all_layers();
  if (layers.empty()) return;
  auto& layer = random.pick(layers);
  set(layer, random.one_in(3) ? "version" : "type",
      random.one_in(3) ? random.pick(kOpsets) : random.pick(kTypes));
}

void reshape(Graph& graph, Random& random) {
  auto layers = graph.all_layers();
  if (layers.empty()) return;
  auto& layer = random.pick(layers);
  if (auto data = layer.child("data")) {
    set(data, "shape", shape_text(random));
  }
  const auto ports = children(layer.child(random.one_in(2) ? "output" : "input"), "port");
  if (ports.empty()) return;
  auto port = random.pick(ports);
  for (auto dim : children(port, "dim")) port.remove_child(dim);
  add_dims(port, random);
}

void mutate_graph(pugi::xml_document& document, Random& random) {
  Nodes graphs;
  for (auto node : elements_of(document)) {
    if (node.child("layers")) {
      graphs.push_back(node);
    }
  }
  if (graphs.empty()) return;
  Graph graph(random.one_in(2) ? graphs.front() : random.pick(graphs));
  switch (random.below(7)) {
    case 0:
      remove_layer(graph, random);
      break;
    case 1:
      remove_some_input(graph, random);
      break;
    case 2:
      rewire(graph, random);
      break;
    case 3:
      retype(graph, random);
      break;
    case 4:
      reshape(graph, random);
      break;
    default:
      insert_layer(graph, random);
      break;
  }
}

}  // namespace

std::string mutate_ir(std::string_view xml, Random& random) {
  pugi::xml_document document;
  if (random.one_in(3) || !document.load_buffer(xml.data(), xml.size()) || is_too_deep(document)) {
    return mutate_xml(xml, random);
  }
  for (auto changes = 1 + random.below(4); changes > 0; --changes) mutate_graph(document, random);
  return to_text(document);
}

}  // namespace npu::fuzz

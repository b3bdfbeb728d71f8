#include "prepare.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "ir/graph/layer.hpp"

#include "reshape.hpp"

namespace npu::ir {
namespace {

void set_flag(pugi::xml_node rt_info, const char* name) {
  auto flag = rt_info.child(name);
  if (!flag) {
    flag = rt_info.append_child(name);
  }
  flag.remove_attributes();
  flag.append_attribute("value").set_value("YES");
}

/// Since 5.9 the compiler knows arguments by their index, if the model says so.
bool knows_indices(CompilerVersion version) {
  return version.major > 5 || (version.major == 5 && version.minor >= 9);
}

void set_flags(pugi::xml_node net, CompilerVersion version) {
  auto rt_info = net.child("rt_info");
  if (!rt_info) {
    rt_info = net.append_child("rt_info");
  }
  set_flag(rt_info, "is_new_api");
  if (knows_indices(version)) {
    set_flag(rt_info, "use_indices_for_io_metadata");
  }
}

/// The outermost graph and all bodies: what has layers of its own.
std::vector<pugi::xml_node> graphs(pugi::xml_node net) {
  struct Finder : pugi::xml_tree_walker {
    std::vector<pugi::xml_node> found;
    bool for_each(pugi::xml_node& node) override {
      if (node.child("layers")) {
        found.push_back(node);
      }
      return true;
    }
  };
  Finder finder;
  finder.found.push_back(net);
  net.traverse(finder);
  return finder.found;
}

std::vector<pugi::xml_node> layers_of(pugi::xml_node graph, const char* type) {
  std::vector<pugi::xml_node> found;
  for (auto layer : graph.child("layers").children("layer")) {
    if (layer_type(layer) == type) {
      found.push_back(layer);
    }
  }
  return found;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(value.c_str());
}

/// A constant of `count` ones in front of `place`, with output port 0; tells its id.
std::string add_ones(pugi::xml_node place, Weights& weights, bool floating, std::uint64_t count) {
  std::uint64_t id = 0;
  for (auto layer : place.parent().children("layer")) id = std::max(id, layer_id(layer) + 1);
  const std::vector<float> floats(count, 1);
  const std::vector<std::int64_t> integers(count, 1);
  const auto bytes =
      floating ? std::as_bytes(std::span(floats)) : std::as_bytes(std::span(integers));
  auto layer = place.parent().insert_child_before("layer", place);
  set(layer, "id", std::to_string(id));
  set(layer, "name", layer_name(place) + (floating ? "/scales" : "/sizes"));
  set(layer, "type", "Const");
  set(layer, "version", "opset1");
  auto data = layer.append_child("data");
  set(data, "element_type", floating ? "f32" : "i64");
  set(data, "shape", std::to_string(count));
  set(data, "offset", std::to_string(weights.append(bytes)));
  set(data, "size", std::to_string(bytes.size()));
  auto port = layer.append_child("output").append_child("port");
  set(port, "id", "0");
  set(port, "precision", floating ? "FP32" : "I64");
  port.append_child("dim").text().set(std::to_string(count).c_str());
  return std::to_string(id);
}

std::string unused_port(pugi::xml_node layer) {
  std::uint64_t id = 0;
  for (const auto& ports : {input_ports(layer), output_ports(layer)}) {
    for (auto port : ports) id = std::max<std::uint64_t>(id, port.attribute("id").as_ullong() + 1);
  }
  return std::to_string(id);
}

void connect(pugi::xml_node graph, const std::string& constant, pugi::xml_node layer,
             const std::string& port) {
  auto edge = graph.child("edges").append_child("edge");
  set(edge, "from-layer", constant);
  set(edge, "from-port", "0");
  set(edge, "to-layer", layer.attribute("id").value());
  set(edge, "to-port", port);
}

/// Interpolate-4 has sizes and scales, of which shape_calculation_mode says the one that counts;
/// Interpolate-11 has that one only. The other one becomes ones.
void downgrade_interpolate(pugi::xml_node graph, pugi::xml_node layer, Weights& weights) {
  const auto data = layer.child("data");
  const std::string_view mode = data.attribute("mode").value();
  const auto ports = input_ports(layer);
  if (mode.ends_with("_pillow") || ports.size() < 2) return;
  const auto shape = port_shape(ports[1]);
  if (shape.size() != 1 || shape[0] < 1) return;
  const bool by_sizes =
      std::string_view(data.attribute("shape_calculation_mode").value()) == "sizes";
  const auto count = static_cast<std::uint64_t>(shape[0]);
  const auto constant = add_ones(layer, weights, by_sizes, count);
  const auto id = unused_port(layer);
  auto inputs = layer.child("input");
  auto port = by_sizes ? inputs.insert_child_after("port", ports[1])
                       : inputs.insert_child_before("port", ports[1]);
  set(port, "id", id);
  set(port, "precision", by_sizes ? "FP32" : "I64");
  port.append_child("dim").text().set(std::to_string(count).c_str());
  connect(graph, constant, layer, id);
  layer.attribute("version").set_value("opset4");
}

bool touches(pugi::xml_node edge, const char* end, pugi::xml_node layer) {
  return std::strcmp(edge.attribute(end).value(), layer.attribute("id").value()) == 0;
}

pugi::xml_node producing_port(pugi::xml_node graph, pugi::xml_node edge) {
  for (auto layer : graph.child("layers").children("layer")) {
    if (!touches(edge, "from-layer", layer)) continue;
    return layer.child("output").find_child_by_attribute("port", "id",
                                                         edge.attribute("from-port").value());
  }
  return {};
}

/// What the Identity's output was called, the value in front of it is called too.
void hand_names_on(pugi::xml_node from, pugi::xml_node to) {
  auto names = tensor_names(to);
  for (const auto& name : tensor_names(from)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  if (names.empty()) return;
  to.remove_attribute("names");
  set(to, "names", join_tensor_names(names));
}

void drop_identity(pugi::xml_node graph, pugi::xml_node layer) {
  auto edges = graph.child("edges");
  pugi::xml_node into;
  for (auto edge : edges.children("edge")) {
    if (touches(edge, "to-layer", layer)) {
      into = edge;
    }
  }
  auto source = producing_port(graph, into);
  if (!source) return;
  hand_names_on(layer.child("output").child("port"), source);
  for (auto edge : edges.children("edge")) {
    if (!touches(edge, "from-layer", layer)) continue;
    edge.attribute("from-layer").set_value(into.attribute("from-layer").value());
    edge.attribute("from-port").set_value(into.attribute("from-port").value());
  }
  edges.remove_child(into);
  graph.child("layers").remove_child(layer);
}

}  // namespace

bool drops_identity(CompilerVersion version) {
  constexpr std::uint16_t kMajor = 7, kLastMinor = 26;
  if (version.major == 0) return false;
  return version.major < kMajor || (version.major == kMajor && version.minor <= kLastMinor);
}

PreparedModel prepare(const Model::Impl& model, CompilerVersion version) {
  constexpr std::uint32_t kInterpolateOpset = 11;
  PreparedModel prepared;
  prepared.weights = model.weights;
  auto net = prepared.xml.append_copy(model.document.net());
  set_flags(net, version);
  use_upper_bounds(net);
  const bool old_interpolate = version.newest_opset > 0 && version.newest_opset < kInterpolateOpset;
  for (auto graph : graphs(net)) {
    for (auto layer : layers_of(graph, "Interpolate")) {
      if (!old_interpolate || std::string_view(layer.attribute("version").value()) != "opset11") {
        continue;
      }
      downgrade_interpolate(graph, layer, prepared.weights);
    }
    if (!drops_identity(version)) continue;
    for (auto layer : layers_of(graph, "Identity")) drop_identity(graph, layer);
  }
  return prepared;
}

std::string to_text(const pugi::xml_document& xml) {
  struct TextWriter : pugi::xml_writer {
    std::string text;
    void write(const void* data, std::size_t size) override {
      text.append(static_cast<const char*>(data), size);
    }
  };
  TextWriter writer;
  xml.save(writer, "", pugi::format_raw, pugi::encoding_utf8);
  writer.text += '\n';
  return std::move(writer.text);
}

}  // namespace npu::ir

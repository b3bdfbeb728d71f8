#include "document.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <npucore/error.hpp>

#include "base/text.hpp"

#include "layer.hpp"

namespace npu::ir {
namespace {

std::size_t line_of(std::span<const std::byte> text, std::ptrdiff_t offset) {
  const auto end = std::min<std::size_t>(text.size(), static_cast<std::size_t>(offset));
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), std::byte{'\n'}));
}

std::optional<std::uint64_t> number(pugi::xml_node node, const char* attribute) {
  return parse_unsigned(node.attribute(attribute).value());
}

bool has_port(const std::vector<pugi::xml_node>& ports, std::uint64_t id) {
  return std::any_of(ports.begin(), ports.end(),
                     [id](pugi::xml_node port) { return number(port, "id") == id; });
}

std::string describe_edge(pugi::xml_node edge) {
  return base::text("edge from layer ", edge.attribute("from-layer").value(), " port ",
                    edge.attribute("from-port").value(), " to layer ",
                    edge.attribute("to-layer").value(), " port ",
                    edge.attribute("to-port").value());
}

/// Whether elements lie deeper than in any model: one inside a loop's body is six below the net,
/// and loops in loops stay far from the limit. pugixml takes out a tree by recursion.
bool is_too_deep(const pugi::xml_document& xml) {
  constexpr int kMostDepth = 256;
  struct Walker : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node& /*node*/) override { return depth() < kMostDepth; }
  };
  Walker walker;
  return !pugi::xml_node(xml).traverse(walker);
}

}  // namespace

void Document::fail(const std::string& reason) const {
  throw Error(ErrorCode::kInvalidArgument,
              base::text(base::quoted(file_), " is not a readable OpenVINO IR: ", reason));
}

Document Document::parse(std::span<const std::byte> text, const std::string& file) {
  Document document(file);
  const auto result = document.xml_.load_buffer(text.data(), text.size());
  if (!result) {
    document.fail(base::text("XML error in line ", line_of(text, result.offset), " (byte ",
                             result.offset, "): ", result.description()));
  }
  if (is_too_deep(document.xml_)) {
    document.fail("its elements are nested more than 256 deep");
  }
  document.read_root();
  document.index_layers();
  document.index_edges();
  document.check_connected();
  document.check_acyclic();
  return document;
}

Document::Document(const Document& other) : file_(other.file_) {
  xml_.reset(other.xml_);
  read_root();
  index_layers();
  index_edges();
}

pugi::xml_node Document::net() const {
  return xml_.child("net");
}

void Document::read_root() {
  if (!net()) {
    fail(base::text("its root element is <", xml_.document_element().name(), ">, not <net>"));
  }
  const auto version = number(net(), "version");
  if (version != 10U && version != 11U) {
    fail(base::text("its version is ", base::quoted(net().attribute("version").value()),
                    ", but only 10 and 11 can be read: convert the model with a current OpenVINO"));
  }
  version_ = static_cast<unsigned>(*version);
  if (!net().child("layers")) {
    fail("it has no <layers>");
  }
}

void Document::index_layers() {
  for (auto layer : net().child("layers").children("layer")) {
    const auto id = number(layer, "id");
    if (!id || *id >= UINT32_MAX) {
      fail(base::text("layer ", base::quoted(layer_name(layer)), " has no usable id (",
                      base::quoted(layer.attribute("id").value()), ")"));
    }
    if (layer_type(layer).empty()) {
      fail(base::text("layer ", *id, " has no type"));
    }
    if (const auto [first, added] = layers_.emplace(*id, layer); !added) {
      fail(base::text("the layer id ", *id, " is used twice: ", describe_layer(first->second),
                      " and ", describe_layer(layer)));
    }
    next_id_ = std::max(next_id_, *id + 1);
    std::set<std::uint64_t> used;
    for (const auto& ports : {input_ports(layer), output_ports(layer)}) {
      for (auto port : ports) {
        const auto port_id = number(port, "id");
        if (!port_id) {
          fail(base::text("a port of ", describe_layer(layer), " has no usable id"));
        }
        if (!used.insert(*port_id).second) {
          fail(base::text(describe_layer(layer), " has port ", *port_id, " twice"));
        }
      }
    }
  }
  if (layers_.empty()) {
    fail("it has no layers");
  }
}

void Document::index_edge(pugi::xml_node edge) {
  const auto from_layer = number(edge, "from-layer"), from_port = number(edge, "from-port");
  const auto to_layer = number(edge, "to-layer"), to_port = number(edge, "to-port");
  if (!from_layer || !from_port || !to_layer || !to_port) {
    fail(base::text(describe_edge(edge), ": a number is missing"));
  }
  for (const auto id : {*from_layer, *to_layer}) {
    if (!layers_.contains(id)) {
      fail(base::text(describe_edge(edge), ": there is no layer ", id));
    }
  }
  if (!has_port(output_ports(layer(*from_layer)), *from_port)) {
    fail(base::text(describe_edge(edge), ": ", describe_layer(layer(*from_layer)),
                    " has no output port ", *from_port));
  }
  if (!has_port(input_ports(layer(*to_layer)), *to_port)) {
    fail(base::text(describe_edge(edge), ": ", describe_layer(layer(*to_layer)),
                    " has no input port ", *to_port));
  }
  if (!producers_.emplace(PortRef{*to_layer, *to_port}, PortRef{*from_layer, *from_port}).second) {
    fail(base::text(describe_edge(edge), ": that input has another edge already"));
  }
}

void Document::index_edges() {
  for (auto edge : net().child("edges").children("edge")) index_edge(edge);
}

void Document::check_connected() const {
  for (auto layer : layers()) {
    for (auto port : input_ports(layer)) {
      const auto id = number(port, "id").value_or(0);
      if (!producer({layer_id(layer), id})) {
        fail(base::text("input port ", id, " of ", describe_layer(layer), " has no edge"));
      }
    }
  }
}

void Document::check_acyclic() const {
  std::unordered_map<LayerId, std::vector<LayerId>> next;
  std::unordered_map<LayerId, std::size_t> waits_for;
  for (const auto& [input, output] : producers_) {
    next[output.layer].push_back(input.layer);
    ++waits_for[input.layer];
  }
  std::vector<LayerId> ready;
  for (const auto& [id, layer] : layers_) {
    if (!waits_for.contains(id)) {
      ready.push_back(id);
    }
  }
  while (!ready.empty()) {
    const auto id = ready.back();
    ready.pop_back();
    for (const auto follower : next[id]) {
      if (--waits_for[follower] > 0) continue;
      waits_for.erase(follower);
      ready.push_back(follower);
    }
  }
  if (!waits_for.empty()) {
    fail(base::text("its layers form a cycle, through ",
                    describe_layer(layer(waits_for.begin()->first))));
  }
}

std::vector<pugi::xml_node> Document::layers() const {
  std::vector<pugi::xml_node> found;
  for (auto layer : net().child("layers").children("layer")) found.push_back(layer);
  return found;
}

std::vector<pugi::xml_node> Document::layers_of_type(const std::string& type) const {
  std::vector<pugi::xml_node> found;
  for (auto layer : net().child("layers").children("layer")) {
    if (layer_type(layer) == type) {
      found.push_back(layer);
    }
  }
  return found;
}

pugi::xml_node Document::layer(LayerId id) const {
  const auto found = layers_.find(id);
  return found == layers_.end() ? pugi::xml_node() : found->second;
}

pugi::xml_node Document::output_port(PortRef output) const {
  for (auto port : output_ports(layer(output.layer))) {
    if (number(port, "id") == output.port) return port;
  }
  return {};
}

std::optional<PortRef> Document::producer(PortRef input) const {
  const auto found = producers_.find(input);
  if (found == producers_.end()) return {};
  return found->second;
}

pugi::xml_node Document::insert_layer(pugi::xml_node place, const std::string& name,
                                      const std::string& type, const std::string& opset) {
  auto layer = net().child("layers").insert_child_before("layer", place);
  layer.append_attribute("id").set_value(std::to_string(next_id_).c_str());
  layer.append_attribute("name").set_value(name.c_str());
  layer.append_attribute("type").set_value(type.c_str());
  layer.append_attribute("version").set_value(opset.c_str());
  layers_.emplace(next_id_++, layer);
  return layer;
}

void Document::connect(PortRef from, PortRef to) {
  auto edges = net().child("edges");
  if (!edges) {
    edges = net().insert_child_after("edges", net().child("layers"));
  }
  auto edge = edges.append_child("edge");
  edge.append_attribute("from-layer").set_value(std::to_string(from.layer).c_str());
  edge.append_attribute("from-port").set_value(std::to_string(from.port).c_str());
  edge.append_attribute("to-layer").set_value(std::to_string(to.layer).c_str());
  edge.append_attribute("to-port").set_value(std::to_string(to.port).c_str());
  producers_.emplace(to, from);
}

void Document::move_consumers(PortRef from, PortRef to) {
  for (auto edge : net().child("edges").children("edge")) {
    if (number(edge, "from-layer") != from.layer || number(edge, "from-port") != from.port) {
      continue;
    }
    edge.attribute("from-layer").set_value(std::to_string(to.layer).c_str());
    edge.attribute("from-port").set_value(std::to_string(to.port).c_str());
  }
  for (auto& [input, output] : producers_) {
    if (output == from) {
      output = to;
    }
  }
}

void Document::remove_layer(pugi::xml_node layer) {
  layers_.erase(layer_id(layer));
  net().child("layers").remove_child(layer);
}

}  // namespace npu::ir

#include "document.hpp"

#include <algorithm>
#include <new>

#include <npucore/error.hpp>

#include "base/text.hpp"

#include "file_kind.hpp"
#include "layer.hpp"
#include "limits.hpp"
#include "xml.hpp"

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

std::string describe_edge(pugi::xml_node edge) {
  return base::text("edge from layer ", edge.attribute("from-layer").value(), " port ",
                    edge.attribute("from-port").value(), " to layer ",
                    edge.attribute("to-layer").value(), " port ",
                    edge.attribute("to-port").value());
}

void remove_edges(pugi::xml_node net, const auto& which) {
  auto edges = net.child("edges");
  for (auto edge = edges.child("edge"); edge;) {
    const auto next = edge.next_sibling("edge");
    if (which(edge)) {
      edges.remove_child(edge);
    }
    edge = next;
  }
}

/// Said of what is no text in XML; empty: it may be.
std::string first_byte_fault(std::span<const std::byte> text) {
  const std::string_view blanks("\xef\xbb\xbf \t\r\n");
  for (const std::byte byte : text) {
    if (blanks.find(static_cast<char>(byte)) != std::string_view::npos) continue;
    if (byte == std::byte{'<'}) return {};
    return "it is no XML; give the .xml that ovc or an export to OpenVINO has written";
  }
  return "it is empty; copy or export it again";
}

}  // namespace

std::string Document::title() const {
  return title_of(file_);
}

void Document::fail(const std::string& reason) const {
  throw Error(ErrorCode::kInvalidArgument,
              base::text(title(), " is not a readable OpenVINO IR: ", reason));
}

Document Document::parse(std::span<const std::byte> text, const std::string& file) {
  Document document(file);
  refuse_other_kinds(text, file);  // first: other kinds have their weights inside
  if (text.size() > Limits::kBytes) {
    document.fail(base::text("it has ", text.size(), " bytes, more than ", Limits::kBytes));
  }
  if (const auto fault = first_byte_fault(text); !fault.empty()) {
    document.fail(fault);
  }
  const auto result = document.xml_.load_buffer(text.data(), text.size());
  if (result.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!result) {
    document.fail(base::text("XML error in line ", line_of(text, result.offset), " (byte ",
                             result.offset, "): ", result.description()));
  }
  if (const auto exceeded = exceeded_limit(document.xml_); !exceeded.empty()) {
    document.fail(exceeded);
  }
  document.read_root();
  document.index_layers();
  document.index_edges();
  document.check_connected();
  document.check_acyclic();
  return document;
}

Document::Document(const Document& other) : file_(other.file_) {
  for (auto node : other.xml_.children()) add_copy(xml_, node);
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
    index_ports(*id, layer);
  }
  if (layers_.empty()) {
    fail("it has no layers");
  }
}

void Document::index_ports(LayerId id, pugi::xml_node layer) {
  const auto usable_id = [&](pugi::xml_node port) {
    const auto port_id = number(port, "id");
    if (!port_id) {
      fail(base::text("a port of ", describe_layer(layer), " has no usable id"));
    }
    return *port_id;
  };
  const auto twice = [&](std::uint64_t port_id) {
    fail(base::text(describe_layer(layer), " has port ", port_id, " twice"));
  };
  for (auto port : input_ports(layer)) {
    const auto port_id = usable_id(port);
    if (!inputs_.insert({id, port_id}).second) {
      twice(port_id);
    }
  }
  const auto outputs = output_ports(layer);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const PortRef port{id, usable_id(outputs[i])};
    const OutputPort output{outputs[i], i, outputs.size() == 1};
    if (inputs_.contains(port) || !outputs_.emplace(port, output).second) {
      twice(port.port);
    }
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
  if (!outputs_.contains({*from_layer, *from_port})) {
    fail(base::text(describe_edge(edge), ": ", describe_layer(layer(*from_layer)),
                    " has no output port ", *from_port));
  }
  if (!inputs_.contains({*to_layer, *to_port})) {
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
  for (const auto& input : inputs_) {
    if (!producer(input)) {
      fail(base::text("input port ", input.port, " of ", describe_layer(layer(input.layer)),
                      " has no edge"));
    }
  }
}

std::unordered_map<LayerId, std::vector<LayerId>> Document::followers() const {
  std::unordered_map<LayerId, std::vector<LayerId>> next;
  for (const auto& [input, output] : producers_) next[output.layer].push_back(input.layer);
  return next;
}

void Document::check_acyclic() const {
  auto next = followers();
  std::unordered_map<LayerId, std::size_t> waits_for;
  for (const auto& [input, output] : producers_) ++waits_for[input.layer];
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

Document::OutputPort Document::output_port(PortRef output) const {
  if (const auto found = outputs_.find(output); found != outputs_.end()) return found->second;
  // An inserted layer has few ports.
  const auto ports = output_ports(layer(output.layer));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (number(ports[i], "id") == output.port) return {ports[i], i, ports.size() == 1};
  }
  return {};
}

std::optional<PortRef> Document::producer(PortRef input) const {
  const auto found = producers_.find(input);
  if (found == producers_.end()) return {};
  return found->second;
}

std::optional<PortRef> Document::producer(pugi::xml_node layer, pugi::xml_node input) const {
  return producer({layer_id(layer), input.attribute("id").as_ullong()});
}

pugi::xml_node Document::insert_layer(pugi::xml_node place, const std::string& name,
                                      const std::string& type, const std::string& opset) {
  auto layers = net().child("layers");
  auto layer = place ? made(layers.insert_child_before("layer", place)) : add(layers, "layer");
  set(layer, "id", next_id_);
  set(layer, "name", name);
  set(layer, "type", type);
  set(layer, "version", opset);
  layers_.emplace(next_id_++, layer);
  return layer;
}

void Document::connect(PortRef from, PortRef to) {
  auto edges = net().child("edges");
  if (!edges) {
    edges = made(net().insert_child_after("edges", net().child("layers")));
  }
  auto edge = add(edges, "edge");
  set(edge, "from-layer", from.layer);
  set(edge, "from-port", from.port);
  set(edge, "to-layer", to.layer);
  set(edge, "to-port", to.port);
  producers_.emplace(to, from);
}

void Document::move_consumers(PortRef from, PortRef to) {
  for (auto edge : net().child("edges").children("edge")) {
    if (number(edge, "from-layer") != from.layer || number(edge, "from-port") != from.port) {
      continue;
    }
    set(edge, "from-layer", to.layer);
    set(edge, "from-port", to.port);
  }
  for (auto& [input, output] : producers_) {
    if (output == from) {
      output = to;
    }
  }
}

void Document::disconnect(PortRef input) {
  producers_.erase(input);
  remove_edges(net(), [&](pugi::xml_node edge) {
    return number(edge, "to-layer") == input.layer && number(edge, "to-port") == input.port;
  });
}

void Document::remove_unused() {
  std::unordered_map<LayerId, std::vector<LayerId>> feeds;
  for (const auto& [input, output] : producers_) feeds[input.layer].push_back(output.layer);
  std::set<LayerId> used;
  std::vector<LayerId> ready;
  for (auto layer : layers()) {
    const auto type = layer_type(layer);
    if (type == "Parameter" || type == "Result" || type == "Assign") {
      ready.push_back(layer_id(layer));
    }
  }
  while (!ready.empty()) {
    const auto id = ready.back();
    ready.pop_back();
    if (!used.insert(id).second) continue;
    const auto& more = feeds[id];
    ready.insert(ready.end(), more.begin(), more.end());
  }
  remove_all_but(used);
}

void Document::remove_all_but(const std::set<LayerId>& used) {
  remove_edges(net(), [&](pugi::xml_node edge) {
    const auto to = number(edge, "to-layer");
    return !to || !used.contains(*to);
  });
  std::erase_if(producers_, [&](const auto& pair) { return !used.contains(pair.first.layer); });
  for (auto layer : layers()) {
    if (!used.contains(layer_id(layer))) {
      remove_layer(layer);
    }
  }
}

void Document::remove_layer(pugi::xml_node layer) {
  const auto id = layer_id(layer);
  layers_.erase(id);
  outputs_.erase(outputs_.lower_bound({id, 0}), outputs_.upper_bound({id, UINT64_MAX}));
  inputs_.erase(inputs_.lower_bound({id, 0}), inputs_.upper_bound({id, UINT64_MAX}));
  net().child("layers").remove_child(layer);
}

}  // namespace npu::ir

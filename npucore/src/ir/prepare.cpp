#include "prepare.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "ir/graph/bounds.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/identities.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/xml.hpp"

namespace npu::ir {
namespace {

void set_flag(pugi::xml_node rt_info, const char* name) {
  auto flag = rt_info.child(name);
  if (!flag) {
    flag = add(rt_info, name);
  }
  flag.remove_attributes();
  set(flag, "value", "YES");
}

/// Compilers from 5.9 on know arguments by their index, if the model says so.
bool knows_indices(CompilerVersion version) {
  return version.major > 5 || (version.major == 5 && version.minor >= 9);
}

void set_flags(pugi::xml_node net, CompilerVersion version) {
  auto rt_info = net.child("rt_info");
  if (!rt_info) {
    rt_info = add(net, "rt_info");
  }
  set_flag(rt_info, "is_new_api");
  if (knows_indices(version)) {
    set_flag(rt_info, "use_indices_for_io_metadata");
  }
}

/// The outermost graph and all bodies, inner ones first: every element with layers of its own.
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
  // Inner bodies first: dropping an Identity that has a body removes that body.
  std::reverse(finder.found.begin(), finder.found.end());
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

std::uint64_t unused_id(pugi::xml_node graph) {
  std::uint64_t id = 0;
  for (auto layer : graph.child("layers").children("layer")) id = std::max(id, layer_id(layer) + 1);
  return id;
}

/// A constant of `count` ones in front of `place`, with output port 0.
void add_ones(pugi::xml_node place, std::uint64_t id, Weights& weights, bool floating,
              std::uint64_t count) {
  const std::vector<float> floats(count, 1);
  const std::vector<std::int64_t> integers(count, 1);
  const auto bytes =
      floating ? std::as_bytes(std::span(floats)) : std::as_bytes(std::span(integers));
  auto layer = made(place.parent().insert_child_before("layer", place));
  set(layer, "id", id);
  set(layer, "name", layer_name(place) + (floating ? "/scales" : "/sizes"));
  set(layer, "type", "Const");
  set(layer, "version", "opset1");
  auto data = add(layer, "data");
  set(data, "element_type", floating ? "f32" : "i64");
  set(data, "shape", count);
  set(data, "offset", weights.append(bytes));
  set(data, "size", bytes.size());
  auto port = add(add(layer, "output"), "port");
  set(port, "id", "0");
  set(port, "precision", floating ? "FP32" : "I64");
  set_text(add(port, "dim"), std::to_string(count));
}

std::string unused_port(pugi::xml_node layer) {
  std::uint64_t id = 0;
  for (const auto& ports : {input_ports(layer), output_ports(layer)}) {
    for (auto port : ports) id = std::max<std::uint64_t>(id, port.attribute("id").as_ullong() + 1);
  }
  return std::to_string(id);
}

void connect(pugi::xml_node graph, std::uint64_t constant, pugi::xml_node layer,
             const std::string& port) {
  auto edges = graph.child("edges");
  auto edge = add(edges ? edges : add(graph, "edges"), "edge");
  set(edge, "from-layer", constant);
  set(edge, "from-port", "0");
  set(edge, "to-layer", layer.attribute("id").value());
  set(edge, "to-port", port);
}

/// Interpolate-4 has sizes and scales, and shape_calculation_mode names the one that counts;
/// Interpolate-11 has only that one. Fills the other with ones, in a constant of id `constant`.
void downgrade_interpolate(pugi::xml_node graph, pugi::xml_node layer, std::uint64_t constant,
                           Weights& weights) {
  constexpr std::int64_t kMostAxes = 64;
  const auto data = layer.child("data");
  const std::string_view mode = data.attribute("mode").value();
  const auto ports = input_ports(layer);
  if (mode.ends_with("_pillow") || ports.size() < 2) return;
  const auto shape = port_shape(ports[1]);
  if (shape.size() != 1 || shape[0] < 1) return;
  if (shape[0] > kMostAxes) {
    throw Error(ErrorCode::kInvalidArgument,
                base::text(describe_layer(layer), " says that it resizes ", shape[0],
                           " axes, more than ", kMostAxes, ": convert the model again"));
  }
  const bool by_sizes =
      std::string_view(data.attribute("shape_calculation_mode").value()) == "sizes";
  const auto count = static_cast<std::uint64_t>(shape[0]);
  add_ones(layer, constant, weights, by_sizes, count);
  const auto id = unused_port(layer);
  auto inputs = layer.child("input");
  auto port = made(by_sizes ? inputs.insert_child_after("port", ports[1])
                            : inputs.insert_child_before("port", ports[1]));
  set(port, "id", id);
  set(port, "precision", by_sizes ? "FP32" : "I64");
  set_text(add(port, "dim"), std::to_string(count));
  connect(graph, constant, layer, id);
  set(layer, "version", "opset4");
}

void downgrade_interpolates(pugi::xml_node graph, Weights& weights) {
  auto id = unused_id(graph);
  for (auto layer : layers_of(graph, "Interpolate")) {
    if (std::string_view(layer.attribute("version").value()) == "opset11") {
      downgrade_interpolate(graph, layer, id++, weights);
    }
  }
}

/// True if a convolution's filter has one element for each pair of channels: SAME then pads
/// nothing, whatever the picture's size.
bool has_filter_of_single_elements(pugi::xml_node layer) {
  const auto ports = input_ports(layer);
  if (ports.size() != 2) return false;
  const std::size_t first = layer_type(layer) == "GroupConvolution" ? 3 : 2;
  const auto shape = port_shape(ports[1]);
  return shape.size() > first && std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(first),
                                             shape.end(), [](auto size) { return size == 1; });
}

/// Writes explicit pads: Intel's compiler takes SAME_UPPER for such filters with stride 1 only.
std::size_t write_pads(pugi::xml_node graph) {
  std::size_t written = 0;
  for (const char* type : {"Convolution", "GroupConvolution"}) {
    for (auto layer : layers_of(graph, type)) {
      auto data = layer.child("data");
      const std::string_view pads = data.attribute("auto_pad").value();
      if (!pads.starts_with("same") || !has_filter_of_single_elements(layer)) continue;
      const std::string_view strides = data.attribute("strides").value();
      const auto axes =
          static_cast<std::size_t>(std::count(strides.begin(), strides.end(), ',')) + 1;
      const std::vector<int> none(axes);
      for (const char* name : {"auto_pad", "pads_begin", "pads_end"}) data.remove_attribute(name);
      set(data, "auto_pad", "explicit");
      set(data, "pads_begin", base::join(none, ", "));
      set(data, "pads_end", base::join(none, ", "));
      ++written;
    }
  }
  return written;
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
  auto net = add_copy(prepared.xml, model.document.net());
  set_flags(net, version);
  use_upper_bounds(net);
  for (auto constant : all_constants(net)) remove_addresses(constant);
  const bool old_interpolate = version.newest_opset > 0 && version.newest_opset < kInterpolateOpset;
  std::size_t pads_written = 0;
  for (auto graph : graphs(net)) {
    pads_written += write_pads(graph);
    if (old_interpolate) {
      downgrade_interpolates(graph, prepared.weights);
    }
    if (drops_identity(version)) {
      drop_identities(graph);
    }
  }
  if (pads_written > 0) {
    base::log(LogLevel::kInfo, base::text("auto_pad became explicit pads of 0 in ", pads_written,
                                          pads_written == 1 ? " convolution" : " convolutions",
                                          ", because NPU compilers refuse some of it"));
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

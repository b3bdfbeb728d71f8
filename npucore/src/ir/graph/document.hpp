#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <npucore/types.hpp>

namespace npu::ir {

using LayerId = std::uint64_t;

/// One port of one layer.
struct PortRef {
  LayerId layer = 0;
  std::uint64_t port = 0;
  auto operator<=>(const PortRef&) const = default;
};

/// The XML half of an IR with an index of its layers and edges. Only the outermost graph is
/// indexed: bodies of loops and conditions stay as they are.
class Document {
 public:
  /// Throws Error(kInvalidArgument) that names `file` and the line, layer or edge at fault. An
  /// empty `file`: the text is in memory.
  static Document parse(std::span<const std::byte> text, const std::string& file);
  Document(const Document& other);
  Document(Document&&) noexcept = default;
  Document& operator=(Document&&) noexcept = default;
  ~Document() = default;

  /// The file's name in quotes, or "the model in memory", for messages.
  std::string title() const;
  /// Throws Error(kInvalidArgument): the file is no IR, and the reason.
  [[noreturn]] void fail(const std::string& reason) const;
  unsigned version() const { return version_; }
  pugi::xml_node net() const;
  /// The layers in the order of the file, which is the order of the model's inputs and outputs.
  std::vector<pugi::xml_node> layers() const;
  std::vector<pugi::xml_node> layers_of_type(const std::string& type) const;
  pugi::xml_node layer(LayerId id) const;
  struct OutputPort {
    pugi::xml_node node;    ///< empty if there is no such port
    std::size_t index = 0;  ///< among the layer's outputs
    bool is_only = true;    ///< the layer has no other
  };
  OutputPort output_port(PortRef output) const;
  /// The output that feeds an input port; nothing for a port without an edge.
  std::optional<PortRef> producer(PortRef input) const;
  /// The output that feeds an input port of a layer.
  std::optional<PortRef> producer(pugi::xml_node layer, pugi::xml_node input) const;
  /// The layers that each layer feeds, once for each edge.
  std::unordered_map<LayerId, std::vector<LayerId>> followers() const;

  /// Adds an empty layer in front of `place`, or behind all, with an id of its own.
  pugi::xml_node insert_layer(pugi::xml_node place, const std::string& name,
                              const std::string& type, const std::string& opset);
  void connect(PortRef from, PortRef to);
  /// Makes all edges from `from` start at `to` instead.
  void move_consumers(PortRef from, PortRef to);
  /// Removes the edge into an input port.
  void disconnect(PortRef input);
  /// Removes a layer that no edge touches any more.
  void remove_layer(pugi::xml_node layer);
  /// Removes all layers that no output and no state of the model needs, except Parameters.
  void remove_unused();

 private:
  explicit Document(std::string file) : file_(std::move(file)) {}
  void read_root();
  void index_layers();
  void index_ports(LayerId id, pugi::xml_node layer);
  void index_edge(pugi::xml_node edge);
  void index_edges();
  void check_connected() const;
  void check_acyclic() const;
  void remove_all_but(const std::set<LayerId>& used);

  std::string file_;
  pugi::xml_document xml_;
  unsigned version_ = 0;
  LayerId next_id_ = 0;
  std::unordered_map<LayerId, pugi::xml_node> layers_;
  std::map<PortRef, OutputPort> outputs_;  ///< of the layers that the file had
  std::set<PortRef> inputs_;
  std::map<PortRef, PortRef> producers_;  ///< input -> output
};

}  // namespace npu::ir

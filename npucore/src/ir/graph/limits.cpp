#include "limits.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "base/text.hpp"

#include "layer.hpp"

namespace npu::ir {
namespace {

using base::text;

bool is_one_of(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Most bytes of an attribute. Short for those that are read for each layer that looks at their
/// element, or copied to others.
std::size_t most_bytes_of(std::string_view element, std::string_view attribute) {
  if (attribute == "name" || attribute == "names") return Limits::kNamesBytes;
  const bool is_in_graph = is_one_of({"layer", "data", "port", "edge"}, element);
  const bool is_word = is_one_of({"id", "type", "precision", "element_type", "destination_type",
                                  "from-layer", "from-port", "to-layer", "to-port"},
                                 attribute);
  return is_in_graph && is_word ? Limits::kNameBytes : Limits::kBytes;
}

bool is_part_of(pugi::xml_node node, std::string_view element) {
  return node.parent().name() == element;
}

std::size_t others_than_ports(pugi::xml_node side) {
  const auto all = side.children();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](pugi::xml_node part) {
    return std::string_view(part.name()) != "port";
  }));
}

std::size_t most_children_of(pugi::xml_node node, std::string_view name) {
  if (name == "layer" && is_part_of(node, "layers")) return Limits::kParts;
  if (name == "port") return Limits::kRank + Limits::kParts;
  return Limits::kChildren;
}

struct Counter : pugi::xml_tree_walker {
  std::string exceeded;
  std::size_t layers = 0;

  bool for_each(pugi::xml_node& node) override {
    const std::string_view name = node.name();
    if (depth() >= Limits::kDepth) {
      exceeded = text("its elements are nested more than ", Limits::kDepth, " deep");
    } else if (name == "layer" && ++layers > Limits::kLayers) {
      exceeded = text("it has more than ", Limits::kLayers, " layers");
    } else {
      exceeded = too_wide(node, name);
    }
    return exceeded.empty();
  }

 private:
  static std::string too_wide(pugi::xml_node node, std::string_view name) {
    if (more_than(Limits::kAttributes, node.attributes())) {
      return text("the element <", name, "> has more than ", Limits::kAttributes, " attributes");
    }
    if (name.size() > Limits::kNameBytes) {
      return text("the name of an element has more than ", Limits::kNameBytes, " bytes");
    }
    if (auto what = too_long(node, name); !what.empty()) return what;
    if (name == "layers" || name == "edges") return {};
    return too_many(node, name);
  }

  static std::string too_many(pugi::xml_node node, std::string_view name) {
    const auto children = node.children();
    if (name == "input" || name == "output") {
      if (more_than(Limits::kPorts, children)) {
        return text(describe_layer(node.parent()), " has more than ", Limits::kPorts, ' ', name,
                    " ports");
      }
      if (is_part_of(node, "layer") && others_than_ports(node) > Limits::kParts) {
        return text(describe_layer(node.parent()), " has more than ", Limits::kParts,
                    " elements among its ", name, " ports that are none");
      }
    }
    if (name == "port" && more_than(Limits::kRank, node.children("dim"))) {
      return too_many_dims(node);
    }
    if (const auto most = most_children_of(node, name); more_than(most, children)) {
      return text("the element <", name, "> has more than ", most, " elements in it");
    }
    return {};
  }

  static std::string too_long(pugi::xml_node node, std::string_view name) {
    for (const auto attribute : node.attributes()) {
      const std::string_view what = attribute.name(), value = attribute.value();
      if (const auto most = most_bytes_of(name, what); value.size() > most) {
        return text("the attribute ", what, " of <", name, "> has more than ", most, " bytes");
      }
      if (what == "shape" && commas(value) >= Limits::kRank) return too_many_dims(node);
    }
    if (name == "dim" && std::string_view(node.child_value()).size() > Limits::kNameBytes) {
      return text("the text of <dim> has more than ", Limits::kNameBytes, " bytes");
    }
    return {};
  }

  static std::size_t commas(std::string_view text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
  }

  /// `node` is the <data> of a layer, or a <port> two below it.
  static std::string too_many_dims(pugi::xml_node node) {
    while (node.parent() && std::string_view(node.name()) != "layer") node = node.parent();
    return text(describe_layer(node), " has a tensor of more than ", Limits::kRank, " dimensions");
  }

  template <class Range>
  static bool more_than(std::size_t most, const Range& range) {
    return static_cast<std::size_t>(std::distance(range.begin(), range.end())) > most;
  }
};

}  // namespace

std::string exceeded_limit(const pugi::xml_document& xml) {
  Counter counter;
  pugi::xml_node(xml).traverse(counter);
  return counter.exceeded;
}

}  // namespace npu::ir

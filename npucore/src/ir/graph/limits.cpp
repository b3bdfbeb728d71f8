#include "limits.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.hpp"

#include "layer.hpp"

namespace npu::ir {
namespace {

using base::text;

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
    const auto attributes = node.attributes();
    const auto children = node.children();
    if (more_than(Limits::kAttributes, attributes)) {
      return text("the element <", name, "> has more than ", Limits::kAttributes, " attributes");
    }
    if (name.size() > Limits::kNameBytes) {
      return text("the name of an element has more than ", Limits::kNameBytes, " bytes");
    }
    for (const auto attribute : attributes) {
      const std::string_view what = attribute.name();
      if ((what == "name" || what == "names") &&
          std::string_view(attribute.value()).size() > Limits::kNamesBytes) {
        return text("the attribute ", what, " of <", name, "> has more than ", Limits::kNamesBytes,
                    " bytes");
      }
      if (what == "shape" && commas(attribute.value()) >= Limits::kRank) return too_many_dims(node);
    }
    if (name == "layers" || name == "edges") return {};
    if ((name == "input" || name == "output") && more_than(Limits::kPorts, children)) {
      return text(describe_layer(node.parent()), " has more than ", Limits::kPorts, ' ', name,
                  " ports");
    }
    if (name == "port" && more_than(Limits::kRank, node.children("dim"))) {
      return too_many_dims(node);
    }
    if (more_than(Limits::kChildren, children)) {
      return text("the element <", name, "> has more than ", Limits::kChildren, " elements in it");
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

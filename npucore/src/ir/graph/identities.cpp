#include "identities.hpp"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "layer.hpp"
#include "xml.hpp"

namespace npu::ir {
namespace {

/// The output port that an Identity stands for, of a layer that stays.
struct Origin {
  std::string layer, port;
  pugi::xml_node node;  ///< empty: there is none, so the Identity stays
};

/// Removes Identity layers. Each step visits the graph once: a hostile one may be all Identity
/// layers.
class Identities {
 public:
  explicit Identities(pugi::xml_node graph) : graph_(graph) {
    for (auto layer : graph.child("layers").children("layer")) {
      const std::string id = layer.attribute("id").value();
      layers_.emplace(id, layer);
      if (layer_type(layer) == "Identity") {
        identities_.emplace_back(id, layer);
        into_.emplace(id, pugi::xml_node());
      }
    }
    for (auto edge : graph.child("edges").children("edge")) {
      const auto fed = into_.find(edge.attribute("to-layer").value());
      if (fed != into_.end()) {
        fed->second = edge;
      }
    }
  }

  void drop() {
    for (const auto& [id, layer] : identities_) find_origins(id);
    hand_names_on();
    move_edges();
    auto layers = graph_.child("layers");
    for (const auto& [id, layer] : identities_) {
      if (origins_[id].node) {
        layers.remove_child(layer);
      }
    }
  }

 private:
  using Ports = std::unordered_map<std::string, pugi::xml_node>;

  /// A layer's outputs by their ids: thousands of Identities may look at one with thousands.
  const Ports& outputs_of(const std::string& id, pugi::xml_node layer) {
    const auto [ports, added] = outputs_.try_emplace(id);
    if (!added) return ports->second;
    for (auto port : output_ports(layer)) ports->second.emplace(port.attribute("id").value(), port);
    return ports->second;
  }

  /// Finds the origin of this Identity and of those before it. Bodies may have cycles.
  void find_origins(const std::string& last) {
    std::vector<std::string> waiting;
    std::set<std::string> seen;
    std::string id = last;
    while (into_.contains(id) && !origins_.contains(id) && seen.insert(id).second) {
      waiting.push_back(id);
      id = into_[id].attribute("from-layer").value();
    }
    for (; !waiting.empty(); waiting.pop_back()) {
      origins_[waiting.back()] = origin_of(into_[waiting.back()]);
    }
  }

  /// The origin of this edge, through Identities whose origin is known already.
  Origin origin_of(pugi::xml_node edge) {
    const std::string id = edge.attribute("from-layer").value();
    const auto known = origins_.find(id);
    if (known != origins_.end() && known->second.node) return known->second;
    const auto layer = layers_.find(id);
    // An Identity that still waits is part of a cycle.
    if (layer == layers_.end() || (into_.contains(id) && known == origins_.end())) return {};
    const std::string port = edge.attribute("from-port").value();
    const auto& outputs = outputs_of(id, layer->second);
    const auto output = outputs.find(port);
    return {id, port, output == outputs.end() ? pugi::xml_node() : output->second};
  }

  void hand_names_on() {
    std::map<pugi::xml_node, std::vector<std::string>> names;
    for (const auto& [id, layer] : identities_) {
      const auto& origin = origins_[id];
      auto more = tensor_names(layer.child("output").child("port"));
      if (!origin.node || more.empty()) continue;
      auto& all = names.try_emplace(origin.node, tensor_names(origin.node)).first->second;
      all.insert(all.end(), more.begin(), more.end());
    }
    for (const auto& [port, all] : names) {
      auto named = port;
      set(named, "names", join_tensor_names(each_once(all)));
    }
  }

  void move_edges() {
    auto edges = graph_.child("edges");
    for (auto edge = edges.child("edge"); edge;) {
      const auto next = edge.next_sibling("edge");
      const auto to = origins_.find(edge.attribute("to-layer").value());
      const auto from = origins_.find(edge.attribute("from-layer").value());
      if (to != origins_.end() && to->second.node) {
        edges.remove_child(edge);
      } else if (from != origins_.end() && from->second.node) {
        set(edge, "from-layer", from->second.layer);
        set(edge, "from-port", from->second.port);
      }
      edge = next;
    }
  }

  pugi::xml_node graph_;
  std::unordered_map<std::string, pugi::xml_node> layers_;
  std::vector<std::pair<std::string, pugi::xml_node>> identities_;
  std::unordered_map<std::string, pugi::xml_node> into_;  ///< Identity -> the edge that feeds it
  std::unordered_map<std::string, Origin> origins_;       ///< of Identities
  std::unordered_map<std::string, Ports> outputs_;        ///< of layers that feed Identities
};

}  // namespace

void drop_identities(pugi::xml_node graph) {
  Identities(graph).drop();
}

}  // namespace npu::ir

#include "layers.hpp"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include <npucore/error.hpp>

#include "inputs.hpp"
#include "pair.hpp"

namespace {

using npu::Layer;
using Layers = std::span<const Layer>;

std::unordered_set<std::string> names_of(const std::vector<Layer>& layers) {
  std::unordered_set<std::string> names;
  for (const auto& layer : layers) names.insert(layer.name);
  return names;
}

std::vector<std::string> names_without(const std::vector<Layer>& layers,
                                       const std::unordered_set<std::string>& others) {
  std::vector<std::string> names;
  for (const auto& layer : layers) {
    if (!others.contains(layer.name)) {
      names.push_back(layer.name);
    }
  }
  return names;
}

npu::CompiledModel compile_with(const npu::Model& model, Layers layers, const Side& side,
                                const npu::Device& device) {
  npu::Model copy = model;
  for (const auto& layer : layers) copy.add_output(layer.name);
  return compile(copy, side, device);
}

/// Finds by the layer's name alone: a tensor name may belong to several ports.
std::size_t find_named(const std::vector<npu::Port>& ports, const std::string& name) {
  const auto is_it = [&](const npu::Port& port) { return port.name == name; };
  return static_cast<std::size_t>(std::find_if(ports.begin(), ports.end(), is_it) - ports.begin());
}

/// An output of a layer in both models.
struct Compared {
  const Layer* layer;
  MatchedOutput ports;
  DifferenceMeter meter;
};

class Search {
 public:
  Search(const Arguments& arguments, const Devices& devices, std::size_t frames)
      : arguments_(arguments),
        devices_(devices),
        frames_(frames),
        tested_(read_ir(arguments.tested, arguments)),
        reference_(read_ir(arguments.reference, arguments)) {}

  LayerSearch run() {
    const auto common = common_layers();
    for (Layers left = common; !left.empty() && !found_.first;) {
      const auto next = left.first(std::min(left.size(), arguments_.layers_at_once));
      compare(next);
      left = left.subspan(next.size());
    }
    return std::move(found_);
  }

 private:
  std::vector<Layer> common_layers() {
    const auto mine = tested_.layers(), others = reference_.layers();
    const auto other_names = names_of(others);
    found_.only_tested = names_without(mine, other_names);
    found_.only_reference = names_without(others, names_of(mine));
    std::vector<Layer> common;
    for (const auto& layer : mine) {
      if (other_names.contains(layer.name)) {
        common.push_back(layer);
      }
    }
    found_.common = common.size();
    return common;
  }

  /// Compares all at once or, if the compiler cannot give them out together, each half; in their
  /// order.
  void compare(Layers layers) {
    try {
      return compare_at_once(layers);
    } catch (const npu::Error& error) {
      if (error.code() == npu::ErrorCode::kDeviceLost) throw;
    }
    if (layers.size() == 1) {
      found_.not_compared.push_back(layers.front().name);
      return;
    }
    compare(layers.first(layers.size() / 2));
    if (!found_.first) {
      compare(layers.subspan(layers.size() / 2));
    }
  }

  void compare_at_once(Layers layers) {
    Pair pair(compile_with(tested_, layers, arguments_.tested, devices_.tested),
              compile_with(reference_, layers, arguments_.reference, devices_.reference));
    auto compared = match(layers, pair);
    const InputSource inputs(pair.tested().inputs(), arguments_.inputs, arguments_.seed);
    for (std::size_t frame = 0; frame < frames_; ++frame) {
      pair.run(inputs, frame);
      for (auto& output : compared) pair.measure(output.ports, output.meter);
    }
    for (const auto& layer : layers) {
      if (found_.first) return;
      conclude(layer, pair, compared);
    }
  }

  std::vector<Compared> match(Layers layers, const Pair& pair) const {
    const auto& tested = pair.tested().outputs();
    const auto& reference = pair.reference().outputs();
    std::vector<Compared> compared;
    for (const auto& layer : layers) {
      for (const auto& output : layer.outputs) {
        const MatchedOutput ports{find_named(tested, output.name),
                                  find_named(reference, output.name)};
        if (ports.tested == tested.size() || ports.reference == reference.size()) continue;
        if (!has_same_size(tested[ports.tested], reference[ports.reference])) continue;
        compared.push_back({&layer, ports, DifferenceMeter(arguments_.tolerance)});
      }
    }
    return compared;
  }

  void conclude(const Layer& layer, const Pair& pair, const std::vector<Compared>& compared) {
    bool was_compared = false;
    for (const auto& output : compared) {
      if (output.layer != &layer) continue;
      was_compared = true;
      const auto difference = output.meter.result();
      if (difference.is_within_tolerance()) continue;
      found_.first = {layer, pair.tested().outputs()[output.ports.tested], difference};
      break;
    }
    if (was_compared) {
      ++found_.compared;
    } else {
      found_.not_compared.push_back(layer.name);
    }
  }

  const Arguments& arguments_;
  const Devices& devices_;
  std::size_t frames_;
  npu::Model tested_, reference_;
  LayerSearch found_;
};

}  // namespace

LayerSearch find_first_difference(const Arguments& arguments, const Devices& devices,
                                  std::size_t frames) {
  return Search(arguments, devices, frames).run();
}

#include "own_steps.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <npucore/types.hpp>

#include "constant.hpp"
#include "layer.hpp"

namespace npu::ir {
namespace {

constexpr std::size_t kMostChannels = 4;
constexpr std::size_t kMostSteps = 32;

/// x becomes x * gain + offset, for each channel or for all of them.
struct Affine {
  std::vector<double> gain = {1}, offset = {0};
};

/// `work` for each channel; where one side has a value for all, it counts for each.
template <class Work>
std::vector<double> each(const std::vector<double>& a, const std::vector<double>& b,
                         const Work& work) {
  std::vector<double> result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = work(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  }
  return result;
}

class Walk {
 public:
  Walk(const Document& document, const Weights& weights, pugi::xml_node parameter)
      : document_(document), weights_(weights), followers_(document.followers()), at_(parameter) {}

  OwnSteps read() {
    for (std::size_t i = 0; i < kMostSteps; ++i) {
      const pugi::xml_node next = only_follower();
      if (!next || !take(next)) break;
      at_ = next;
    }
    if (is_changed_) {
      steps_.scale = each(affine_.gain, {1}, [](double gain, double one) { return one / gain; });
      steps_.mean = each(affine_.offset, affine_.gain,
                         [](double offset, double gain) { return -offset / gain; });
    }
    return steps_;
  }

 private:
  /// A layer that asks for the shape alone, as open sizes need it, does nothing with the picture.
  pugi::xml_node only_follower() const {
    pugi::xml_node only;
    const auto found = followers_.find(layer_id(at_));
    if (found == followers_.end()) return {};
    for (const LayerId id : found->second) {
      const pugi::xml_node layer = document_.layer(id);
      if (layer_type(layer) == "ShapeOf") continue;
      if (only) return {};
      only = layer;
    }
    return only;
  }

  bool take(pugi::xml_node layer) {
    const std::string type = layer_type(layer);
    for (const std::string_view kept : {"Convert", "Transpose", "Gather", "Clamp", "NV12toRGB",
                                        "NV12toBGR", "I420toRGB", "I420toBGR"}) {
      if (type != kept) continue;
      steps_.is_converted = true;
      steps_.is_from_planes =
          steps_.is_from_planes || type.ends_with("RGB") || type.ends_with("BGR");
      return true;
    }
    if (type == "Interpolate") return take_size(layer);
    if (type == "Convolution") return take_fused_scale(layer);
    const auto number = numbers_of(layer);
    if (!number) return false;
    if (type == "Multiply") return change(*number, {0});
    if (type == "Add") return change({1}, *number);
    const bool is_first = document_.producer(layer, input_port(layer, 0))->layer == layer_id(at_);
    if (type == "Divide" && is_first) {
      return change(each({1}, *number, [](double one, double by) { return one / by; }), {0});
    }
    if (type == "Subtract" && is_first) {
      return change({1}, each({0}, *number, [](double none, double less) { return none - less; }));
    }
    return false;
  }

  /// OpenVINO moves a scale into the weights of the first convolution when it saves a model, as a
  /// Multiply behind weights of floating point: of integers it is their own scale. The walk ends
  /// there.
  bool take_fused_scale(pugi::xml_node convolution) {
    const auto weights = document_.producer(convolution, input_port(convolution, 1));
    if (!weights) return false;
    const pugi::xml_node multiply = document_.layer(weights->layer);
    if (layer_type(multiply) != "Multiply") return false;
    std::optional<std::vector<double>> factor;
    bool has_float_weights = false;
    for (const pugi::xml_node port : input_ports(multiply)) {
      const PortRef input{layer_id(multiply), port.attribute("id").as_ullong()};
      const PortRef source = uncompressed(input);
      const Shape shape = port_shape(port);
      const bool is_of_channels = shape.size() != 4 || (shape[0] == 1 && shape[2] == 1);
      auto numbers = constant_input(document_, weights_, source, kMostChannels);
      if (numbers && !numbers->empty() && is_of_channels) {
        factor = std::move(numbers);
      } else if (const auto from = document_.producer(source)) {
        const std::string type = document_.output_port(*from).node.attribute("precision").value();
        has_float_weights = type.starts_with("FP") || type == "BF16";
      }
    }
    if (factor && has_float_weights) {
      change(*factor, {0});
    }
    return false;
  }

  bool take_size(pugi::xml_node layer) {
    const auto ports = output_ports(layer);
    const Shape shape = ports.empty() ? Shape() : port_shape(ports.front());
    if (shape.size() != 4) return true;
    const auto are_channels = [&](std::size_t at) { return shape[at] == 1 || shape[at] == 3; };
    const std::size_t rows = are_channels(1) ? 2 : 1;
    if ((!are_channels(1) && !are_channels(3)) || shape[rows] < 1 || shape[rows + 1] < 1) {
      return true;
    }
    steps_.size = OwnSteps::Size{static_cast<std::uint32_t>(shape[rows + 1]),
                                 static_cast<std::uint32_t>(shape[rows])};
    return true;
  }

  /// The input of the Convert behind a constant that is stored as f16, as OpenVINO saves them.
  PortRef uncompressed(PortRef input) const {
    const auto producer = document_.producer(input);
    const pugi::xml_node layer = document_.layer(producer->layer);
    if (layer_type(layer) != "Convert") return input;
    return {producer->layer, input_port(layer, 0).attribute("id").as_ullong()};
  }

  /// The other operand of a layer that has two, if it is one number for all channels or one each.
  std::optional<std::vector<double>> numbers_of(pugi::xml_node layer) const {
    const auto ports = input_ports(layer);
    if (ports.size() != 2) return {};
    for (const pugi::xml_node port : ports) {
      const PortRef input{layer_id(layer), port.attribute("id").as_ullong()};
      const auto producer = document_.producer(input);
      if (!producer || producer->layer == layer_id(at_)) continue;
      auto numbers = constant_input(document_, weights_, uncompressed(input), kMostChannels);
      if (!numbers || numbers->empty()) return {};
      return numbers;
    }
    return {};
  }

  /// False where the channels do not fit, or something is multiplied by 0.
  bool change(const std::vector<double>& gain, const std::vector<double>& offset) {
    const std::size_t channels = std::max({affine_.gain.size(), gain.size(), offset.size()});
    for (const std::size_t count : {affine_.gain.size(), gain.size(), offset.size()}) {
      if (count != 1 && count != channels) return false;
    }
    if (std::find(gain.begin(), gain.end(), 0.0) != gain.end()) return false;
    const auto times = [](double a, double b) { return a * b; };
    affine_.gain = each(affine_.gain, gain, times);
    affine_.offset =
        each(each(affine_.offset, gain, times), offset, [](double a, double b) { return a + b; });
    is_changed_ = steps_.is_converted = true;
    return true;
  }

  const Document& document_;
  const Weights& weights_;
  const std::unordered_map<LayerId, std::vector<LayerId>> followers_;
  pugi::xml_node at_;
  Affine affine_;
  bool is_changed_ = false;
  OwnSteps steps_;
};

}  // namespace

OwnSteps own_steps(const Document& document, const Weights& weights, pugi::xml_node parameter) {
  return Walk(document, weights, parameter).read();
}

SameStep compare_steps(const std::vector<double>& own, const std::vector<float>& wanted) {
  if (own.empty() || wanted.empty()) return SameStep::kNone;
  const auto is_near = [](double a, double b) {
    return std::abs(a - b) <= 0.005 * std::max(std::abs(a), std::abs(b)) + 1e-6;
  };
  const std::size_t count = std::max(own.size(), wanted.size());
  const auto holds = [&](const auto& place) {
    for (std::size_t i = 0; i < count; ++i) {
      const double a = own[own.size() == 1 ? 0 : i];
      const std::size_t at = wanted.size() == 1 ? 0 : place(i);
      if (at >= wanted.size() || (own.size() != 1 && i >= own.size())) return false;
      if (!is_near(a, static_cast<double>(wanted[at]))) return false;
    }
    return true;
  };
  if (holds([](std::size_t i) { return i; })) return SameStep::kSame;
  return holds([&](std::size_t i) { return count - 1 - i; }) ? SameStep::kReversed
                                                             : SameStep::kNone;
}

}  // namespace npu::ir

#include "own_steps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include <npucore/types.hpp>

#include "layer.hpp"
#include "own_turns.hpp"
#include "real_numbers.hpp"

namespace npu::ir {
namespace {

constexpr std::size_t kMostChannels = 4;
constexpr std::size_t kMostNearby = 32;

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

class StepWalk {
 public:
  StepWalk(const Document& document, const Weights& weights, pugi::xml_node parameter)
      : document_(document), weights_(weights), followers_(document.followers()), at_(parameter) {}

  OwnSteps read() {
    for (std::size_t i = 0; i < kMostNearby; ++i) {
      const pugi::xml_node next = only_follower();
      if (!next || !take(next)) break;
    }
    if (is_changed_) {
      steps_.scale = each(affine_.gain, {1}, [](double gain, double one) { return one / gain; });
      steps_.mean = each(affine_.offset, affine_.gain,
                         [](double offset, double gain) { return -offset / gain; });
    }
    look_further();
    return std::move(steps_);
  }

 private:
  /// The layers that use this one's outputs, once each. A layer that asks for the shape alone, as
  /// open sizes need it, does nothing with the picture.
  std::vector<pugi::xml_node> followers_of(pugi::xml_node layer) const {
    std::vector<pugi::xml_node> users;
    std::unordered_set<LayerId> known;
    const auto found = followers_.find(layer_id(layer));
    if (found == followers_.end()) return users;
    for (const LayerId id : found->second) {
      const pugi::xml_node user = document_.layer(id);
      if (users.size() == kMostNearby) break;
      if (known.insert(id).second && layer_type(user) != "ShapeOf") {
        users.push_back(user);
      }
    }
    return users;
  }

  pugi::xml_node only_follower() const {
    const auto users = followers_of(at_);
    return users.size() == 1 ? users.front() : pugi::xml_node();
  }

  /// Moves on behind the layer, if it is a step.
  bool take(pugi::xml_node layer) {
    if (is_split(layer)) return take_split(layer);
    if (!take_one(layer)) return false;
    at_ = layer;
    return true;
  }

  static bool is_split(pugi::xml_node layer) {
    return layer_type(layer) == "Split" || layer_type(layer) == "VariadicSplit";
  }

  bool take_one(pugi::xml_node layer) {
    const std::string type = layer_type(layer);
    for (const std::string_view kept :
         {"Convert", "Transpose", "Clamp", "NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR"}) {
      if (type != kept) continue;
      steps_.is_converted = true;
      steps_.is_from_planes =
          steps_.is_from_planes || type.ends_with("RGB") || type.ends_with("BGR");
      return true;
    }
    if (type == "Interpolate") return take_size(layer);
    if (type == "Convolution") return take_weights(layer);
    if (type == "FakeQuantize") return take_quantisation(layer);
    if (type == "ReLU" || type == "Relu") return is_never_negative();
    if (type == "Identity") return true;
    if (type == "Reshape" || type == "Squeeze" || type == "Unsqueeze") return keeps_order(layer);
    if (const Turn turn = turn_of(document_, weights_, layer); turn != Turn::kOther) {
      return take_turn(turn, layer);
    }
    return take_arithmetic(layer);
  }

  bool take_arithmetic(pugi::xml_node layer) {
    const std::string type = layer_type(layer);
    const auto number = numbers_of(layer, at_);
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

  /// Takes a Split whose parts go into one Concat.
  bool take_split(pugi::xml_node split) {
    const auto users = followers_of(split);
    if (users.size() != 1 || layer_type(users.front()) != "Concat") return false;
    const Turn turn = turn_of(document_, weights_, split, users.front());
    if (turn == Turn::kOther) return false;
    at_ = users.front();
    return take_turn(turn, users.front());
  }

  bool take_turn(Turn turn, pugi::xml_node layer) {
    steps_.is_converted = true;
    if (turn == Turn::kUnknown) {
      steps_.later.push_back({.layer = describe_layer(layer), .turns = true});
    }
    if (turn != Turn::kTurned) return true;
    steps_.turn = steps_.turn.empty() ? describe_layer(layer) : "";
    std::reverse(affine_.gain.begin(), affine_.gain.end());
    std::reverse(affine_.offset.begin(), affine_.offset.end());
    return true;
  }

  bool is_never_negative() const {
    const auto all = [](const std::vector<double>& numbers) {
      return std::all_of(numbers.begin(), numbers.end(), [](double x) { return x >= 0; });
    };
    return all(affine_.gain) && all(affine_.offset);
  }

  /// Whether only dimensions of 1 come or go.
  static bool keeps_order(pugi::xml_node layer) {
    const auto outputs = output_ports(layer);
    if (outputs.empty()) return false;
    const auto sizes_of = [](pugi::xml_node port) {
      Shape shape = port_shape(port);
      std::erase(shape, 1);
      return shape;
    };
    return sizes_of(input_port(layer, 0)) == sizes_of(outputs.front());
  }

  /// Limits and levels are the quantisation's; a range that becomes another one is a step.
  bool take_quantisation(pugi::xml_node layer) {
    std::vector<std::vector<double>> ends;
    for (std::size_t i = 1; i <= 4; ++i) {
      auto numbers = numbers_at(layer, input_port(layer, i));
      if (!numbers) return false;
      ends.push_back(std::move(*numbers));
    }
    for (const auto& numbers : ends) {
      if (numbers.size() != 1 && numbers.size() != ends[0].size()) return false;
    }
    const auto minus = [](double a, double b) { return a - b; };
    const auto gain = each(each(ends[3], ends[2], minus), each(ends[1], ends[0], minus),
                           [](double to, double from) { return from == 0 ? 0 : to / from; });
    const auto offset = each(ends[2], each(ends[0], gain, std::multiplies<>()), minus);
    const auto is = [](double wanted) {
      return [wanted](double x) { return std::abs(x - wanted) < 1e-3; };
    };
    if (std::all_of(gain.begin(), gain.end(), is(1)) &&
        std::all_of(offset.begin(), offset.end(), is(0))) {
      return true;
    }
    return change(gain, offset);
  }

  /// The network begins here.
  bool take_weights(pugi::xml_node convolution) {
    take_fused_scale(convolution);
    if (has_turned_weights(document_, weights_, convolution)) {
      take_turn(Turn::kTurned, convolution);
    }
    begins_ = true;
    return false;
  }

  static bool begins_network(pugi::xml_node layer) {
    const std::string type = layer_type(layer);
    return type.ends_with("Convolution") || type == "MatMul" || type.ends_with("Pool") ||
           type == "Result" || type == "BatchNormInference" || type == "MVN";
  }

  /// Looks at the next layers behind one that was not understood, up to where the network begins.
  void look_further() {
    std::vector<pugi::xml_node> nearby =
        begins_ ? std::vector<pugi::xml_node>() : followers_of(at_);
    if (!nearby.empty() && !begins_network(nearby.front())) {
      steps_.stop = describe_layer(nearby.front());
    }
    for (std::size_t i = 0; i < nearby.size() && i < kMostNearby; ++i) {
      const pugi::xml_node layer = nearby[i];
      note_later(layer);
      if (begins_network(layer)) continue;
      for (const pugi::xml_node user : followers_of(layer)) {
        if (std::find(nearby.begin(), nearby.end(), user) == nearby.end()) {
          nearby.push_back(user);
        }
      }
    }
  }

  void note_later(pugi::xml_node layer) {
    const std::string type = layer_type(layer);
    OwnSteps::Later later{.layer = describe_layer(layer)};
    later.turns = turn_of(document_, weights_, layer) == Turn::kTurned ||
                  (type == "Convolution" && has_turned_weights(document_, weights_, layer));
    if (type == "Convolution") {
      later.factors = fused_scale(layer).value_or(std::vector<double>());
    } else if (const auto numbers = numbers_of(layer, {})) {
      const bool is_factor = type == "Multiply" || type == "Divide";
      const bool is_term = type == "Add" || type == "Subtract";
      later.factors = is_factor ? *numbers : std::vector<double>();
      later.terms = is_term ? *numbers : std::vector<double>();
    }
    if (later.turns || !later.factors.empty() || !later.terms.empty()) {
      steps_.later.push_back(std::move(later));
    }
  }

  /// OpenVINO moves a scale into the weights of the first convolution when it saves a model, as a
  /// Multiply behind weights of floating point: of integers it is their own scale.
  std::optional<std::vector<double>> fused_scale(pugi::xml_node convolution) const {
    const auto weights = document_.producer(convolution, input_port(convolution, 1));
    if (!weights) return {};
    const pugi::xml_node multiply = document_.layer(weights->layer);
    if (layer_type(multiply) != "Multiply") return {};
    std::optional<std::vector<double>> factor;
    bool has_float_weights = false;
    for (const pugi::xml_node port : input_ports(multiply)) {
      const PortRef input{layer_id(multiply), port.attribute("id").as_ullong()};
      const PortRef source = uncompressed(document_, input);
      const Shape shape = port_shape(port);
      const bool is_of_channels = shape.size() != 4 || (shape[0] == 1 && shape[2] == 1);
      auto numbers = few_numbers(document_, weights_, input, kMostChannels);
      if (numbers && is_of_channels) {
        factor = std::move(numbers);
      } else if (const auto from = document_.producer(source)) {
        const std::string type = document_.output_port(*from).node.attribute("precision").value();
        has_float_weights = type.starts_with("FP") || type == "BF16";
      }
    }
    return has_float_weights ? factor : std::nullopt;
  }

  void take_fused_scale(pugi::xml_node convolution) {
    if (const auto factor = fused_scale(convolution)) {
      change(*factor, {0});
    }
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

  /// The operand beside the output of `data` of a layer that has two, if it is one number for all
  /// channels or one each; without `data`, the operand that is.
  std::optional<std::vector<double>> numbers_of(pugi::xml_node layer, pugi::xml_node data) const {
    const auto ports = input_ports(layer);
    if (ports.size() != 2) return {};
    for (const pugi::xml_node port : ports) {
      const auto producer = document_.producer(layer, port);
      if (!producer || (data && producer->layer == layer_id(data))) continue;
      auto numbers = numbers_at(layer, port);
      if (numbers || data) return numbers;
    }
    return {};
  }

  std::optional<std::vector<double>> numbers_at(pugi::xml_node layer, pugi::xml_node port) const {
    return few_numbers(document_, weights_, {layer_id(layer), port.attribute("id").as_ullong()},
                       kMostChannels);
  }

  /// False where the channels do not fit, or something is multiplied by 0.
  bool change(const std::vector<double>& gain, const std::vector<double>& offset) {
    const std::size_t channels = std::max({affine_.gain.size(), gain.size(), offset.size()});
    for (const std::size_t count : {affine_.gain.size(), gain.size(), offset.size()}) {
      if (count != 1 && count != channels) return false;
    }
    const auto is_usable = [](double x) { return std::isfinite(x); };
    if (std::find(gain.begin(), gain.end(), 0.0) != gain.end()) return false;
    if (!std::all_of(gain.begin(), gain.end(), is_usable)) return false;
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
  bool begins_ = false;  // a Convolution was reached
  OwnSteps steps_;
};

}  // namespace

OwnSteps own_steps(const Document& document, const Weights& weights, pugi::xml_node parameter) {
  return StepWalk(document, weights, parameter).read();
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

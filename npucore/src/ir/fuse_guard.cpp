#include "fuse_guard.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <set>

#include "base/text.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

constexpr std::size_t kWeights = 9;
using Weights9 = std::array<double, kWeights>;

// The compiler's own conversion: rows R, G, B over Y, Cb, Cr, and their bias.
constexpr Weights9 kFusedMatrix{1.164, 0, 1.596, 1.164, -0.391, -0.813, 1.164, 2.018, 0};
constexpr std::array<double, 3> kFusedBias{-222.912, 135.488, -276.928};
constexpr double kTolerance = 2e-3;

/// A position in the graph: the layer that makes a value.
class Walk {
 public:
  Walk(const Document& document, pugi::xml_node layer) : document_(&document), layer_(layer) {}

  explicit operator bool() const { return static_cast<bool>(layer_); }
  bool is(std::initializer_list<const char*> types) const {
    const auto type = layer_type(layer_);
    return std::any_of(types.begin(), types.end(), [&](const char* name) { return type == name; });
  }
  /// The layer that feeds the input at `position`; empty if there is none.
  Walk up(std::size_t position = 0) const {
    const auto source = document_->producer(input(position));
    return {*document_, source ? document_->layer(source->layer) : pugi::xml_node()};
  }
  /// Its first input's layer if this one has that type, else itself.
  Walk skip(const char* type) const { return is({type}) ? up() : *this; }
  PortRef input(std::size_t position) const {
    const auto port = input_port(layer_, position);
    if (!port) return {layer_id(layer_), UINT64_MAX};
    return {layer_id(layer_), parse_unsigned(port.attribute("id").value()).value_or(UINT64_MAX)};
  }
  bool has_two_inputs() const { return input_port(layer_, 1) && !input_port(layer_, 2); }
  pugi::xml_node layer() const { return layer_; }

 private:
  const Document* document_;
  pugi::xml_node layer_;
};

bool near(double a, double b) {
  return std::abs(a - b) < 1e-5;
}

bool is_color_range(double low, double high) {
  return near(low, 0) && (near(high, 1) || near(high, 255));
}

bool splat_in_color_range(const Document& document, const Weights& weights, const Walk& root) {
  constexpr std::size_t kOutputLow = 3, kOutputHigh = 4, kMost = 4096;
  const auto low = constant_input(document, weights, root.input(kOutputLow), kMost);
  const auto high = constant_input(document, weights, root.input(kOutputHigh), kMost);
  if (!low || !high || low->empty() || high->empty()) return false;
  const auto splat = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(),
                       [&](double value) { return near(value, values.front()); });
  };
  return splat(*low) && splat(*high) && is_color_range(low->front(), high->front());
}

bool limits_to_color_range(const Document& document, const Weights& weights, const Walk& root) {
  if (root.is({"Clamp"})) {
    const auto data = root.layer().child("data");
    return is_color_range(parse_real(data.attribute("min").value()).value_or(NAN),
                          parse_real(data.attribute("max").value()).value_or(NAN));
  }
  return root.is({"FakeQuantize"}) && splat_in_color_range(document, weights, root);
}

/// True for a joined luma and chroma plane in the pattern that the compiler looks for.
bool joins_planes(const Walk& concat) {
  if (!concat.is({"Concat"}) || !concat.has_two_inputs()) return false;
  const auto luma = concat.up(0).skip("Convert").skip("FakeQuantize");
  const auto chroma = concat.up(1).skip("FakeQuantize");
  // The compiler turns layers that only move a dimension of 1 into a reshape.
  return luma.is({"Reshape", "Squeeze", "Unsqueeze", "Transpose"}) && chroma.is({"Interpolate"}) &&
         chroma.up().is({"Transpose"});
}

struct Conversion {
  Walk convolution;
  PortRef bias;
};

/// Add(Convolution(Concat(luma, chroma)), bias) below `add`, whichever side the convolution is on.
std::optional<Conversion> conversion_at(const Walk& add) {
  if (!add.is({"Add"})) return {};
  for (const std::size_t side : {0, 1}) {
    const auto convolution = add.up(side);
    if (!convolution.is({"Convolution"})) continue;
    if (joins_planes(convolution.up().skip("FakeQuantize"))) {
      return Conversion{convolution, add.input(1 - side)};
    }
  }
  return {};
}

bool is_fused_matrix(const std::vector<double>& matrix, const std::vector<double>& bias) {
  double scale = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) scale += bias[i] / kFusedBias[i] / 3;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (std::abs(bias[i] / kFusedBias[i] - scale) > kTolerance * scale) return false;
  }
  for (std::size_t i = 0; i < kWeights; ++i) {
    if (std::abs(matrix[i] - scale * kFusedMatrix[i]) > kTolerance * scale) return false;
  }
  return true;
}

constexpr const char* kConsequence =
    "newer NPU compilers replace it with their own BT.601 limited-range conversion, so colours "
    "come "
    "out wrong; take the conversion out of the model and let npucore convert the frames, or use "
    "one convolution per plane";

/// One warning for each convolution: its name may be long and its followers many.
std::optional<std::string> warning_at(const Document& document, const Weights& weights,
                                      const Walk& root, std::set<LayerId>& warned) {
  const auto conversion = conversion_at(root.up());
  if (!conversion || warned.contains(layer_id(conversion->convolution.layer()))) return {};
  if (!limits_to_color_range(document, weights, root)) return {};
  const auto matrix = constant_input(document, weights, conversion->convolution.input(1), kWeights);
  const auto bias = constant_input(document, weights, conversion->bias, 3);
  if (matrix && matrix->size() != kWeights) return {};
  if (matrix && bias && bias->size() == 3 && is_fused_matrix(*matrix, *bias)) return {};
  warned.insert(layer_id(conversion->convolution.layer()));
  const auto where =
      base::text("the colour conversion at ", describe_layer(conversion->convolution.layer()));
  if (!matrix || !bias || bias->size() != 3) {
    return base::text(where, " may not be BT.601 limited range, and ", kConsequence);
  }
  return base::text(where, " is not BT.601 limited range, but ", kConsequence);
}

}  // namespace

std::vector<std::string> color_fusion_warnings(const Document& document, const Weights& weights) {
  std::vector<std::string> warnings;
  std::set<LayerId> warned;
  for (auto layer : document.layers()) {
    const auto type = layer_type(layer);
    if (type != "Clamp" && type != "FakeQuantize") continue;
    if (auto warning = warning_at(document, weights, Walk(document, layer), warned)) {
      warnings.push_back(std::move(*warning));
    }
  }
  return warnings;
}

}  // namespace npu::ir

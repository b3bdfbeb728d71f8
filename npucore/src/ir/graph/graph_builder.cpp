#include "graph_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"

#include "layer.hpp"
#include "xml.hpp"

namespace npu::ir {
namespace {

std::string shape_text(const Shape& shape) {
  return base::join(shape, ", ");
}

pugi::xml_node append_port(pugi::xml_node side, std::uint64_t id, ElementType type,
                           const Shape& shape) {
  auto port = add(side, "port");
  set(port, "id", id);
  set(port, "precision", type_to_precision(type));
  for (const auto dimension : shape) {
    set_text(add(port, "dim"), std::to_string(dimension));
  }
  return port;
}

std::vector<std::pair<const char*, std::string>> interpolate_attributes(const char* mode) {
  return {{"mode", "linear"},
          {"shape_calculation_mode", mode},
          {"coordinate_transformation_mode", "half_pixel"},
          {"nearest_mode", "round_prefer_floor"},
          {"antialias", "false"},
          {"pads_begin", "0, 0, 0, 0"},
          {"pads_end", "0, 0, 0, 0"},
          {"cube_coeff", "-0.75"}};
}

/// The size that Interpolate's mode "scales" gives an axis.
std::int64_t size_by_scale(std::int64_t size, float scale) {
  return static_cast<std::int64_t>(std::floor(static_cast<float>(size) * scale));
}

/// The float nearest to `scale`, or the next one above that reaches `wanted`.
float scale_reaching(std::int64_t size, double scale, std::int64_t wanted) {
  auto found = static_cast<float>(scale);
  while (size_by_scale(size, found) < wanted) {
    found = std::nextafter(found, std::numeric_limits<float>::infinity());
  }
  return found;
}

const Shape kSpatialAxes{2, 3};

/// Weights at row r, column c: the share of input pixel c in result pixel r; linear, edges
/// repeated.
std::vector<double> resample_weights(std::int64_t inputs, const GraphBuilder::Shifted& axis) {
  const auto results = axis.resize.size;
  std::vector<double> weights(static_cast<std::size_t>(results * inputs));
  for (std::int64_t result = 0; result < results; ++result) {
    const double at = (static_cast<double>(result) + .5) / axis.resize.scale + axis.offset - .5;
    const double inside = std::clamp(at, 0.0, static_cast<double>(inputs - 1));
    const auto first = static_cast<std::int64_t>(std::floor(inside));
    const double share = inside - static_cast<double>(first);
    const auto row = static_cast<std::size_t>(result * inputs);
    weights[row + static_cast<std::size_t>(first)] += 1 - share;
    weights[row + static_cast<std::size_t>(std::min(first + 1, inputs - 1))] += share;
  }
  return weights;
}

std::vector<double> transposed(const std::vector<double>& matrix, std::size_t columns) {
  std::vector<double> result;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t at = column; at < matrix.size(); at += columns) result.push_back(matrix[at]);
  }
  return result;
}

}  // namespace

GraphBuilder::GraphBuilder(Document& document, Weights& weights, pugi::xml_node place,
                           std::string prefix)
    : document_(document), weights_(weights), place_(place), prefix_(std::move(prefix)) {}

Value GraphBuilder::append(const std::string& label, const Operator& op,
                           const std::vector<Value>& inputs, ElementType type, const Shape& shape) {
  auto layer = document_.insert_layer(place_, prefix_ + label, op.type, op.opset);
  if (!op.attributes.empty()) {
    auto data = ir::add(layer, "data");
    for (const auto& [name, value] : op.attributes) set(data, name, value);
  }
  const auto id = layer_id(layer);
  if (!inputs.empty()) {
    auto side = ir::add(layer, "input");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      append_port(side, i, inputs[i].type, inputs[i].shape);
      document_.connect(inputs[i].port, {id, i});
    }
  }
  append_port(ir::add(layer, "output"), inputs.size(), type, shape);
  return {{id, inputs.size()}, type, shape};
}

Value GraphBuilder::parameter(const std::string& name, const std::vector<std::string>& tensor_names,
                              ElementType type, const Shape& shape) {
  auto layer = document_.insert_layer(place_, name, "Parameter", "opset1");
  auto data = ir::add(layer, "data");
  set(data, "shape", base::join(shape, ","));
  set(data, "element_type", to_string(type));
  auto port = append_port(ir::add(layer, "output"), 0, type, shape);
  if (!tensor_names.empty()) {
    set(port, "names", join_tensor_names(tensor_names));
  }
  return {{layer_id(layer), 0}, type, shape};
}

Value GraphBuilder::constant(const std::string& label, ElementType type, const Shape& shape,
                             std::span<const std::byte> bytes) {
  const auto offset = weights_.append(bytes);
  return append(label,
                {"Const",
                 "opset1",
                 {{"element_type", to_string(type)},
                  {"shape", shape_text(shape)},
                  {"offset", std::to_string(offset)},
                  {"size", std::to_string(bytes.size())}}},
                {}, type, shape);
}

Value GraphBuilder::indices(const std::string& label, const std::vector<std::int64_t>& values) {
  return constant(label, ElementType::kI64, {static_cast<std::int64_t>(values.size())},
                  std::as_bytes(std::span(values)));
}

Value GraphBuilder::floats(const std::string& label, const std::vector<double>& values,
                           const Shape& shape) {
  const std::vector<float> narrow(values.begin(), values.end());
  return constant(label, ElementType::kF32, shape, std::as_bytes(std::span(narrow)));
}

Value GraphBuilder::slice(const std::string& label, const Value& input, std::vector<Cut> cuts) {
  std::erase_if(cuts, [&](const Cut& cut) {
    return cut.begin == 0 && cut.end == input.shape[static_cast<std::size_t>(cut.axis)];
  });
  if (cuts.empty()) return input;
  std::vector<std::int64_t> begins, ends, axes;
  auto shape = input.shape;
  for (const auto& cut : cuts) {
    begins.push_back(cut.begin);
    ends.push_back(cut.end);
    axes.push_back(cut.axis);
    shape[static_cast<std::size_t>(cut.axis)] = cut.end - cut.begin;
  }
  const std::vector<std::int64_t> steps(cuts.size(), 1);
  return append(label, {"Slice", "opset8", {}},
                {input, indices(label + "/begin", begins), indices(label + "/end", ends),
                 indices(label + "/step", steps), indices(label + "/axes", axes)},
                input.type, shape);
}

Value GraphBuilder::convert(const std::string& label, const Value& input, ElementType type) {
  return append(label, {"Convert", "opset1", {{"destination_type", to_string(type)}}}, {input},
                type, input.shape);
}

Value GraphBuilder::convert_bytes(const std::string& label, const Value& input) {
  const auto floating = convert(label, input, ElementType::kF32);
  const auto zero = floats(label + "/zero", {0}, {}), white = floats(label + "/white", {255}, {});
  return append(label + "/whole",
                {"FakeQuantize", "opset1", {{"levels", "256"}, {"auto_broadcast", "numpy"}}},
                {floating, zero, white, zero, white}, floating.type, floating.shape);
}

Value GraphBuilder::reshape(const std::string& label, const Value& input, const Shape& shape) {
  return append(label, {"Reshape", "opset1", {{"special_zero", "false"}}},
                {input, indices(label + "/shape", shape)}, input.type, shape);
}

Value GraphBuilder::transpose(const std::string& label, const Value& input,
                              const std::vector<std::int64_t>& order) {
  Shape shape;
  for (const auto axis : order) shape.push_back(input.shape[static_cast<std::size_t>(axis)]);
  return append(label, {"Transpose", "opset1", {}}, {input, indices(label + "/order", order)},
                input.type, shape);
}

Value GraphBuilder::concat(const std::string& label, const std::vector<Value>& inputs,
                           std::int64_t axis) {
  if (inputs.size() == 1) return inputs.front();
  const auto at = static_cast<std::size_t>(axis);
  auto shape = inputs.front().shape;
  shape[at] = 0;
  for (const auto& input : inputs) shape[at] += input.shape[at];
  return append(label, {"Concat", "opset1", {{"axis", std::to_string(axis)}}}, inputs,
                inputs.front().type, shape);
}

Value GraphBuilder::resize_to_sizes(const std::string& label, const Value& input,
                                    std::int64_t height, std::int64_t width) {
  return append(
      label, {"Interpolate", "opset11", interpolate_attributes("sizes")},
      {input, indices(label + "/size", {height, width}), indices(label + "/axes", kSpatialAxes)},
      input.type, {input.shape[0], input.shape[1], height, width});
}

Value GraphBuilder::resize_by_scales(const std::string& label, const Value& input, Resize height,
                                     Resize width) {
  const auto scale_y = scale_reaching(input.shape[2], height.scale, height.size);
  const auto scale_x = scale_reaching(input.shape[3], width.scale, width.size);
  const Shape shape{input.shape[0], input.shape[1], size_by_scale(input.shape[2], scale_y),
                    size_by_scale(input.shape[3], scale_x)};
  // OpenVINO and NPU compilers do not scale an axis that keeps its size.
  const bool skips_rows = shape[2] == input.shape[2] && scale_y != 1;
  const bool skips_columns = shape[3] == input.shape[3] && scale_x != 1;
  if (skips_rows || skips_columns) return resample(label, input, {height, 0}, {width, 0});
  const auto resized = append(label, {"Interpolate", "opset11", interpolate_attributes("scales")},
                              {input, floats(label + "/scales", {scale_y, scale_x}, {2}),
                               indices(label + "/axes", kSpatialAxes)},
                              input.type, shape);
  return slice(label + "/cut", resized, {{2, 0, height.size}, {3, 0, width.size}});
}

Value GraphBuilder::resize(const std::string& label, const Value& input, Resize height,
                           Resize width) {
  const auto whole = [&](std::size_t axis, const Resize& wanted) {
    // Exact: both sides are quotients of small integers.
    return wanted.scale ==
           static_cast<double>(wanted.size) / static_cast<double>(input.shape[axis]);
  };
  if (!whole(2, height) || !whole(3, width)) return resize_by_scales(label, input, height, width);
  if (height.size == input.shape[2] && width.size == input.shape[3]) return input;
  return resize_to_sizes(label, input, height.size, width.size);
}

Value GraphBuilder::multiply_matrices(const std::string& label, const Value& left,
                                      const Value& right, const Shape& shape) {
  return append(label, {"MatMul", "opset1", {{"transpose_a", "false"}, {"transpose_b", "false"}}},
                {left, right}, left.type, shape);
}

Value GraphBuilder::resample(const std::string& label, const Value& input, Shifted height,
                             Shifted width) {
  const auto rows = input.shape[2], columns = input.shape[3];
  auto shape = input.shape;
  shape[3] = width.resize.size;
  const auto across =
      floats(label + "/across",
             transposed(resample_weights(columns, width), static_cast<std::size_t>(columns)),
             {columns, shape[3]});
  const auto narrow = multiply_matrices(label + "/columns", input, across, shape);
  shape[2] = height.resize.size;
  const auto down = floats(label + "/down", resample_weights(rows, height), {shape[2], rows});
  return multiply_matrices(label + "/rows", down, narrow, shape);
}

Value GraphBuilder::convolve(const std::string& label, const Value& input,
                             const std::vector<double>& weights, const Shape& shape,
                             std::int64_t stride_y) {
  return append(label,
                {"Convolution",
                 "opset1",
                 {{"strides", base::text(stride_y, ", 1")},
                  {"dilations", "1, 1"},
                  {"pads_begin", "0, 0"},
                  {"pads_end", "0, 0"},
                  {"auto_pad", "explicit"}}},
                {input, floats(label + "/weights", weights, shape)}, input.type,
                {input.shape[0], shape[0], (input.shape[2] - shape[2]) / stride_y + 1,
                 input.shape[3] - shape[3] + 1});
}

Value GraphBuilder::mix_channels(const std::string& label, const Value& input,
                                 const std::vector<std::vector<double>>& weights) {
  std::vector<double> all;
  for (const auto& row : weights) all.insert(all.end(), row.begin(), row.end());
  return convolve(label, input, all,
                  {static_cast<std::int64_t>(weights.size()), input.shape[1], 1, 1}, 1);
}

Value GraphBuilder::add(const std::string& label, const Value& left, const Value& right) {
  return append(label, {"Add", "opset1", {{"auto_broadcast", "numpy"}}}, {left, right}, left.type,
                left.shape);
}

Value GraphBuilder::add(const std::string& label, const Value& input,
                        const std::vector<double>& channels) {
  const auto count = static_cast<std::int64_t>(channels.size());
  return add(label, input, floats(label + "/value", channels, {1, count, 1, 1}));
}

Value GraphBuilder::multiply(const std::string& label, const Value& input,
                             const std::vector<double>& channels) {
  const auto count = static_cast<std::int64_t>(channels.size());
  return append(label, {"Multiply", "opset1", {{"auto_broadcast", "numpy"}}},
                {input, floats(label + "/value", channels, {1, count, 1, 1})}, input.type,
                input.shape);
}

Value GraphBuilder::clamp(const std::string& label, const Value& input, double low, double high) {
  return append(label, {"Clamp", "opset1", {{"min", base::text(low)}, {"max", base::text(high)}}},
                {input}, input.type, input.shape);
}

Value GraphBuilder::round(const std::string& label, const Value& input) {
  return append(label, {"Round", "opset5", {{"mode", "half_to_even"}}}, {input}, input.type,
                input.shape);
}

Value GraphBuilder::pad(const std::string& label, const Value& input, Borders borders,
                        double value) {
  auto shape = input.shape;
  shape[2] += borders.top + borders.bottom;
  shape[3] += borders.left + borders.right;
  return append(label, {"Pad", "opset1", {{"pad_mode", "constant"}}},
                {input, indices(label + "/begin", {0, 0, borders.top, borders.left}),
                 indices(label + "/end", {0, 0, borders.bottom, borders.right}),
                 floats(label + "/value", {value}, {})},
                input.type, shape);
}

}  // namespace npu::ir

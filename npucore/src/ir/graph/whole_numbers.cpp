#include "whole_numbers.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"

namespace npu::ir {
namespace {

constexpr std::size_t kMostNumbers = 16;
constexpr std::size_t kMostDepth = 24;
constexpr std::size_t kMostValues = 1024;

using Number = std::optional<std::int64_t>;

Number computed(const std::string& type, Number left, Number right) {
  // Zero times an unknown number is zero.
  if (type == "Multiply" && (left.value_or(1) == 0 || right.value_or(1) == 0)) return 0;
  if (!left || !right) return {};
  std::int64_t result = 0;
  const bool overflows = type == "Add"        ? __builtin_add_overflow(*left, *right, &result)
                         : type == "Subtract" ? __builtin_sub_overflow(*left, *right, &result)
                                              : __builtin_mul_overflow(*left, *right, &result);
  return overflows ? Number() : result;
}

}  // namespace

std::optional<WholeNumbers> WholeNumberReader::of(PortRef value) const {
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  if (depth_ >= kMostDepth || known_.size() >= kMostValues) return {};
  ++depth_;
  auto numbers = read(value);
  --depth_;
  if (numbers && numbers->size() > kMostNumbers) {
    numbers.reset();
  }
  known_.emplace(value, numbers);
  return numbers;
}

std::optional<WholeNumbers> WholeNumberReader::read(PortRef value) const {
  const auto layer = document_.layer(value.layer);
  const auto type = layer_type(layer);
  if (type == "Const") return read_constant(layer);
  if (type == "ShapeOf") return read_size(layer);
  if (type == "Convert" || type == "Reshape" || type == "Squeeze" || type == "Unsqueeze") {
    return of_input(layer, 0);
  }
  if (type == "Gather") return read_gather(layer);
  if (type == "Slice") return read_slice(layer);
  if (type == "Split") return read_split(layer, document_.output_port(value).index);
  if (type == "Concat") return read_concat(layer);
  if (type == "Add" || type == "Subtract" || type == "Multiply") return read_arithmetic(layer);
  if (type == "ReduceProd" || type == "ReduceMax") return read_reduction(layer);
  return {};
}

std::optional<WholeNumbers> WholeNumberReader::of_input(pugi::xml_node layer,
                                                        std::size_t position) const {
  const auto port = input_port(layer, position);
  const auto from = port ? document_.producer(layer, port) : std::nullopt;
  return from ? of(*from) : std::nullopt;
}

std::optional<std::int64_t> WholeNumberReader::only(pugi::xml_node layer,
                                                    std::size_t position) const {
  const auto numbers = of_input(layer, position);
  return numbers && numbers->size() == 1 ? numbers->front() : std::nullopt;
}

/// Whether it has one axis or is a single number: then the order of the numbers is all.
bool WholeNumberReader::is_list(pugi::xml_node layer, std::size_t position) const {
  const auto port = input_port(layer, position);
  return port && port_shape(port).size() <= 1;
}

std::optional<WholeNumbers> WholeNumberReader::read_constant(pugi::xml_node layer) const {
  const auto range = data_range(layer);
  const std::string_view type = layer.child("data").attribute("element_type").value();
  if (!range || (type != "i64" && type != "i32")) return {};
  const std::size_t width = type == "i64" ? 8 : 4;
  const auto bytes = weights_.view(range->offset, range->size_bytes);
  if (bytes.empty() || bytes.size() / width > kMostNumbers || bytes.size() % width != 0) return {};
  WholeNumbers numbers;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    std::memcpy(&wide, bytes.data() + at, width);
    std::memcpy(&narrow, bytes.data() + at, sizeof narrow);
    numbers.emplace_back(width == 8 ? wide : narrow);
  }
  return numbers;
}

/// Dimensions that the file leaves open are unknown.
std::optional<WholeNumbers> WholeNumberReader::read_size(pugi::xml_node layer) const {
  const auto port = input_port(layer, 0);
  const auto from = port ? document_.producer(layer, port) : std::nullopt;
  const auto node = from ? document_.output_port(*from).node : pugi::xml_node();
  if (!node) return {};
  WholeNumbers numbers;
  for (const auto dim : port_shape(node)) numbers.push_back(dim < 0 ? Number() : dim);
  return numbers;
}

/// Takes a list, gathered along its only axis.
std::optional<WholeNumbers> WholeNumberReader::read_gather(pugi::xml_node layer) const {
  const auto data = of_input(layer, 0), places = of_input(layer, 1);
  if (!data || !places || !is_list(layer, 0) || only(layer, 2) != 0) return {};
  const auto size = static_cast<std::int64_t>(data->size());
  WholeNumbers numbers;
  for (const auto place : *places) {
    if (!place || *place < -size || *place >= size) return {};
    numbers.push_back((*data)[static_cast<std::size_t>(*place < 0 ? *place + size : *place)]);
  }
  return numbers;
}

std::optional<WholeNumbers> WholeNumberReader::read_slice(pugi::xml_node layer) const {
  const auto data = of_input(layer, 0);
  const auto begin = only(layer, 1), end = only(layer, 2);
  if (!data || !begin || !end || !is_list(layer, 0)) return {};
  if (only(layer, 3) != 1 || only(layer, 4) != 0) return {};
  const auto size = static_cast<std::int64_t>(data->size());
  const auto stop = std::min(*end, size);
  if (*begin < 0 || *begin > stop) return {};
  return WholeNumbers(data->begin() + *begin, data->begin() + stop);
}

/// Splits into parts of equal size, one number each, whatever the layout.
std::optional<WholeNumbers> WholeNumberReader::read_split(pugi::xml_node layer,
                                                          std::size_t part) const {
  const auto data = of_input(layer, 0);
  const auto parts = output_ports(layer).size();
  if (!data || parts != data->size() || part >= parts) return {};
  return WholeNumbers{(*data)[part]};
}

std::optional<WholeNumbers> WholeNumberReader::read_concat(pugi::xml_node layer) const {
  WholeNumbers numbers;
  const auto count = input_ports(layer).size();
  if (count > kMostNumbers) return {};
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = of_input(layer, i);
    if (!part || !is_list(layer, i) || numbers.size() + part->size() > kMostNumbers) return {};
    numbers.insert(numbers.end(), part->begin(), part->end());
  }
  return numbers;
}

/// Takes single numbers.
std::optional<WholeNumbers> WholeNumberReader::read_arithmetic(pugi::xml_node layer) const {
  const auto left = of_input(layer, 0), right = of_input(layer, 1);
  if ((left && left->size() != 1) || (right && right->size() != 1)) return {};
  const auto number = computed(layer_type(layer), only(layer, 0), only(layer, 1));
  if (!number && (!left || !right)) return {};
  return WholeNumbers{number};
}

/// Reduces all of a list.
std::optional<WholeNumbers> WholeNumberReader::read_reduction(pugi::xml_node layer) const {
  const auto data = of_input(layer, 0);
  const auto axis = only(layer, 1);
  if (!data || data->empty() || !is_list(layer, 0) || (axis != 0 && axis != -1)) return {};
  const bool multiplies = layer_type(layer) == "ReduceProd";
  Number result = data->front();
  for (std::size_t i = 1; i < data->size(); ++i) {
    const Number next = (*data)[i];
    if (!result || !next) return {};
    result = multiplies ? computed("Multiply", result, next) : std::max(*result, *next);
  }
  if (!result) return {};
  return WholeNumbers{result};
}

}  // namespace npu::ir

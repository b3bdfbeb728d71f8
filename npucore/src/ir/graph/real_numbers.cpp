#include "real_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "constant.hpp"
#include "layer.hpp"
#include "whole_numbers.hpp"

namespace npu::ir {
namespace {

constexpr std::size_t kMostOperations = 8;  // of a computation

using RealNumbers = std::optional<std::vector<double>>;

/// Null for types of layers that are no arithmetic.
double (*arithmetic_of(const std::string& type))(double, double) {
  if (type == "Add") return [](double a, double b) { return a + b; };
  if (type == "Subtract") return [](double a, double b) { return a - b; };
  if (type == "Multiply") return [](double a, double b) { return a * b; };
  if (type == "Divide") return [](double a, double b) { return a / b; };
  if (type == "Power") return [](double a, double b) { return std::pow(a, b); };
  return nullptr;
}

/// A number for all counts for each.
RealNumbers computed(const RealNumbers& a, const RealNumbers& b, double (*work)(double, double)) {
  if (!a || !b || (a->size() != 1 && b->size() != 1 && a->size() != b->size())) return {};
  std::vector<double> result(std::max(a->size(), b->size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = work((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
  }
  return result;
}

RealNumbers whole_numbers(const Document& document, const Weights& weights, PortRef value,
                          std::size_t most) {
  const auto whole = WholeNumberReader(document, weights).of(value);
  if (!whole || whole->size() > most) return {};
  std::vector<double> numbers;
  for (const auto& number : *whole) {
    if (!number) return {};
    numbers.push_back(static_cast<double>(*number));
  }
  return numbers;
}

RealNumbers numbers_of(const Document& document, const Weights& weights, PortRef input,
                       std::size_t most, std::size_t depth) {
  const auto producer = document.producer(input);
  if (!producer || depth > kMostOperations) return {};
  const auto constant = constant_input(document, weights, uncompressed(document, input), most);
  if (constant) return constant->empty() ? RealNumbers() : constant;
  const pugi::xml_node layer = document.layer(producer->layer);
  const std::string type = layer_type(layer);
  if (type == "Const") return whole_numbers(document, weights, *producer, most);
  const auto operand = [&](std::size_t position) {
    const auto id = input_port(layer, position).attribute("id").as_ullong();
    return numbers_of(document, weights, {producer->layer, id}, most, depth + 1);
  };
  for (const std::string_view kept : {"Convert", "Reshape", "Squeeze", "Unsqueeze"}) {
    if (type == kept) return operand(0);
  }
  const auto work = arithmetic_of(type);
  return work ? computed(operand(0), operand(1), work) : RealNumbers();
}

}  // namespace

RealNumbers few_numbers(const Document& document, const Weights& weights, PortRef input,
                        std::size_t most) {
  return numbers_of(document, weights, input, most, 0);
}

PortRef uncompressed(const Document& document, PortRef input) {
  const auto producer = document.producer(input);
  const pugi::xml_node layer = producer ? document.layer(producer->layer) : pugi::xml_node();
  if (!layer || layer_type(layer) != "Convert") return input;
  return {producer->layer, input_port(layer, 0).attribute("id").as_ullong()};
}

}  // namespace npu::ir

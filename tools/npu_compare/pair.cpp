#include "pair.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <npucore/error.hpp>

namespace {

using npu::Error;
using npu::ErrorCode;
using npu::Port;

std::string describe(const std::vector<Port>& ports) {
  std::string text;
  for (const auto& port : ports) {
    text += (text.empty() ? "'" : ", '") + port.name + "' " + npu::to_string(port.type) +
            npu::to_string(port.shape);
  }
  return text.empty() ? "none" : text;
}

[[noreturn]] void refuse(const std::vector<Port>& tested, const std::vector<Port>& reference) {
  throw Error(ErrorCode::kInvalidArgument,
              "the two models do not take the same inputs: " + describe(tested) + " of one, " +
                  describe(reference) + " of the reference");
}

bool has_same_values(const Port& one, const Port& other) {
  return one.type == other.type && one.shape == other.shape;
}

/// Matches by name, or by place if a name is missing.
std::vector<std::size_t> match_inputs(const std::vector<Port>& tested,
                                      const std::vector<Port>& reference) {
  std::vector<std::size_t> order;
  if (tested.size() != reference.size()) {
    refuse(tested, reference);
  }
  for (std::size_t i = 0; i < tested.size(); ++i) {
    const std::size_t found = find_port(reference, tested[i]);
    order.push_back(found == reference.size() ? i : found);
    if (!has_same_values(tested[i], reference[order.back()])) {
      refuse(tested, reference);
    }
  }
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    refuse(tested, reference);
  }
  return order;
}

std::size_t count_of(const npu::Shape& shape) {
  std::size_t count = 1;
  for (const auto dimension : shape) count *= static_cast<std::size_t>(dimension);
  return count;
}

/// Matches outputs of the same name.
std::vector<std::optional<std::size_t>> named_outputs(const std::vector<Port>& tested,
                                                      const std::vector<Port>& reference,
                                                      std::vector<bool>& taken) {
  std::vector<std::optional<std::size_t>> places(tested.size());
  for (std::size_t i = 0; i < tested.size(); ++i) {
    const std::size_t found = find_port(reference, tested[i]);
    if (found == reference.size() || taken[found]) continue;
    places[i] = found;
    taken[found] = true;
  }
  return places;
}

void check_size(const Port& tested, const Port& reference) {
  if (has_same_size(tested, reference)) return;
  throw Error(ErrorCode::kInvalidArgument,
              "the output '" + tested.name + "' " + npu::to_string(tested.shape) +
                  " has another size than the reference's '" + reference.name + "' " +
                  npu::to_string(reference.shape));
}

/// Matches by name, and the rest in order, so that each is compared once.
std::vector<MatchedOutput> match_outputs(const std::vector<Port>& tested,
                                         const std::vector<Port>& reference) {
  if (tested.size() != reference.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the two models do not have as many outputs: " + std::to_string(tested.size()) +
                    ", the reference " + std::to_string(reference.size()));
  }
  std::vector<bool> taken(reference.size());
  const auto named = named_outputs(tested, reference, taken);
  std::vector<MatchedOutput> matched;
  auto next = taken.begin();
  for (std::size_t i = 0; i < tested.size(); ++i) {
    if (!named[i]) {
      next = std::find(next, taken.end(), false);
    }
    const std::size_t place =
        named[i] ? *named[i] : static_cast<std::size_t>(next++ - taken.begin());
    check_size(tested[i], reference[place]);
    matched.push_back({i, place});
  }
  return matched;
}

std::span<std::byte> bytes_of(const npu::Tensor& tensor) {
  return {tensor.data(), tensor.size_bytes()};
}

}  // namespace

bool has_same_size(const Port& one, const Port& other) {
  return count_of(one.shape) == count_of(other.shape);
}

std::size_t find_port(const std::vector<Port>& ports, const Port& port) {
  const auto is_it = [&](const Port& other) {
    return other.answers_to(port.name) ||
           std::any_of(port.tensor_names.begin(), port.tensor_names.end(),
                       [&](const std::string& name) { return other.answers_to(name); });
  };
  return static_cast<std::size_t>(std::find_if(ports.begin(), ports.end(), is_it) - ports.begin());
}

Pair::Pair(npu::CompiledModel tested, npu::CompiledModel reference)
    : tested_(std::move(tested)),
      reference_(std::move(reference)),
      input_order_(match_inputs(tested_.inputs(), reference_.inputs())),
      tested_request_(tested_.create_request()),
      reference_request_(reference_.create_request()) {}

void Pair::match_all_outputs() {
  outputs_ = match_outputs(tested_.outputs(), reference_.outputs());
}

void Pair::run(const InputSource& inputs, std::size_t frame) {
  for (std::size_t i = 0; i < input_order_.size(); ++i) {
    const npu::Tensor tested = tested_request_.input(i);
    const npu::Tensor reference = reference_request_.input(input_order_[i]);
    const std::size_t size = tested_.inputs()[i].size_bytes();
    inputs.fill(i, bytes_of(tested), frame);
    std::memcpy(reference.data(), tested.data(), size);
  }
  tested_request_.infer();
  reference_request_.infer();
}

void Pair::measure(MatchedOutput output, DifferenceMeter& meter) {
  const auto& [tested, reference] = output;
  meter.add(values_of(tested_.outputs()[tested], tested_output(tested)),
            values_of(reference_.outputs()[reference], reference_output(reference)));
}

std::span<const std::byte> Pair::tested_output(std::size_t index) {
  return bytes_of(tested_request_.output(index));
}

std::span<const std::byte> Pair::reference_output(std::size_t index) {
  return bytes_of(reference_request_.output(index));
}

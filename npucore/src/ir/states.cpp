#include "states.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "ir/graph/constant.hpp"
#include "ir/graph/layer.hpp"
#include "ir/graph/limits.hpp"
#include "ir/graph/model_impl.hpp"

namespace npu::ir {
namespace {

using OwnBytes = std::vector<std::byte>;
constexpr std::size_t kMostBefore = 4;  // Const, Convert, Broadcast and what may stand between

pugi::xml_node in_front_of(const Document& document, pugi::xml_node layer, std::size_t input) {
  const auto port = input_port(layer, input);
  if (!port) return {};
  const auto from = document.producer(layer, port);
  return from ? document.layer(from->layer) : pugi::xml_node();
}

/// Compares the bytes with themselves shifted by one: no loop over a gigabyte.
bool is_zero(const OwnBytes& bytes) {
  return bytes.empty() || (bytes.front() == std::byte{} &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

OwnBytes repeated(const OwnBytes& bytes, std::size_t count) {
  OwnBytes all(count * bytes.size());
  std::copy_n(bytes.begin(), std::min(bytes.size(), all.size()), all.begin());
  for (std::size_t done = bytes.size(); done < all.size(); done *= 2) {
    std::memcpy(all.data() + done, all.data(), std::min(done, all.size() - done));
  }
  return all;
}

std::string element_type(pugi::xml_node constant) {
  return constant.child("data").attribute("element_type").value();
}

[[noreturn]] void fail_too_large(const Document& document) {
  document.fail(base::text("the initial values of its states have more than ", Limits::kStateBytes,
                           " bytes together"));
}

/// Limits the bytes read and made for all states. Values that turn out zero or unfit are not kept,
/// but take time.
class Budget {
 public:
  explicit Budget(const Document& document) : document_(document) {}
  void spend(std::size_t bytes) {
    if (bytes > left_) {
      fail_too_large(document_);
    }
    left_ -= bytes;
  }

 private:
  const Document& document_;
  std::size_t left_ = Limits::kStateBytes;
};

OwnBytes bytes_of(const Model::Impl& model, pugi::xml_node constant, Budget& budget) {
  const auto range = data_range(constant).value_or(DataRange{});
  const auto view = model.weights.view(range.offset, range.size_bytes);
  budget.spend(view.size());
  return {view.begin(), view.end()};
}

OwnBytes half_to_float(const OwnBytes& halves, Budget& budget) {
  budget.spend(2 * halves.size());
  OwnBytes floats;
  floats.reserve(2 * halves.size());
  for (std::size_t at = 0; at + sizeof(std::uint16_t) <= halves.size(); at += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, halves.data() + at, sizeof bits);
    const auto value = static_cast<float>(half_to_double(bits));
    const auto view = std::as_bytes(std::span(&value, 1));
    floats.insert(floats.end(), view.begin(), view.end());
  }
  return floats;
}

/// Nothing for other conversions.
OwnBytes converted(pugi::xml_node convert, pugi::xml_node constant, OwnBytes bytes,
                   Budget& budget) {
  const std::string to = convert.child("data").attribute("destination_type").value();
  if (to == element_type(constant)) return bytes;
  if (to == "f32" && element_type(constant) == "f16") return half_to_float(bytes, budget);
  return {};
}

/// Repeats one element for each place of the output; takes several only if they fill it already.
OwnBytes broadcast(const Document& document, pugi::xml_node layer, const OwnBytes& bytes,
                   Budget& budget) {
  if (is_zero(bytes)) return {};
  const auto port = layer.child("output").child("port");
  const auto bits = bit_width(precision_to_type(port.attribute("precision").value()));
  std::size_t count = 1;
  for (const auto dim : port_shape(port)) {
    if (dim < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(dim), &count)) return {};
  }
  if (bits % 8 != 0 || bits == 0) return {};
  if (count > Limits::kStateBytes / (bits / 8)) {
    fail_too_large(document);
  }
  if (bytes.size() == count * bits / 8) return bytes;
  if (bytes.size() != bits / 8) return {};
  budget.spend(count * bytes.size());
  return repeated(bytes, count);
}

/// The constant value of a layer's output; nothing if it has none that is understood here.
OwnBytes constant_value(const Model::Impl& model, pugi::xml_node layer, std::size_t steps,
                        Budget& budget) {
  const auto type = layer ? layer_type(layer) : std::string();
  if (type == "Const") return bytes_of(model, layer, budget);
  const auto before = in_front_of(model.document, layer, 0);
  if (steps == 0 || !before) return {};
  if (type == "Convert" && layer_type(before) == "Const") {
    return converted(layer, before, bytes_of(model, before, budget), budget);
  }
  if (type == "Broadcast") {
    return broadcast(model.document, layer, constant_value(model, before, steps - 1, budget),
                     budget);
  }
  return {};
}

}  // namespace

std::vector<StateValue> initial_states(const Model& model) {
  const Model::Impl& impl = impl_of(model);
  std::vector<StateValue> states;
  std::size_t bytes = 0;
  Budget budget(impl.document);
  for (auto layer : impl.document.layers_of_type("ReadValue")) {
    auto initial = constant_value(impl, in_front_of(impl.document, layer, 0), kMostBefore, budget);
    if (is_zero(initial)) {
      initial = {};
    }
    bytes += initial.size();
    if (bytes > Limits::kStateBytes) {
      fail_too_large(impl.document);
    }
    states.push_back({layer.child("data").attribute("variable_id").value(), std::move(initial)});
  }
  return states;
}

}  // namespace npu::ir

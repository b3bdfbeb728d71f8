#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/graph/layer.hpp"
#include "ir/graph/model_impl.hpp"

namespace npu::ir {

struct PictureSize {
  std::int64_t width = 0, height = 0;
};

/// The input, of a model's two, that has two numbers for each picture; the other one is an RGB
/// picture of a known size.
struct PairInput {
  std::size_t at = 0;  ///< index in the model's inputs
  PictureSize picture;
  std::size_t picture_at() const { return 1 - at; }
};

/// Finds it by its name. Nothing if the model has other inputs.
std::optional<PairInput> find_pair_input(const Model::Impl& model, const char* name);

/// Replaces the input by a constant [1, 2] of its type, and returns the constant's layer.
LayerId freeze(Model::Impl& model, const PairInput& input, std::span<const std::byte> numbers);

template <class Number>
LayerId freeze(Model::Impl& model, const PairInput& input, std::array<Number, 2> numbers) {
  return freeze(model, input, std::as_bytes(std::span(numbers)));
}

}  // namespace npu::ir

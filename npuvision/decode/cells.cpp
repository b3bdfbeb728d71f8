#include "cells.hpp"

#include <algorithm>
#include <array>

namespace npu::vision {
namespace {

std::size_t cells_of_step(InputSize input, std::size_t step) {
  return ((input.width + step - 1) / step) * ((input.height + step - 1) / step);
}

}  // namespace

std::size_t grid_cells(InputSize input) {
  return cells_of_step(input, 8) + cells_of_step(input, 16) + cells_of_step(input, 32);
}

bool are_grid_cells(std::size_t boxes, InputSize input, std::size_t anchors_per_cell) {
  const std::size_t usual = grid_cells(input);
  const std::array sums{usual, usual + cells_of_step(input, 64), usual + cells_of_step(input, 4)};
  return usual > 0 && std::any_of(sums.begin(), sums.end(),
                                  [&](std::size_t sum) { return boxes == sum * anchors_per_cell; });
}

InputSize inner_size(const Found& found) {
  const InputSize inner{found.card.inner_width.value_or(0), found.card.inner_height.value_or(0)};
  const bool is_input = inner.width == found.input.width && inner.height == found.input.height;
  const bool are_known = inner.width > 0 && inner.height > 0 && found.input.width > 0;
  return are_known && !is_input ? inner : InputSize{};
}

bool may_be_cells(std::size_t boxes, InputSize size) {
  constexpr std::size_t kAnchors = 3, kLargestStep = 128;
  for (const std::size_t finest : {4, 8}) {
    std::size_t cells = 0;
    for (std::size_t step = finest; size.width > 0 && step <= kLargestStep; step *= 2) {
      cells += cells_of_step(size, step);
      if (boxes == cells || boxes == cells * kAnchors) return true;
    }
  }
  return false;
}

bool have_cells(std::span<const TensorView> outputs, InputSize size) {
  const auto is_grid = [&](const TensorView& output, std::size_t step) {
    return has_shape(output,
                     {1, 0, (size.height + step - 1) / step, (size.width + step - 1) / step});
  };
  const auto has_grid = [&](std::size_t step) {
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const TensorView& output) { return is_grid(output, step); });
  };
  const auto has_boxes = [&](const TensorView& output) {
    return has_shape(output, {1, 0, 0}) &&
           (may_be_cells(output.dims[1], size) || may_be_cells(output.dims[2], size));
  };
  return std::any_of(outputs.begin(), outputs.end(), has_boxes) ||
         (size.width > 0 && has_grid(8) && has_grid(16) && has_grid(32));
}

}  // namespace npu::vision

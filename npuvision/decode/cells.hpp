// Cells of detectors' grids, and the size of the picture that they show.
#pragma once

#include <cstddef>
#include <span>

#include "contract.hpp"

namespace npu::vision {

/// Number of cells in grids with steps of 8, 16 and 32 pixels; 0 where the input is not known.
std::size_t grid_cells(InputSize input);
/// Whether `boxes` is the number of a detector with so many anchors a cell, on the grids above,
/// perhaps with one more of 64 or 4 pixels.
bool are_grid_cells(std::size_t boxes, InputSize input, std::size_t anchors_per_cell = 1);

/// The size to which the graph scales its picture first, by the card, where it is not the input's;
/// else not known.
InputSize inner_size(const Found& found);
/// Whether `boxes` is the number of a detector with one or three anchors a cell, on one or more
/// grids from that with 4 or 8 pixels on.
bool may_be_cells(std::size_t boxes, InputSize size);
/// Whether an output has as many boxes as such grids have cells, or is a grid of 8, 16 and 32
/// pixels, each.
bool have_cells(std::span<const TensorView> outputs, InputSize size);

}  // namespace npu::vision

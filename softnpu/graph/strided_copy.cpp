#include "strided_copy.hpp"

#include <cstring>
#include <vector>

namespace softnpu {
namespace {

// Calls `row(strided, dense_offset, bytes)` for every run of elements without a gap.
template <class Row>
void for_each_row(const Argument& argument, const ArgumentValue& value, const Row& row) {
  const ov::Shape& shape = argument.shape;
  const Strides& strides = *value.strides;
  const size_t element = argument.element_type.size();
  const size_t rank = shape.size();
  const bool whole_rows = rank != 0 && strides[0] == 1;
  const size_t outer_rank = whole_rows ? rank - 1 : rank;
  const size_t row_bytes = whole_rows ? shape[rank - 1] * element : element;
  const size_t rows = argument.size_bytes / row_bytes;
  std::vector<size_t> position(outer_rank, 0);
  for (size_t i = 0; i < rows; ++i) {
    size_t offset = 0;
    for (size_t d = 0; d < outer_rank; ++d) offset += position[d] * strides[rank - 1 - d];
    row(static_cast<std::byte*>(value.pointer) + offset * element, i * row_bytes, row_bytes);
    for (size_t d = outer_rank; d-- > 0 && ++position[d] == shape[d];) position[d] = 0;
  }
}

}  // namespace

void gather(const Argument& argument, const ArgumentValue& value, std::byte* dense) {
  for_each_row(argument, value, [dense](const std::byte* row, size_t offset, size_t bytes) {
    std::memcpy(dense + offset, row, bytes);
  });
}

void scatter(const Argument& argument, const ArgumentValue& value, const std::byte* dense) {
  for_each_row(argument, value, [dense](std::byte* row, size_t offset, size_t bytes) {
    std::memcpy(row, dense + offset, bytes);
  });
}

void zero(const Argument& argument, const ArgumentValue& value) {
  for_each_row(argument, value,
               [](std::byte* row, size_t, size_t bytes) { std::memset(row, 0, bytes); });
}

}  // namespace softnpu

#include "rows.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "../scalar.hpp"

namespace npu::vision {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity();

// NaN never wins. Compilers vectorise this form: a mask instead of a branch, a constant length, and
// arrays of one struct, which cannot overlap.
void update_from_row(BestScores& best, std::uint32_t label) {
  for (std::size_t i = 0; i < BestScores::kBlock; ++i) {
    const std::uint32_t better = best.row[i] > best.score[i] ? ~0U : 0U;
    const auto mixed = (std::bit_cast<std::uint32_t>(best.row[i]) & better) |
                       (std::bit_cast<std::uint32_t>(best.score[i]) & ~better);
    best.score[i] = std::bit_cast<float>(mixed);
    best.label[i] = (label & better) | (best.label[i] & ~better);
  }
}

// Reads row by row, in the order of memory: one class's scores lie side by side.
template <typename Scalar>
void best_by_rows(BestScores& best, const std::byte* scores, std::size_t row_stride_bytes,
                  std::size_t count, std::size_t classes) {
  best.row.fill(kNone);
  std::array<Half, BestScores::kBlock> halves = {};  // values past `count` are not used
  for (std::uint32_t label = 0; label < classes; ++label) {
    const std::byte* from = scores + label * row_stride_bytes;
    if constexpr (std::is_same_v<Scalar, float>) {
      std::memcpy(best.row.data(), from, count * sizeof(float));
    } else {
      std::memcpy(halves.data(), from, count * sizeof(Scalar));
      convert(halves, best.row);
    }
    update_from_row(best, label);
  }
}

template <typename Scalar>
BestScore best_of(const std::byte* scores, std::size_t stride_bytes, std::size_t classes) {
  BestScore best{kNone, 0};
  for (std::uint32_t label = 0; label < classes; ++label) {
    const float score = load<Scalar>(scores + label * stride_bytes);
    if (score > best.score) {
      best = {score, label};
    }
  }
  return best;
}

template <typename Scalar>
void find_best(BestScores& best, const BoxRows& rows, const std::byte* scores, std::size_t count,
               std::size_t classes) {
  if (rows.box_stride_bytes == sizeof(Scalar)) {
    return best_by_rows<Scalar>(best, scores, rows.value_stride_bytes, count, classes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const BestScore one =
        best_of<Scalar>(scores + i * rows.box_stride_bytes, rows.value_stride_bytes, classes);
    best.score[i] = one.score;
    best.label[i] = one.label;
  }
}

const std::byte* element(const BoxRows& rows, std::size_t box, std::size_t value) {
  return rows.data + box * rows.box_stride_bytes + value * rows.value_stride_bytes;
}

}  // namespace

float BoxRows::at(std::size_t box, std::size_t value) const {
  const std::byte* from = element(*this, box, value);
  return type == npu::ElementType::kF16 ? load<Half>(from) : load<float>(from);
}

BoxRows rows_of(const TensorView& tensor, bool channels_first) {
  const std::size_t box = channels_first ? 2 : 1, value = channels_first ? 1 : 2;
  return {.type = tensor.type,
          .boxes = tensor.dims[box],
          .values = tensor.dims[value],
          .box_stride_bytes = tensor.strides_bytes[box],
          .value_stride_bytes = tensor.strides_bytes[value],
          .data = tensor.data};
}

void BestScores::find(const BoxRows& rows, std::size_t first_box, std::size_t count,
                      std::size_t first_value, std::size_t classes) {
  score.fill(kNone);
  label.fill(0);
  const std::byte* scores = element(rows, first_box, first_value);
  if (rows.type == npu::ElementType::kF16) {
    find_best<Half>(*this, rows, scores, count, classes);
  } else {
    find_best<float>(*this, rows, scores, count, classes);
  }
}

BestScore best_score(const BoxRows& rows, std::size_t box, std::size_t first_value,
                     std::size_t classes) {
  const std::byte* scores = element(rows, box, first_value);
  return rows.type == npu::ElementType::kF16
             ? best_of<Half>(scores, rows.value_stride_bytes, classes)
             : best_of<float>(scores, rows.value_stride_bytes, classes);
}

}  // namespace npu::vision

#include "strides.hpp"

#include <array>
#include <cstring>
#include <limits>

#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;

[[noreturn]] void refuse(const Port& port, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument,
              text("the strides for ", base::quoted(port.name), ", ", to_string(port.type),
                   to_string(port.shape), " are invalid: ", why));
}

std::size_t element_bytes(const Port& port) {
  const std::size_t bits = bit_width(port.type);
  if (bits == 0 || bits % 8 != 0) {
    refuse(port, "its elements are not whole bytes");
  }
  return bits / 8;
}

/// A tensor with gaps: contiguous pieces, and their number along each axis, innermost first.
struct Pieces {
  std::size_t bytes;
  std::size_t rank;
  std::array<std::size_t, ze::ElementStrides{}.size()> counts, strides;
};

void copy(const Pieces& pieces, std::size_t rank, const std::byte* from, std::byte* to) {
  if (rank == 0) {
    std::memcpy(to, from, pieces.bytes);
    return;
  }
  const std::size_t axis = rank - 1;
  for (std::size_t index = 0; index < pieces.counts[axis]; ++index) {
    copy(pieces, axis, from + index * pieces.strides[axis], to + index * pieces.strides[axis]);
  }
}

}  // namespace

StridedTensor strided_tensor(const Port& port, std::span<const std::size_t> strides_bytes) {
  const std::size_t element = element_bytes(port);
  const std::size_t rank = port.shape.size();
  if (strides_bytes.size() != rank || rank > ze::ElementStrides{}.size()) {
    refuse(port, text("there are ", strides_bytes.size(), " of them, for ", rank,
                      " dimensions (at most ", ze::ElementStrides{}.size(), ')'));
  }
  ze::ElementStrides strides = {};
  bool dense = true;
  std::size_t extent = element;  // of the dimensions so far, to behind the last element
  std::size_t packed = element;
  for (std::size_t inner = 0; inner < rank; ++inner) {
    const std::size_t axis = rank - 1 - inner;
    const std::size_t stride = strides_bytes[axis];
    const auto dimension = static_cast<std::size_t>(port.shape[axis]);
    if (stride % element != 0 || stride < extent ||
        stride / element > std::numeric_limits<std::uint32_t>::max()) {
      refuse(port, text(stride, " bytes for dimension ", axis, ", whose parts have ", extent,
                        " bytes of elements of ", element));
    }
    strides[inner] = static_cast<std::uint32_t>(stride / element);
    dense = dense && (stride == packed || dimension == 1);
    packed *= dimension;
    extent += stride * (dimension - 1);
  }
  if (dense) return {std::nullopt, packed};
  return {strides, extent};
}

void copy_strided(const Port& port, const ze::ElementStrides& strides, const std::byte* from,
                  std::byte* to) {
  Pieces pieces{element_bytes(port), 0, {}, {}};
  std::size_t rank = 0;
  for (auto dimension = port.shape.rbegin(); dimension != port.shape.rend(); ++dimension, ++rank) {
    const auto count = static_cast<std::size_t>(*dimension);
    const std::size_t stride = strides[rank] * element_bytes(port);
    if (pieces.rank == 0 && stride == pieces.bytes) {
      pieces.bytes *= count;
    } else {
      pieces.counts[pieces.rank] = count;
      pieces.strides[pieces.rank++] = stride;
    }
  }
  copy(pieces, pieces.rank, from, to);
}

}  // namespace npu::internal

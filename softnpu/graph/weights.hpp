#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace softnpu {

constexpr size_t kWeightsAlignment = 64;

/// A graph's weights as the client passes them: ranges of its memory, and the place of each in the
/// native binary.
class Weights {
 public:
  Weights() = default;
  /// One range of a checked buffer.
  explicit Weights(std::span<const std::byte> bytes) { add({bytes.data(), bytes.size()}, false); }

  /// Returns the range's offset in the binary: a multiple of 64, 0 for the first. A known range by
  /// address is not added again.
  size_t add_by_address(const std::byte* address, size_t size_bytes);

  size_t size_bytes() const { return size_bytes_; }
  /// Makes the one copy of them all. Throws INVALID_ARGUMENT if a range by address cannot be read.
  void copy_to(std::byte* target) const;

 private:
  struct Range {
    const std::byte* bytes;
    size_t size_bytes;
  };
  struct Placed {
    Range range;
    size_t offset;
    bool by_address;
  };
  size_t add(Range range, bool by_address);

  std::vector<Placed> placed_;
  std::map<std::pair<uintptr_t, size_t>, size_t> by_address_;
  size_t size_bytes_ = 0;
};

}  // namespace softnpu

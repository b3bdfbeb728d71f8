// Loads floating-point elements of tensors from any address.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npu::vision {

/// IEEE 754 half precision.
struct Half {
  std::uint16_t bits;
};

inline float to_float(float value) {
  return value;
}

inline float to_float(Half value) {
  constexpr float kRebias = 0x1p112F;  // 127 - 15, exact for subnormal halves too
  const std::uint32_t magnitude = value.bits & 0x7FFFU;
  std::uint32_t bits =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * kRebias);
  if (magnitude >= 0x7C00U) {
    bits |= 0x7F800000U;  // infinity and NaN
  }
  return std::bit_cast<float>(bits | (value.bits & 0x8000U) << 16);
}

template <typename Scalar>
float load(const std::byte* from) {
  Scalar value;
  std::memcpy(&value, from, sizeof(value));
  return to_float(value);
}

}  // namespace npu::vision

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#define NPU_API __attribute__((visibility("default")))

/// Parts of the classes below; only the library itself knows more.
namespace npu::internal {
struct Pimpl;
struct Allocation;
struct KeptBuffer;
}  // namespace npu::internal

namespace npu {

// clang-format off
enum class ElementType {
  kUnknown, kBoolean, kBF16, kF16, kF32, kF64, kI4, kI8, kI16, kI32, kI64, kU1, kU2, kU4, kU8, kU16,
  kU32, kU64, kNF4, kF8E4M3, kF8E5M2, kF8E8M0, kString
};
// clang-format on
NPU_API const char* to_string(ElementType type);  ///< as OpenVINO spells it: "f32", "u8", ...
/// Bits of one element; 0 for kUnknown and kString.
NPU_API std::size_t bit_width(ElementType type);

/// An element of f16, IEEE 754's half precision.
struct Half {
  std::uint16_t bits = 0;
  operator float() const {               // here, and without a branch, for loops over many
    constexpr float kRebias = 0x1p112F;  // 127 - 15, exact for subnormal halves too
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0U;  // infinity and NaN
    const auto same = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << 13) * kRebias);
    return std::bit_cast<float>(same | special | (bits & 0x8000U) << 16);
  }
};
/// An element of bf16, the upper half of a float.
struct Bfloat16 {
  std::uint16_t bits = 0;
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
/// Converts all elements. Floats are rounded to the nearest, halfway to the even one; too large
/// ones become infinity, and NaN stays NaN. Throws Error(kInvalidArgument) for spans of two sizes.
NPU_API void convert(std::span<const Half> from, std::span<float> to);
NPU_API void convert(std::span<const Bfloat16> from, std::span<float> to);
NPU_API void convert(std::span<const float> from, std::span<Half> to);
NPU_API void convert(std::span<const float> from, std::span<Bfloat16> to);

/// The type of elements that C++ has as T, such as kF32 for float; kUnknown if there is none.
template <class T>
constexpr ElementType element_type_of() {
  using enum ElementType;
  if (std::is_same_v<T, float>) return kF32;
  if (std::is_same_v<T, double>) return kF64;
  if (std::is_same_v<T, Half>) return kF16;
  if (std::is_same_v<T, Bfloat16>) return kBF16;
  if (std::is_same_v<T, bool>) return kBoolean;
  constexpr ElementType kOfSize[] = {kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64};
  if (!std::is_integral_v<T> || sizeof(T) > 8) return kUnknown;
  return kOfSize[2 * std::countr_zero(sizeof(T)) + (std::is_signed_v<T> ? 0 : 1)];
}

/// Dimensions, outermost first. -1 is a dynamic dimension.
using Shape = std::vector<std::int64_t>;
NPU_API std::string to_string(const Shape& shape);  ///< "[1,3,224,224]"; "?": a dynamic dimension

/// One input or output of a model.
struct NPU_API Port {
  std::string name;                       ///< the layer's friendly name
  std::vector<std::string> tensor_names;  ///< the names that OpenVINO users know; may be empty
  ElementType type = ElementType::kUnknown;
  Shape shape;
  /// Bytes of a dense tensor of this port, rounded up to whole bytes. Throws for a dynamic shape.
  std::size_t size_bytes() const;
  /// Whether this is the port's name or one of its tensor names.
  bool answers_to(const std::string& name_or_tensor_name) const;
};

}  // namespace npu

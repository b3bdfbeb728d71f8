#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
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

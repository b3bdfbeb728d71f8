#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <npucore/export.hpp>

namespace npu {

enum class ElementType {
  kUnknown,
  kBoolean,
  kBF16,
  kF16,
  kF32,
  kF64,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU1,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kNF4,
  kF8E4M3,
  kF8E5M2,
  kF8E8M0,
  kString,
};

/// The OpenVINO spelling: "f32", "u8", ...
NPU_API const char* to_string(ElementType type);
/// Bits of one element; 0 for kUnknown and kString.
NPU_API std::size_t bit_width(ElementType type);

/// Dimensions, outermost first. -1 is a dynamic dimension.
using Shape = std::vector<std::int64_t>;

/// "[1,3,224,224]", with "?" for a dynamic dimension.
NPU_API std::string to_string(const Shape& shape);

/// One input or output of a model.
struct NPU_API Port {
  std::string name;                       ///< the layer's friendly name
  std::vector<std::string> tensor_names;  ///< what OpenVINO users call it by; may be empty
  ElementType type = ElementType::kUnknown;
  Shape shape;

  /// Bytes of a dense tensor of this port, rounded up to whole bytes. Throws for a dynamic shape.
  std::size_t size_bytes() const;
  /// Whether `name_or_tensor_name` is this port's name or one of its tensor names.
  bool answers_to(const std::string& name_or_tensor_name) const;
};

}  // namespace npu

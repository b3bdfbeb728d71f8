#include <algorithm>
#include <array>
#include <limits>

#include <npucore/error.hpp>
#include <npucore/types.hpp>

#include "enum_names.hpp"
#include "text.hpp"

namespace npu {
namespace {

struct TypeRow {
  ElementType type;
  const char* name;
  std::size_t bits;
};

constexpr std::array kTypes = {
    TypeRow{ElementType::kUnknown, "unknown", 0}, TypeRow{ElementType::kBoolean, "boolean", 8},
    TypeRow{ElementType::kBF16, "bf16", 16},      TypeRow{ElementType::kF16, "f16", 16},
    TypeRow{ElementType::kF32, "f32", 32},        TypeRow{ElementType::kF64, "f64", 64},
    TypeRow{ElementType::kI4, "i4", 4},           TypeRow{ElementType::kI8, "i8", 8},
    TypeRow{ElementType::kI16, "i16", 16},        TypeRow{ElementType::kI32, "i32", 32},
    TypeRow{ElementType::kI64, "i64", 64},        TypeRow{ElementType::kU1, "u1", 1},
    TypeRow{ElementType::kU2, "u2", 2},           TypeRow{ElementType::kU4, "u4", 4},
    TypeRow{ElementType::kU8, "u8", 8},           TypeRow{ElementType::kU16, "u16", 16},
    TypeRow{ElementType::kU32, "u32", 32},        TypeRow{ElementType::kU64, "u64", 64},
    TypeRow{ElementType::kNF4, "nf4", 4},         TypeRow{ElementType::kF8E4M3, "f8e4m3", 8},
    TypeRow{ElementType::kF8E5M2, "f8e5m2", 8},   TypeRow{ElementType::kF8E8M0, "f8e8m0", 8},
    TypeRow{ElementType::kString, "string", 0},
};

const TypeRow& row_of(ElementType type) {
  for (const auto& row : kTypes) {
    if (row.type == type) return row;
  }
  return kTypes[0];
}

[[noreturn]] void fail_size(const Port& port, const char* why) {
  throw Error(ErrorCode::kInvalidArgument,
              base::text("port ", base::quoted(port.name), ' ', to_string(port.type),
                         to_string(port.shape), ' ', why));
}

}  // namespace

const char* to_string(ElementType type) {
  return row_of(type).name;
}

std::size_t bit_width(ElementType type) {
  return row_of(type).bits;
}

std::string to_string(const Shape& shape) {
  std::vector<std::string> dims;
  for (const auto dim : shape) dims.push_back(dim < 0 ? "?" : std::to_string(dim));
  return base::text('[', base::join(dims, ","), ']');
}

std::size_t Port::size_bytes() const {
  const std::size_t bits = bit_width(type);
  if (bits == 0) {
    fail_size(*this, "has no fixed element size");
  }
  std::size_t total_bits = bits;
  for (const auto dim : shape) {
    if (dim < 0) {
      fail_size(*this, "has a dynamic dimension, so it has no fixed size in bytes");
    }
    if (__builtin_mul_overflow(total_bits, static_cast<std::size_t>(dim), &total_bits) ||
        total_bits > std::numeric_limits<std::size_t>::max() - 7) {
      fail_size(*this, "is larger than the address space");
    }
  }
  return (total_bits + 7) / 8;
}

bool Port::answers_to(const std::string& name_or_tensor_name) const {
  return name == name_or_tensor_name || std::find(tensor_names.begin(), tensor_names.end(),
                                                  name_or_tensor_name) != tensor_names.end();
}

namespace base {

ElementType element_type_from_string(std::string_view name) {
  const std::string wanted = lower(std::string(name));
  for (const auto& row : kTypes) {
    if (wanted == row.name) return row.type;
  }
  return ElementType::kUnknown;
}

}  // namespace base
}  // namespace npu

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <npucore/error.hpp>
#include <npucore/types.hpp>

#include "text.hpp"

namespace npu::base {

template <class Enum>
struct EnumName {
  Enum value;
  const char* name;
};

template <class Enum, std::size_t N>
const char* name_of(const std::array<EnumName<Enum>, N>& names, Enum value) {
  for (const auto& entry : names) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

/// The value of the row, an EnumName or one that tells more, with this name. Throws
/// Error(kInvalidArgument) that lists the valid names; `what` is the kind of thing: "pixel format".
template <class Row, std::size_t N>
auto value_of(const std::array<Row, N>& names, std::string_view name, std::string_view what) {
  std::vector<const char*> valid;
  for (const auto& entry : names) {
    if (name == entry.name) return entry.value;
    valid.push_back(entry.name);
  }
  throw Error(ErrorCode::kInvalidArgument,
              text(quoted(name), " is not a ", what, ": use one of ", join(valid, ", ")));
}

/// The inverse of to_string(ElementType), in any letter case; kUnknown for a name that it does not
/// know.
ElementType element_type_from_string(std::string_view name);

}  // namespace npu::base

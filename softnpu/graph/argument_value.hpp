// The value set for an argument: an address and, if asked for, strides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "arguments.hpp"

namespace softnpu {

/// Strides in elements, the innermost dimension's first; entries past the argument's rank are
/// ignored.
using Strides = std::array<uint32_t, ZE_MAX_GRAPH_ARGUMENT_DIMENSIONS_SIZE>;

struct ArgumentValue {
  void* pointer = nullptr;  ///< null: not set
  std::optional<Strides> strides;
};

/// Throws INVALID_ARGUMENT for an argument that was not compiled for strides, and for strides that
/// make elements overlap.
void check_strides(const Argument& argument, const Strides& strides);

/// pfnSetArgumentValue2: drops the value's strides, then takes the links of `chain`, an address or
/// strides each. Throws INVALID_NULL_POINTER for a null, INVALID_ARGUMENT for any other link.
void take_chain(const Argument& argument, const void* chain, ArgumentValue& value);

/// The bytes from the first element's beginning to the last one's end.
size_t extent_bytes(const Argument& argument, const ArgumentValue& value);

}  // namespace softnpu

// Copies between a dense tensor and one with gaps between its rows.
#pragma once

#include <cstddef>

#include "argument_value.hpp"

namespace softnpu {

/// `value` has strides; `dense` holds the argument's size_bytes.
void gather(const Argument& argument, const ArgumentValue& value, std::byte* dense);
void scatter(const Argument& argument, const ArgumentValue& value, const std::byte* dense);
void zero(const Argument& argument, const ArgumentValue& value);

}  // namespace softnpu

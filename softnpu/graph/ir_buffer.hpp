// The in-memory form of an IR that a client hands to the driver: compiler version (two u16), number
// of parts (u32, 2), then size (u64) and bytes of the XML, and size and bytes of the weights;
// nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/version.hpp"

#include "weights.hpp"

namespace softnpu {

struct IrBuffer {
  std::string_view xml;
  std::span<const std::byte> weights;
};

/// Returns views of `buffer`. Throws UNSUPPORTED_FEATURE if a length does not fit, or the buffer
/// was written for another compiler version.
IrBuffer read_ir_buffer(std::span<const std::byte> buffer, CompilerVersion compiler);

/// Makes a buffer for this compiler version. Throws as Weights::copy_to() does.
std::string write_ir_buffer(std::string_view xml, const Weights& weights, CompilerVersion compiler);

}  // namespace softnpu

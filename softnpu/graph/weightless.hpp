// The in-memory form of an IR whose constants stay in place:
// NPU_MODEL_SERIALIZER_VERSION="NO_WEIGHTS_COPY".
//
//   six u64: offset and size of the custom data, of the constants and of the XML, from the buffer's
//   beginning | custom data: the compiler version, two u16 | constants that are copied | XML
//
// A Const whose rt_info has an attribute "WeightsPointerAttribute" lies at the address `mp` of this
// process and has `ms` bytes; its own offset and size are 0. Any other Const lies in the constants.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/version.hpp"

#include "weights.hpp"

namespace softnpu {

struct WeightlessIr {
  std::string xml;  ///< its Consts refer to `weights`, none has an address
  Weights weights;
};

/// `weights` refers to the buffer and to the client's memory. Throws UNSUPPORTED_FEATURE for
/// another compiler version or a section outside of the buffer, INVALID_ARGUMENT if the XML or a
/// constant cannot be right.
WeightlessIr read_weightless(std::span<const std::byte> buffer, CompilerVersion compiler);

}  // namespace softnpu

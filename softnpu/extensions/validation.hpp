// Checks that Intel's driver makes only when the validation layer and its parameter checks are both
// on.
#pragma once

#include <cstdint>

namespace softnpu {

/// Throws INVALID_ARGUMENT if the checks are on and `stype` is not `expected`.
void check_stype(uint32_t stype, uint32_t expected);

}  // namespace softnpu

// Objects destroyed while a job uses them: with Intel's driver the process crashes, or the device
// accesses memory that belongs to somebody else by then.
#pragma once

#include <cstdint>
#include <string>

namespace softnpu {

/// Counts the object and adds `early_destroy` to the call's trace line: "<what> while it is used by
/// <job>". With SOFTNPU_STRICT=1 it also prints that to stderr and ends the process.
void report_early_destroy(const std::string& what, const std::string& job);

/// The number of reports since the process began.
uint64_t early_destroys();

}  // namespace softnpu

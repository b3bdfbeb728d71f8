// What is destroyed while a job uses it: Intel's driver crashes then, or the device reads and
// writes memory that is somebody else's by now.
#pragma once

#include <cstdint>
#include <string>

namespace softnpu {

/// Counts it and adds `early_destroy` to the call's trace line: "<what> while it is used by <job>".
/// With SOFTNPU_STRICT=1 it also says so on stderr and ends the process.
void report_early_destroy(const std::string& what, const std::string& job);

/// How many were reported since the process began.
uint64_t early_destroys();

}  // namespace softnpu

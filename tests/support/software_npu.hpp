// The software NPU's own functions for tests, in a process that has opened it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace npu::test {

/// Makes driver calls fail from now on ("<call>:<result>@<n>"; empty: none), and counts from 0.
void set_fault(const std::string& specification);

/// How often each driver call was made since set_fault, or since the process began.
std::map<std::string, std::uint64_t> driver_call_counts();

/// How many of its objects are alive.
std::uint32_t live_driver_objects();
/// Whether so many are alive within half a minute: the driver's engine lets go of a finished job
/// shortly after it has signalled the fence.
bool driver_objects_settle_at(std::uint32_t objects);
/// Objects alive in the driver, one line a kind.
std::string describe_live_objects();

}  // namespace npu::test

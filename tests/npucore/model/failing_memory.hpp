// The allocations of libnpucore in this process, by new and by malloc: counted, made to fail, and
// looked for where they were not freed. Those of the driver and of OpenVINO are left alone. In a
// program of its own, as it stands in front of libc.
#pragma once

#include <cstdint>

namespace npu::test {

enum class Refused { kOnce, kFromThere };
/// From now on the `nth` allocation of libnpucore fails, or it and all after it; 0: none does.
void fail_allocation(std::uint64_t nth, Refused refused = Refused::kOnce);
/// How many it has made since.
std::uint64_t allocations();
/// How many of those that it has ever made while counting are not freed yet.
std::int64_t live_allocations();

}  // namespace npu::test

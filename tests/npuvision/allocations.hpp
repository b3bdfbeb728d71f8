// How often this program asked the heap for memory.
#pragma once

#include <cstddef>

namespace npu::vision {

/// Allocations of this thread by operator new, since it began.
std::size_t allocations();

}  // namespace npu::vision

#include "allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t count = 0;
}  // namespace

namespace npu::vision {

std::size_t allocations() {
  return count;
}

}  // namespace npu::vision

// Arrays' forms call these, but where AddressSanitizer has its own. That has its own of the form
// without exceptions too, whose memory operator delete below would not know.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  return std::malloc(size > 0 ? size : 1);
}

void* operator new(std::size_t size) {
  if (void* memory = ::operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

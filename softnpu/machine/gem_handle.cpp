#include "gem_handle.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <new>

#include "base/failure.hpp"

namespace softnpu {
namespace {

// In memory that a fork does not copy. More handles at a time count as out of device memory, as in
// the kernel, which has 65535 buffers for a job.
struct Table {
  std::atomic<uint64_t> last_number;
  std::array<std::atomic<uint64_t>, 65535> open;  // 0: free
};

Table& table() {
  static Table* const shared = [] {
    void* const memory =
        ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return new (memory) Table;
  }();
  return *shared;
}

}  // namespace

GemHandle::GemHandle() : number_(++table().last_number) {
  auto& slots = table().open;
  for (size_t i = 0; i < slots.size(); ++i) {
    slot_ = (number_ + i) % slots.size();
    uint64_t expected = 0;
    if (slots[slot_].compare_exchange_strong(expected, number_)) return;
  }
  throw Failure(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "65535 pieces of device memory are in use");
}

bool GemHandle::open() const {
  return table().open[slot_].load(std::memory_order_acquire) == number_;
}

void GemHandle::close() {
  uint64_t expected = number_;
  table().open[slot_].compare_exchange_strong(expected, 0);
}

}  // namespace softnpu

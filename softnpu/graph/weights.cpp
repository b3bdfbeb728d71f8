#include "weights.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "base/failure.hpp"

namespace softnpu {
namespace {

[[noreturn]] void refuse_unreadable(const std::byte* address, size_t size_bytes, size_t readable) {
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                "weights by address: of " + std::to_string(size_bytes) + " bytes at " +
                    std::to_string(reinterpret_cast<uintptr_t>(address)) + " only " +
                    std::to_string(readable) + " can be read");
}

// Copies by a system call, which reports a wrong address or a mapped file that has become shorter.
void copy_checked(std::byte* target, const std::byte* address, size_t size_bytes) {
  size_t done = 0;
  while (done < size_bytes) {
    const iovec to{target + done, size_bytes - done};
    const iovec from{const_cast<std::byte*>(address) + done, size_bytes - done};
    const ssize_t copied = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (copied > 0) {
      done += static_cast<size_t>(copied);
    } else if (copied < 0 && (errno == EPERM || errno == ENOSYS)) {
      // The sandbox lacks that call: copy unchecked, like the real compiler.
      std::memcpy(target + done, address + done, size_bytes - done);
      return;
    } else {
      refuse_unreadable(address, size_bytes, done);
    }
  }
}

}  // namespace

size_t Weights::add(Range range, bool by_address) {
  const size_t offset =
      (size_bytes_ + kWeightsAlignment - 1) / kWeightsAlignment * kWeightsAlignment;
  if (range.size_bytes > SIZE_MAX / 4 || offset > SIZE_MAX / 4) throw std::bad_alloc();
  placed_.push_back({range, offset, by_address});
  size_bytes_ = offset + range.size_bytes;
  return offset;
}

size_t Weights::add_by_address(const std::byte* address, size_t size_bytes) {
  const auto [known, is_new] =
      by_address_.try_emplace({reinterpret_cast<uintptr_t>(address), size_bytes}, 0);
  if (is_new) {
    known->second = add({address, size_bytes}, true);
  }
  return known->second;
}

void Weights::copy_to(std::byte* target) const {
  for (const Placed& placed : placed_) {
    if (placed.range.size_bytes == 0) continue;
    if (placed.by_address) {
      copy_checked(target + placed.offset, placed.range.bytes, placed.range.size_bytes);
    } else {
      std::memcpy(target + placed.offset, placed.range.bytes, placed.range.size_bytes);
    }
  }
}

}  // namespace softnpu

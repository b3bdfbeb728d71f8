#pragma once

#include <cstddef>
#include <cstdint>

namespace npu::test {

/// Copies of 4 KiB or more of one kind.
struct CopyCount {
  static constexpr std::size_t kNameBytes = 96;
  char caller[kNameBytes];    ///< file name of the library or program that called memcpy or alike
  char asked_by[kNameBytes];  ///< the same, or who asked libc, libstdc++ or GStreamer's core for it
  std::uint64_t calls;
  std::uint64_t bytes;
  std::uint64_t largest_bytes;
};

}  // namespace npu::test

extern "C" {
// Of the preloaded library; null where it is not preloaded.
[[gnu::weak]] void npu_copy_counter_count(bool on);
[[gnu::weak]] void npu_copy_counter_reset();
[[gnu::weak]] std::size_t npu_copy_counter_read(npu::test::CopyCount* to, std::size_t most);
}

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

// Functions of the preloaded library, found with dlsym(): a linker may make a weak symbol null.
using CountCopies = void(bool on);
using ResetCopies = void();
using ReadCopies = std::size_t(CopyCount* to, std::size_t most);

}  // namespace npu::test

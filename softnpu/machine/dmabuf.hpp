// Helpers for DMA-BUF file descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/unique_fd.hpp"

namespace softnpu::dmabuf {

/// A buffer's identity: the same for all descriptors of one buffer, in every process, as long as it
/// lives.
struct Identity {
  uint64_t device;
  uint64_t inode;
  auto operator<=>(const Identity&) const = default;
};

std::optional<Identity> identity(int fd);
/// True for a DMA-BUF proper; false for a memfd, a file or a closed descriptor.
bool is_dmabuf(int fd);
bool is_memfd(int fd);
/// The buffer's size in bytes; nothing if the descriptor has none.
std::optional<size_t> size_bytes(int fd);

/// Brackets the CPU's access to a DMA-BUF; the software NPU accesses it by the CPU.
void begin_access(int fd);
void end_access(int fd);

/// A new DMA-BUF of whole pages, from udmabuf or the system heap; empty if neither can be opened or
/// has room.
UniqueFd make_dmabuf(size_t size_bytes);
/// A new memfd of whole pages.
UniqueFd make_memfd(size_t size_bytes);

}  // namespace softnpu::dmabuf

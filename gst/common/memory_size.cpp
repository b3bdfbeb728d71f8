#include "memory_size.hpp"

#include <gst/allocators/gstfdmemory.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

/// Bytes behind a descriptor; 0 if it is not open; nullopt for a device without a size.
std::optional<gsize> bytes_behind(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0) return static_cast<gsize>(status.st_size);
  // Seeking to the end gives a DMA-BUF's size on every kernel.
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end <= 0 && !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<gsize>(MAX(end, 0));
}

}  // namespace

void require_bytes(GstMemory* memory, gsize end) {
  if (!gst_is_fd_memory(memory)) return;
  const int fd = gst_fd_memory_get_fd(memory);
  const gsize needed = memory->offset + end;
  const std::optional<gsize> there = bytes_behind(fd);
  if (!there || needed <= *there) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "a frame needs " + std::to_string(needed) + " bytes of file descriptor " +
                       std::to_string(fd) + ", which " +
                       (*there == 0 ? "is closed or empty" : "has " + std::to_string(*there)) +
                       "; the element in front sends buffers that do not hold what they claim");
}

void require_bytes(GstBuffer* buffer, guint index, guint length, gsize end) {
  for (guint i = index; i < index + length; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    require_bytes(memory, length == 1 ? end : memory->size);
  }
}

void require_bytes(GstBuffer* buffer) {
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    require_bytes(memory, memory->size);
  }
}

}  // namespace gstnpu

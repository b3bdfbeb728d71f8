#include "plane_mapping.hpp"

#include <gst/allocators/gstfdmemory.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

/// Bytes behind a descriptor; 0 for what is no open one, nothing for a device that has no size.
std::optional<gsize> bytes_behind(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0) return static_cast<gsize>(status.st_size);
  // A DMA-BUF tells its size by its end on every kernel.
  const off_t end = lseek(fd, 0, SEEK_END);
  if (end <= 0 && !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<gsize>(MAX(end, 0));
}

/// A memory may claim more than its descriptor has: reading that would end the process. `end`
/// counts from the descriptor's begin.
void require_bytes(GstMemory* memory, gsize end) {
  if (!gst_is_fd_memory(memory)) return;
  const int fd = gst_fd_memory_get_fd(memory);
  const std::optional<gsize> there = bytes_behind(fd);
  if (!there || end <= *there) return;
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "a frame needs " + std::to_string(end) + " bytes of file descriptor " +
                       std::to_string(fd) + ", which " +
                       (*there == 0 ? "is closed or empty" : "has " + std::to_string(*there)) +
                       "; the element in front sends buffers that do not hold what they claim");
}

/// Several memories are mapped as one copy of all of them.
void require_bytes(GstBuffer* buffer, guint index, guint length, gsize end_in_first) {
  GstMemory* first = gst_buffer_peek_memory(buffer, index);
  if (length == 1) return require_bytes(first, first->offset + end_in_first);
  for (guint i = index; i < index + length; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    require_bytes(memory, memory->offset + memory->size);
  }
}

}  // namespace

PlaneMapping::PlaneMapping(const PlaneSpan& span, GstBuffer* buffer) : buffer_(buffer) {
  const gsize reach = static_cast<gsize>(std::abs(span.stride_bytes)) * (span.rows - 1);
  const gsize up = span.stride_bytes < 0 ? reach : 0;
  const gsize first = span.offset + span.crop_left_bytes;
  const gsize needed = reach + span.row_bytes;
  guint index = 0, length = 0;
  gsize skip = 0;
  if (first < up || !gst_buffer_find_memory(buffer, first - up, needed, &index, &length, &skip)) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "a buffer of " + std::to_string(gst_buffer_get_size(buffer)) +
                         " bytes ends inside a plane of " + std::to_string(needed) +
                         " bytes that starts at " + std::to_string(span.offset) +
                         "; the element in front sends frames that do not fit its caps");
  }
  require_bytes(buffer, index, length, skip + needed);
  if (!gst_buffer_map_range(buffer, index, static_cast<gint>(length), &info_, GST_MAP_READ)) {
    throw npu::Error(npu::ErrorCode::kIo,
                     "a frame's memory cannot be mapped for reading; let the element in front "
                     "send memory that the CPU can read, or DMA-BUFs");
  }
  first_row_ = info_.data + skip + up;
}

}  // namespace gstnpu

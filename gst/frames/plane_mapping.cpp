#include "plane_mapping.hpp"

#include <cstdlib>
#include <string>

#include <npucore/error.hpp>

#include "common/memory_size.hpp"

namespace gstnpu {
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

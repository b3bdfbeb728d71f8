// A plane of a frame, mapped for the CPU.
#pragma once

#include <gst/gst.h>

#include "frame_description.hpp"

namespace gstnpu {

/// Maps the visible rows of a plane for reading. Borrows `buffer`.
class PlaneMapping {
 public:
  /// Throws npu::Error where the buffer is shorter than its metadata say, or cannot be mapped.
  PlaneMapping(const PlaneSpan& span, GstBuffer* buffer);
  ~PlaneMapping() { gst_buffer_unmap(buffer_, &info_); }
  PlaneMapping(const PlaneMapping&) = delete;
  PlaneMapping& operator=(const PlaneMapping&) = delete;

  /// The first visible sample of the first visible row. Rows may be stored upside down: then this
  /// is where the last stored row starts.
  const guint8* first_row() const { return first_row_; }

 private:
  GstBuffer* const buffer_;
  GstMapInfo info_ = GST_MAP_INFO_INIT;
  const guint8* first_row_ = nullptr;
};

}  // namespace gstnpu

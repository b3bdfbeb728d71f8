#include "video_frame.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

bool holds_component(const GstVideoFrame& frame, guint component) {
  const gint64 width = GST_VIDEO_FRAME_COMP_WIDTH(&frame, component);
  const gint64 height = GST_VIDEO_FRAME_COMP_HEIGHT(&frame, component);
  if (width < 1 || height < 1) return true;
  const GstMapInfo& map = frame.map[GST_VIDEO_FRAME_COMP_PLANE(&frame, component)];
  const gint64 begin =
      static_cast<const guint8*>(GST_VIDEO_FRAME_COMP_DATA(&frame, component)) - map.data;
  const gint64 last_row = (height - 1) * GST_VIDEO_FRAME_COMP_STRIDE(&frame, component);
  const gint64 row = (width - 1) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, component) + 1;
  return begin + std::min<gint64>(last_row, 0) >= 0 &&
         begin + std::max<gint64>(last_row, 0) + row <= static_cast<gint64>(map.size);
}

}  // namespace

bool holds_all_rows(const GstVideoFrame& frame) {
  for (guint i = 0; i < GST_VIDEO_FRAME_N_COMPONENTS(&frame); ++i) {
    if (!holds_component(frame, i)) return false;
  }
  return true;
}

}  // namespace gstnpu

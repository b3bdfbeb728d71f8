#include "wall_clock.hpp"

#include <optional>

namespace gstnpu {
namespace {

constexpr guint64 kNsPerSecond = GST_SECOND;
constexpr guint64 kFrom1900To1970 = guint64{2208988800} * kNsPerSecond;

std::optional<guint64> since_1970(const GstReferenceTimestampMeta& meta) {
  if (!GST_CLOCK_TIME_IS_VALID(meta.timestamp)) return std::nullopt;
  const GstStructure* reference = gst_caps_get_structure(meta.reference, 0);
  if (gst_structure_has_name(reference, "timestamp/x-unix")) return meta.timestamp;
  const bool is_ntp = gst_structure_has_name(reference, "timestamp/x-ntp");
  if (!is_ntp || meta.timestamp < kFrom1900To1970) return std::nullopt;
  return meta.timestamp - kFrom1900To1970;
}

std::optional<guint64> reference_of(GstBuffer* buffer) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          GST_REFERENCE_TIMESTAMP_META_API_TYPE)) {
    if (const auto time = since_1970(*reinterpret_cast<GstReferenceTimestampMeta*>(meta))) {
      return time;
    }
  }
  return std::nullopt;
}

/// Nanoseconds, below zero for a frame that came before its time; 0 where nothing tells.
gint64 age_of(GstBuffer* buffer, const GstSegment& segment, GstElement* element) {
  if (segment.format != GST_FORMAT_TIME) return 0;
  const GstClockTime taken =
      gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  const GstClockTime now = gst_element_get_current_running_time(element);
  if (!GST_CLOCK_TIME_IS_VALID(taken) || !GST_CLOCK_TIME_IS_VALID(now)) return 0;
  return GST_CLOCK_DIFF(taken, now);
}

}  // namespace

std::string format_wall_clock(guint64 nanoseconds) {
  GDateTime* seconds =
      g_date_time_new_from_unix_utc(static_cast<gint64>(nanoseconds / kNsPerSecond));
  if (!seconds) return {};
  GDateTime* time =
      g_date_time_add(seconds, static_cast<GTimeSpan>(nanoseconds % kNsPerSecond / 1000));
  gchar* text = g_date_time_format(time, "%Y-%m-%dT%H:%M:%S.%fZ");
  std::string formatted(text ? text : "");
  g_free(text);
  g_date_time_unref(time);
  g_date_time_unref(seconds);
  return formatted;
}

std::string wall_clock_of(GstBuffer* buffer, const GstSegment& segment, GstElement* element) {
  if (const auto reference = reference_of(buffer)) return format_wall_clock(*reference);
  const gint64 taken = g_get_real_time() - age_of(buffer, segment, element) / 1000;
  return format_wall_clock(static_cast<guint64>(MAX(taken, 0)) * 1000);
}

}  // namespace gstnpu

#include "wall_clock.hpp"

#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

constexpr guint64 kNsPerSecond = GST_SECOND;
constexpr guint64 kFrom1900To1970 = guint64{2208988800} * kNsPerSecond;

std::optional<guint64> reference_of(GstBuffer* buffer) {
  for (const auto& [name, begin] :
       {std::pair("timestamp/x-unix", guint64{0}), std::pair("timestamp/x-ntp", kFrom1900To1970)}) {
    const CapsRef caps(gst_caps_new_empty_simple(name));
    const auto* meta = gst_buffer_get_reference_timestamp_meta(buffer, caps.get());
    if (meta == nullptr || !GST_CLOCK_TIME_IS_VALID(meta->timestamp)) continue;
    if (meta->timestamp >= begin) return meta->timestamp - begin;
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

/// `nanoseconds` since 1970.
std::string format_wall_clock(guint64 nanoseconds) {
  const auto seconds = static_cast<std::time_t>(nanoseconds / kNsPerSecond);
  const guint64 microseconds = nanoseconds % kNsPerSecond / 1000;
  std::tm utc{};
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", ::gmtime_r(&seconds, &utc));
  return text.data() + std::to_string(1'000'000 + microseconds).substr(1) + "Z";
}

}  // namespace

std::string wall_clock_of(GstBuffer* buffer, const GstSegment& segment, GstElement* element) {
  if (const auto reference = reference_of(buffer)) return format_wall_clock(*reference);
  const gint64 taken = g_get_real_time() - age_of(buffer, segment, element) / 1000;
  return format_wall_clock(static_cast<guint64>(MAX(taken, 0)) * 1000);
}

}  // namespace gstnpu

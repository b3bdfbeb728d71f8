#include "stream.hpp"

#include <utility>

#include "common/bus.hpp"
#include "common/frame_stream.hpp"
#include "common/refs.hpp"

#include "frame_json.hpp"

namespace gstnpu {
namespace {

std::unique_ptr<Sink> sink_for(const PublishSettings& settings, Ledger& ledger) {
  return open_sink(
      settings.location,
      {.append = settings.append,
       .broker = read_broker_config(settings.broker_config_file, settings.broker_config),
       .stream_id = settings.stream_id},
      ledger);
}

std::optional<std::uint64_t> stream_time_of(GstBuffer* buffer, const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME) return std::nullopt;
  const guint64 time =
      gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  return time != GST_CLOCK_TIME_NONE ? std::optional(time) : std::nullopt;
}

// ---- The clock on the wall

std::optional<guint64> reference_of(GstBuffer* buffer) {
  constexpr guint64 kFrom1900To1970 = guint64{2208988800} * GST_SECOND;
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

/// As RFC 3339 has it, in UTC. `nanoseconds` since 1970.
std::string format_wall_clock(guint64 nanoseconds) {
  const auto microseconds = static_cast<gint64>(nanoseconds / 1000);
  g_autoptr(GDateTime) epoch = g_date_time_new_from_unix_utc(0);
  g_autoptr(GDateTime) time = g_date_time_add(epoch, microseconds);
  return TextRef(g_date_time_format(time, "%Y-%m-%dT%H:%M:%S.%fZ")).get();
}

/// When the frame was taken: what a GstReferenceTimestampMeta says (NTP of an RTP source, Unix
/// time, a GstUtcClock), else the time of this machine, less what has passed since the frame's
/// running time.
std::string wall_clock_of(GstBuffer* buffer, const GstSegment& segment, GstElement* element) {
  if (const auto reference = reference_of(buffer)) return format_wall_clock(*reference);
  const gint64 taken = g_get_real_time() - age_of(buffer, segment, element) / 1000;
  return format_wall_clock(static_cast<guint64>(MAX(taken, 0)) * 1000);
}

}  // namespace

PublishStream::PublishStream(GstElement* element, PublishSettings settings)
    : element_(element),
      settings_(std::move(settings)),
      publisher_([this](Ledger& ledger) { return sink_for(settings_, ledger); },
                 {.policy = settings_.policy,
                  .most_lines = settings_.queue_size,
                  .target = describe_location(settings_.location)},
                 [element](const std::string& text) { post_warning(element, text); }) {
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
}

void PublishStream::follow(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      frame_size_ = frame_size_in(gst_caps_get_structure(caps, 0));
      return;
    }
    case GST_EVENT_SEGMENT:
      return gst_event_copy_segment(event, &segment_);
    case GST_EVENT_EOS:
      return drain();
    case GST_EVENT_FLUSH_START:
      return publisher_.interrupt();
    case GST_EVENT_FLUSH_STOP:
      return publisher_.resume();
    default:
      return;
  }
}

std::string PublishStream::line_of(GstBuffer* buffer) {
  FrameRecord record = read_frame(buffer, frame_size_, settings_.tensors);
  record.frame = frames_++;
  record.stream_time_ns = stream_time_of(buffer, segment_);
  record.stream = settings_.stream_id;
  if (settings_.wall_clock) {
    record.time = wall_clock_of(buffer, segment_, element_);
  }
  return settings_.format == PublishFormat::kDlstreamer ? to_dlstreamer_line(record)
                                                        : to_json_line(record);
}

bool PublishStream::publish(GstBuffer* buffer) {
  missing_answers_.look_for_lost(element_, buffer, frame_size_);
  return publisher_.push(line_of(buffer));
}

void PublishStream::drain() {
  const bool waits = settings_.policy == PublishPolicy::kBlock;
  const bool is_over = publisher_.drain(waits ? Publisher::kForever
                                              : std::chrono::milliseconds(settings_.drain_time_ms));
  if (!is_over) return;  // a stop, which tells by itself
  told_loss_ = lost_lines();
  if (!told_loss_.empty()) {
    post_warning(element_, told_loss_);
  }
}

/// gst-launch-1.0, and many programs, do not read the bus any more when they stop.
void PublishStream::stop() {
  publisher_.end(std::chrono::milliseconds(settings_.drain_time_ms));
  const std::string lost = lost_lines();
  if (lost.empty() || lost == told_loss_) return;
  post_warning(element_, lost);
  g_message("%s: %s", GST_OBJECT_NAME(element_), lost.c_str());
}

/// Counts the lines that are not out, by cause; empty where all are.
std::string PublishStream::lost_lines() const {
  const Publisher::Stats stats = publisher_.stats();
  std::string text;
  const auto add = [&text](std::uint64_t lines, const char* what) {
    if (lines == 0) return;
    text += (text.empty() ? "" : ", ") + std::to_string(lines) + what;
  };
  add(stats.dropped, " were dropped for want of room");
  add(stats.failed, " failed");
  add(stats.queued, " were not out when the stream ended");
  if (text.empty()) return text;
  return std::to_string(stats.published) + " lines were written to " +
         describe_location(settings_.location) + "; of the others " + text;
}

void post_publish_error(GstElement* element) {
  try {
    throw;
  } catch (const PublishError& error) {
    gst_element_message_full(element, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, error.code,
                             g_utf8_make_valid(error.what(), -1), nullptr, __FILE__, GST_FUNCTION,
                             __LINE__);
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element, STREAM, FAILED, ("Cannot describe the frame: %s.", error.what()),
                      (nullptr));
  }
}

}  // namespace gstnpu

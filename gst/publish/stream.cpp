#include "stream.hpp"

#include <utility>

#include "common/bus.hpp"
#include "common/frame_stream.hpp"

#include "dlstreamer_json.hpp"
#include "frame_json.hpp"
#include "wall_clock.hpp"

namespace gstnpu {
namespace {

std::unique_ptr<Sink> sink_for(const PublishSettings& settings, SinkPeers peers) {
  const SinkOptions options = {
      .append = settings.append,
      .broker = read_broker_config(settings.broker_config_file, settings.broker_config),
      .stream_id = settings.stream_id};
  return open_sink(settings.location, options, peers);
}

std::optional<std::uint64_t> stream_time_of(GstBuffer* buffer, const GstSegment& segment) {
  if (segment.format != GST_FORMAT_TIME) return std::nullopt;
  const guint64 time =
      gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  return time != GST_CLOCK_TIME_NONE ? std::optional(time) : std::nullopt;
}

}  // namespace

PublishStream::PublishStream(GstElement* element, PublishSettings settings)
    : element_(element),
      settings_(std::move(settings)),
      publisher_([this](SinkPeers peers) { return sink_for(settings_, peers); },
                 {.policy = settings_.policy,
                  .most_lines = settings_.queue_size,
                  .target = describe_location(settings_.location)},
                 [element](const std::string& text) { post_warning(element, text); }) {
  gst_segment_init(&segment_, GST_FORMAT_UNDEFINED);
}

void PublishStream::set_caps(const GstCaps* caps) {
  frame_size_ = frame_size_in(gst_caps_get_structure(caps, 0));
}

std::string PublishStream::line_of(GstBuffer* buffer) {
  FrameRecord record = read_frame(buffer, frame_size_, settings_.tensors);
  record.frame = frames_++;
  record.stream_time_ns = stream_time_of(buffer, segment_);
  if (!settings_.stream_id.empty()) {
    record.stream = settings_.stream_id;
  }
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

namespace {

GstResourceError code_of(PublishError::Kind kind) {
  switch (kind) {
    case PublishError::Kind::kOpen:
      return GST_RESOURCE_ERROR_OPEN_WRITE;
    case PublishError::Kind::kWrite:
      return GST_RESOURCE_ERROR_WRITE;
    case PublishError::Kind::kNoSpace:
      return GST_RESOURCE_ERROR_NO_SPACE_LEFT;
    case PublishError::Kind::kSettings:
      break;
  }
  return GST_RESOURCE_ERROR_SETTINGS;
}

}  // namespace

void post_publish_error(GstElement* element) {
  try {
    throw;
  } catch (const PublishError& error) {
    gst_element_message_full(element, GST_MESSAGE_ERROR, GST_RESOURCE_ERROR, code_of(error.kind()),
                             g_utf8_make_valid(error.what(), -1), nullptr, __FILE__, GST_FUNCTION,
                             __LINE__);
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element, STREAM, FAILED, ("Cannot describe the frame: %s.", error.what()),
                      (nullptr));
  }
}

}  // namespace gstnpu

#include "stream.hpp"

#include <system_error>
#include <utility>

#include <npucore/error.hpp>

#include "common/bus.hpp"
#include "common/frame_stream.hpp"
#include "publish/sinks/broker_config.hpp"
#include "publish/sinks/kinds.hpp"

#include "dlstreamer_json.hpp"
#include "frame_json.hpp"
#include "wall_clock.hpp"

namespace gstnpu {
namespace {

std::string reason_of(const std::error_code& code) {
  return code == std::errc::broken_pipe
             ? "nobody reads the pipe any more. Start its reader, then the pipeline"
             : code.message();
}

/// Where the policy drops.
void warn_of_failure(GstElement* element, const std::string& target, std::exception_ptr why) {
  std::string reason = "unknown";
  try {
    std::rethrow_exception(why);
  } catch (const std::system_error& error) {
    reason = reason_of(error.code());
  } catch (const std::exception& error) {
    reason = error.what();
  }
  post_warning(element, "Cannot write detections to " + target + ": " + reason +
                            ". Lines are lost until that passes");
}

std::unique_ptr<Publisher> open_publisher(GstElement* element, const PublishSettings& settings) {
  const SinkOptions options = {
      .append = settings.append,
      .broker = read_broker_config(settings.broker_config_file, settings.broker_config),
      .stream_id = settings.stream_id};
  const std::string target = describe_location(settings.location);
  return std::make_unique<Publisher>(
      [&](SinkPeers peers) { return open_sink(settings.location, options, peers); },
      Publisher::Options{.policy = settings.policy, .most_lines = settings.queue_size},
      Publisher::Tell{
          .warning = [element](const std::string& text) { post_warning(element, text); },
          .failure =
              [element, target](std::exception_ptr why) {
                warn_of_failure(element, target, std::move(why));
              },
          .stall =
              [element, target](std::uint64_t lines) {
                post_warning(element, "The stream waits for " + std::to_string(lines) +
                                          " lines to be taken at " + target +
                                          ": whoever takes them is away, or slower than the "
                                          "stream. With policy=drop-old lines are lost instead");
              }});
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
      publisher_(open_publisher(element, settings_)) {
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

/// Once.
void PublishStream::tell_drops() {
  if (std::exchange(has_told_drops_, true)) return;
  post_warning(element_,
               "Lines for " + describe_location(settings_.location) +
                   " are dropped (policy): " + std::to_string(settings_.queue_size) +
                   " of them, or " + std::to_string(Publisher::kMostBytes >> 20) +
                   " MiB, wait already, because whoever reads them is away, or slower than the "
                   "stream. Make the reader faster, the lines shorter, or queue-size larger");
}

bool PublishStream::publish(GstBuffer* buffer) {
  missing_answers_.look_for_lost(element_, buffer, frame_size_);
  const Publisher::Result result = publisher_->push(line_of(buffer));
  if (result == Publisher::Result::kDropped) {
    tell_drops();
  }
  return result != Publisher::Result::kInterrupted;
}

void PublishStream::drain() {
  const bool waits = settings_.policy == PublishPolicy::kBlock;
  publisher_->drain(waits ? Publisher::kForever
                          : std::chrono::milliseconds(settings_.drain_time_ms));
  told_loss_ = lost_lines();
  if (!told_loss_.empty()) {
    post_warning(element_, told_loss_);
  }
}

/// gst-launch-1.0, and many programs, do not read the bus any more when they stop.
void PublishStream::stop() {
  publisher_->end(std::chrono::milliseconds(settings_.drain_time_ms));
  const std::string lost = lost_lines();
  if (lost.empty() || lost == told_loss_) return;
  post_warning(element_, lost);
  g_message("%s: %s", GST_OBJECT_NAME(element_), lost.c_str());
}

/// Counts the lines that are not out, by cause; empty where all are.
std::string PublishStream::lost_lines() const {
  const Publisher::Stats stats = publisher_->stats();
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

// ---- Errors

namespace {

struct Said {
  GQuark domain;
  gint code;
  std::string text;
};

Said said_of(PublishStep step, const std::error_code& code, const std::string& name) {
  const GQuark resource = GST_RESOURCE_ERROR;
  if (step == PublishStep::kWrite) {
    const std::string text = "Cannot write detections to " + name + ": " + reason_of(code) + ".";
    if (code != std::errc::no_space_on_device) return {resource, GST_RESOURCE_ERROR_WRITE, text};
    return {resource, GST_RESOURCE_ERROR_NO_SPACE_LEFT, text + " Free some space and start again."};
  }
  const bool has_no_reader = code == std::errc::no_such_device_or_address;
  return {resource, GST_RESOURCE_ERROR_OPEN_WRITE,
          "Cannot open " + name + " for writing: " +
              (has_no_reader
                   ? "nobody reads the pipe. Start its reader before the pipeline."
                   : code.message() +
                         ". Set location to a file in a folder that exists and is writable.")};
}

void post(GstElement* element, const Said& said) {
  gst_element_message_full(element, GST_MESSAGE_ERROR, said.domain, said.code,
                           g_utf8_make_valid(said.text.c_str(), -1), nullptr, __FILE__,
                           GST_FUNCTION, __LINE__);
}

}  // namespace

void post_publish_error(GstElement* element, PublishStep step, const std::string& location) {
  try {
    throw;
  } catch (const std::system_error& error) {
    post(element, said_of(step, error.code(), describe_location(location)));
  } catch (const npu::Error& error) {
    post_error(element, error, "");
  } catch (const std::exception& error) {
    post(element, {GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                   std::string("Cannot describe the frame: ") + error.what() + "."});
  }
}

}  // namespace gstnpu

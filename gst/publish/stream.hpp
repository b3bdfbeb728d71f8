#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include <npuvision/answer.hpp>

#include "common/missing_answers.hpp"

#include "publisher.hpp"

namespace gstnpu {

enum class PublishFormat { kNpu, kDlstreamer };

/// The properties of npupublish; docs/elements.md describes them.
struct PublishSettings {
  std::string location;
  PublishFormat format = PublishFormat::kNpu;
  bool append = false;
  bool tensors = false;
  std::string stream_id;
  bool wall_clock = false;
  PublishPolicy policy = PublishPolicy::kBlock;
  std::uint32_t queue_size = Publisher::Options().most_lines;
  std::uint32_t drain_time_ms = 1000;
  std::string broker_config, broker_config_file;
};

/// One stream of an npupublish, from PAUSED on. Its streaming thread calls it, but for publisher().
class PublishStream {
 public:
  /// Opens the location. Throws what that throws. `element` outlives this.
  PublishStream(GstElement* element, PublishSettings settings);

  /// Throws what writing has thrown, here and below.
  void follow(GstEvent* event);
  /// False: interrupted.
  bool publish(GstBuffer* buffer);
  /// Lines that are not out then are lost, and told.
  void stop();

  /// For any thread.
  Publisher& publisher() { return publisher_; }

 private:
  std::string line_of(GstBuffer* buffer);
  void drain();
  std::string lost_lines() const;

  GstElement* const element_;
  const PublishSettings settings_;
  Publisher publisher_;
  GstSegment segment_;
  std::optional<npu::vision::FrameSize> frame_size_;
  guint64 frames_ = 0;
  std::string told_loss_;
  MissingAnswers missing_answers_;
};

/// In a handler: the one place that makes error messages of exceptions.
void post_publish_error(GstElement* element);

}  // namespace gstnpu

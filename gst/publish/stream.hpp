#pragma once

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

#include <npuvision/answer.hpp>

#include "common/missing_answers.hpp"

#include "properties.hpp"
#include "publisher.hpp"

namespace gstnpu {

/// One stream of an npupublish, from PAUSED on. Its streaming thread calls it, but for publisher().
class PublishStream {
 public:
  /// Opens the location. Throws what that throws. `element` outlives this.
  PublishStream(GstElement* element, PublishSettings settings);

  void set_caps(const GstCaps* caps);
  void set_segment(const GstSegment& segment) { segment_ = segment; }
  /// False: interrupted. Throws what writing has thrown, here and below.
  bool publish(GstBuffer* buffer);
  /// At the end of the stream.
  void drain();
  /// Lines that are not out then are lost, and told.
  void stop();

  /// For any thread.
  Publisher& publisher() const { return *publisher_; }

 private:
  std::string line_of(GstBuffer* buffer);
  std::string lost_lines() const;
  void tell_drops();

  GstElement* const element_;
  const PublishSettings settings_;
  const std::unique_ptr<Publisher> publisher_;
  GstSegment segment_;
  std::optional<npu::vision::FrameSize> frame_size_;
  guint64 frames_ = 0;
  bool has_told_drops_ = false;
  std::string told_loss_;
  MissingAnswers missing_answers_;
};

enum class PublishStep { kOpen, kWrite };

/// In a handler: the one place that makes error messages of exceptions.
void post_publish_error(GstElement* element, PublishStep step, const std::string& location);

}  // namespace gstnpu

// The objects and counts of a stream's latest frame.
#pragma once

#include <gst/gst.h>

#include <string>
#include <utility>
#include <vector>

#include "snapshot.hpp"

namespace npustream {

/// The last frame that a sink got.
class FoundFrame {
 public:
  /// Null: none.
  explicit FoundFrame(GstElement* sink);
  ~FoundFrame();
  FoundFrame(const FoundFrame&) = delete;
  FoundFrame& operator=(const FoundFrame&) = delete;

  int width() const { return width_; }
  int height() const { return height_; }
  /// `kind`: "lines" or "zones". As a line of npupublish has them, but of a zone `inside` is a
  /// number; null where the frame does not have that place.
  Json counts(const std::string& kind, const std::string& place) const;
  /// As a line of npupublish: pts, width, height, detections.
  Json to_json() const;

 private:
  GstSample* sample_ = nullptr;
  GstBuffer* buffer_ = nullptr;  // the sample's
  int width_ = 0, height_ = 0;
};

/// Whether it is a kind of npucount's events.
bool is_count_event(const std::string& kind);
/// The places of a stream's keys, without counts.
std::vector<PlaceCounts> places_of(const Json& stream, const char* kind);
/// The same for a line or zone that is still where it was.
std::string place_key(const std::string& kind, const Place& place);

}  // namespace npustream

// The state of a stream and of a device, for those who look.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"

namespace npustream {

enum class StreamState { kStarting, kPlaying, kPaused, kWaiting, kFailed, kEnded };
/// "starting", "playing", "paused", "waiting" (for its next try), "failed" (waits for an edit),
/// "ended" (a file, at its end).
const char* name_of(StreamState state);

struct CopyCount {
  std::string reason, cure;
  std::uint64_t frames = 0;
};

/// How many durations were within each bound but not within the one before, in seconds; the last
/// count is of longer ones. Empty: nothing was inferred.
struct TimeCounts {
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;
  double sum = 0;
};

/// A line counts "forward" and "backward"; a zone "entered", "left" and "inside".
struct PlaceCounts {
  Place place;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
};

/// The state of a stream. Times in milliseconds; rates are of the last seconds.
struct StreamSnapshot {
  std::string id;
  StreamState state = StreamState::kStarting;
  std::string error, cure;    // of the last failure; empty while it plays
  Json source;                // as the file has it
  std::string model;          // its name in the file; of a cascade the first
  int width = 0, height = 0;  // 0: no frame yet
  double fps = 0, inferred_fps = 0;
  double latency_p50_ms = 0, latency_p95_ms = 0;
  TimeCounts latency, queueing;  // since the stream was added
  double compile_seconds = 0;    // or to load a blob; 0: not done yet
  std::uint64_t queue = 0;       // frames that wait for the device or are in it
  std::uint64_t frames_inferred = 0, frames_skipped = 0,
                frames_lost = 0;  // since the stream was added
  std::vector<CopyCount> copies;
  std::vector<PlaceCounts> lines, zones;
  std::uint32_t priority = 0;
  double min_fps = 0;
  bool is_limited = false;  // by overload
  std::uint32_t restarts = 0;
  bool is_paused = false;
  std::string launch;  // the gst-launch line, without "gst-launch-1.0"
};

/// As in REST: {"id", "state", "error", ...}.
Json to_json(const StreamSnapshot& snapshot);

/// A JPEG. `number` grows by one with each picture of its stream and width.
struct Picture {
  std::string jpeg;
  std::uint64_t number = 0;
};
using PicturePtr = std::shared_ptr<const Picture>;

struct Event {
  std::uint64_t number = 0;  // from 1
  std::string time;          // UTC, RFC 3339
  std::string stream;        // empty: of the whole process
  std::string kind;          // entered, left, forward, backward, started, failed, ended, overload,
                             // recovered, reloaded, recorded, not-recorded,
                             // warning
  std::string text;
  std::string clip;    // recorded: the path, as `folder` is written in the file
  PicturePtr picture;  // null: none, or not made yet
};
Json to_json(const Event& event);

/// One NPU, or the software NPU. Readings that the system does not give are null in JSON.
struct DeviceReading {
  std::string name;
  std::string driver, compiler;       // versions; empty: not known
  std::optional<double> utilization;  // 0..1
  std::optional<std::uint64_t> memory_bytes;
  std::uint64_t queue = 0;           // frames of our streams at it or waiting
  double inferences_per_second = 0;  // of our streams
};
Json to_json(const DeviceReading& reading);

/// JSON schemas of these three forms: "StreamState", "Event" and "Device".
Json snapshot_schemas();

}  // namespace npustream

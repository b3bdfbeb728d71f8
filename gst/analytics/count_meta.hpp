// Counts on buffers: a GstCustomMeta, whose fields docs/elements.md lists.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include <npuvision/counter.hpp>

namespace gstnpu {

constexpr const char* kCountMeta = "npu-counts";

struct FrameCounts {
  struct Zone {
    std::string name;
    std::vector<npu::vision::ZoneCount::Inside> inside;
    guint64 entered = 0, left = 0;
    std::optional<double> mean_seconds;  ///< that those who left were inside
    /// Its corners, and of a line its ends: 0..1 of the frame that was counted.
    std::vector<npu::vision::FramePoint> points;
  };
  struct Line {
    std::string name;
    guint64 forward = 0, backward = 0;
    std::vector<npu::vision::FramePoint> points;
  };
  struct Event {
    std::string kind;   ///< entered, left, forward, backward
    std::string place;  ///< name of the zone or of the line
    guint64 id = 0;
    std::optional<double> seconds;  ///< of "left": that it was inside
  };
  std::vector<Zone> zones;
  std::vector<Line> lines;
  std::vector<Event> events;

  bool empty() const { return zones.empty() && lines.empty(); }
};

/// The counts of the counter's last frame.
FrameCounts counts_of(const npu::vision::Counter& counter);

/// Once a process, before the first buffer.
void register_count_meta();
/// To what is there already, on a writable buffer.
void attach_counts(GstBuffer* buffer, const FrameCounts& counts);
FrameCounts read_counts(GstBuffer* buffer);

/// "zone" or "line", name, and who did what, as messages and metas have it.
GstStructure* event_structure(const char* name, const FrameCounts::Event& event);

}  // namespace gstnpu

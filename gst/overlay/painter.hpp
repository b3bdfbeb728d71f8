// Draws results on a stream's frames.
#pragma once

#include <gst/video/video.h>

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "canvas.hpp"
#include "composition.hpp"
#include "drawing.hpp"
#include "mapped_frame.hpp"
#include "statistics.hpp"
#include "trails.hpp"

namespace gstnpu {

/// Draws on the frames of one stream. Single-threaded.
class Painter {
 public:
  struct Stats {
    guint64 frames = 0;
    guint64 drawn = 0;            ///< frames that were drawn on
    guint64 attached = 0;         ///< frames that got a composition instead
    guint64 labels_left_out = 0;  ///< objects whose label was not written: too many new ones
  };

  /// `busy_time`: asks the inference upstream, for the statistics line.
  explicit Painter(std::function<std::optional<BusyTime>()> busy_time = nullptr)
      : statistics_(std::move(busy_time)) {}

  /// Throws npu::Error for frames that cannot be drawn on.
  void set_frames(const GstVideoInfo& info);
  /// Starts over for another stream, or after a seek.
  void reset() {
    trails_.clear();
    if (drawing_) {
      drawing_->forget_labels();
    }
  }
  /// Draws on the frame's pixels. Where it `attaches`, adds a GstVideoOverlayCompositionMeta
  /// instead, which needs a writable buffer. `seconds`: stream time. Throws npu::Error where the
  /// frame's memory is not what it claims.
  void paint(GstBuffer* buffer, const Look& look, bool attaches, double seconds);

  const Stats& stats() const { return stats_; }

 private:
  struct Target;

  void prepare(const Look& look);
  void put_sprites(Target* target);
  void paint_maps(const FrameAnswer& answer, Target* target);
  void paint_legends(Target* target);
  void paint_places(const FrameCounts& counts, Target* target);
  void paint_labels(std::span<const FoundObject> regions, const FrameCounts& counts,
                    Target* target);
  void paint_trails(std::span<const FoundObject> regions, double seconds, Target* target);
  void paint_statistics(GstBuffer* buffer, std::span<const FoundObject> regions, Target* target);
  void paint_objects(std::span<const FoundObject> regions, Target* target);

  GstVideoInfo info_{};
  std::optional<Canvas> canvas_;
  Composition composition_;
  Look drawn_with_;
  std::optional<Drawing> drawing_;
  std::vector<ColoredMap> maps_;  // this frame's
  Trails trails_;
  Statistics statistics_;
  Stats stats_;
};

}  // namespace gstnpu

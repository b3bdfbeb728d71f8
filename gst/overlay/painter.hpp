// Draws on a stream's frames what was found in them.
#pragma once

#include <gst/video/video.h>

#include <optional>

#include "canvas.hpp"
#include "composition.hpp"
#include "drawing.hpp"
#include "mapped_frame.hpp"

namespace gstnpu {

/// Of one stream. One thread.
class Painter {
 public:
  struct Stats {
    guint64 frames = 0;
    guint64 drawn = 0;            ///< frames that were drawn on
    guint64 attached = 0;         ///< frames that got a composition instead
    guint64 labels_left_out = 0;  ///< objects whose label was not written: too many new ones
  };

  /// Throws npu::Error for frames that nothing can be drawn on.
  void set_frames(const GstVideoInfo& info);
  /// On the frame's pixels or, where it `attaches`, as a GstVideoOverlayCompositionMeta, for which
  /// the buffer must be writable. Throws npu::Error where the frame's memory is not what it claims.
  void paint(GstBuffer* buffer, const Look& look, bool attaches);

  const Stats& stats() const { return stats_; }

 private:
  struct Target;

  void prepare(const Look& look);
  void put_sprites(Target* target);

  GstVideoInfo info_{};
  std::optional<Canvas> canvas_;
  Composition composition_;
  Look drawn_with_;
  std::optional<Drawing> drawing_;
  Stats stats_;
};

}  // namespace gstnpu

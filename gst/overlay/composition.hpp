// Makes rectangles of sprites that go along with a frame.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <span>
#include <vector>

#include "sprite.hpp"

namespace gstnpu {

/// Makes a GstVideoOverlayComposition of a frame's sprites, which is blended where the frame is
/// shown. Single-threaded.
class Composition {
 public:
  /// Draws the sprites at once, over those that were added before. Parts outside a frame of this
  /// size are left out.
  void add(std::span<const Sprite> sprites, int frame_width, int frame_height);
  bool empty() const { return rectangles_.empty(); }
  /// Puts everything on a writable buffer, over the composition that it has, and starts the next
  /// frame.
  void attach_to(GstBuffer* buffer);

 private:
  /// Sprites close to each other, in order, that make one rectangle.
  struct Group {
    int left, top, right, bottom;  // pixels
    gint64 sprites_area;
    std::vector<const Sprite*> sprites;
  };
  struct Unref {
    void operator()(GstVideoOverlayRectangle* rectangle) const {
      gst_video_overlay_rectangle_unref(rectangle);
    }
  };

  static void put_into_groups(const Sprite& sprite, std::vector<Group>* groups);
  void add_rectangle(const Group& group);

  std::vector<std::unique_ptr<GstVideoOverlayRectangle, Unref>> rectangles_;
};

}  // namespace gstnpu

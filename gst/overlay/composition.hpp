// Sprites as rectangles that go with a frame.
#pragma once

#include <gst/video/video.h>

#include <memory>
#include <span>
#include <vector>

#include "sprite.hpp"

namespace gstnpu {

/// Makes a GstVideoOverlayComposition of a frame's sprites: whoever shows the frame blends it. One
/// thread.
class Composition {
 public:
  /// Over those that are there already; draws them at once. What stands out of a frame of this size
  /// is left out.
  void add(std::span<const Sprite> sprites, int frame_width, int frame_height);
  bool empty() const { return rectangles_.empty(); }
  /// Puts all of it on a writable buffer, over the composition that it has. The next frame begins.
  void attach_to(GstBuffer* buffer);

 private:
  /// Sprites that lie close together, in their order: one rectangle.
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

// What a frame's results look like.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analytics/answer_meta.hpp"
#include "analytics/count_meta.hpp"

#include "lettering.hpp"
#include "map_picture.hpp"
#include "sprite.hpp"
#include "trails.hpp"

namespace gstnpu {

struct Look {
  bool with_labels = true;
  bool with_masks = true;
  bool with_maps = true;
  bool with_statistics = false;
  bool with_places = true;    ///< zones and lines
  guint line_width = 0;       ///< pixels; 0: by the frame's height, so that it looks alike on all
  guint text_height = 0;      ///< of a line, pixels; 0: the same
  float mask_opacity = 0.4F;  ///< 0..1
  guint trail_ms = 0;         ///< how long an object's way is seen; 0: none
  Anchor trail_anchor = Anchor::kBottom;

  /// With what is left open.
  Look for_height(int frame_height) const;
  bool operator==(const Look&) const = default;
};

/// Turns results into sprites. Keeps its memory from frame to frame. One thread.
class Drawing {
 public:
  explicit Drawing(const Look& look);

  void begin(npu::vision::FrameSize frame);
  /// All of a region but its label.
  void add(const Region& region);
  /// Returns whether it is complete: a frame letters a limited number of texts that are new.
  bool add_label(const Region& region);
  /// Fades out towards its begin.
  void add_trail(guint64 id, const Trails::Trail& trail);
  /// Over what it covers of the frame; one whose place is none is left out.
  void add_map(const ColoredMap& map, const MapPlace& place);
  /// Lines at the frame's top left: the map's largest classes in their colors, with their shares.
  void add_legend(const ColoredMap& map);
  /// What is counted at: first the places, and last what was counted there.
  void add_zone(const FrameCounts::Zone& zone);
  void add_count_line(const FrameCounts::Line& line);
  void add_zone_tag(const FrameCounts::Zone& zone);
  void add_line_tag(const FrameCounts::Line& line);
  /// Lines of text at the frame's top left.
  void add_line(std::string_view text);
  /// A line of text at its bottom left.
  void add_bottom_line(std::string_view text);

  /// In the order in which they are to be drawn. Valid until begin() or forget_sprites().
  std::span<Sprite> sprites() { return sprites_; }
  /// They have been drawn: what comes next takes their memory.
  void forget_sprites();

 private:
  struct Box {
    int left, top, right, bottom;  // pixels
  };

  void add_rectangle(const Box& box, Color color, guint8 opacity);
  void add_outline(const Box& box, Color color);
  void add_mask(const ReadMask& mask, Color color);
  void add_turned(const ReadOriented& box, Color color);
  void add_key_points(std::span<const ReadKeyPoint> points, const npu::vision::Skeleton& skeleton,
                      Color color);
  Box box_of(const Region& region) const;
  Box nowhere() const;
  /// To hold a point of the frame.
  void widen(Box* box, double x, double y) const;
  int add_text(std::string_view text, int x, int y, Color color);
  std::vector<guint8>& new_coverage(std::size_t size);
  /// Lines and areas that cairo draws, smooth, around a box; `draw` gets frame pixels.
  void add_lines(const Box& around, Color color, guint8 opacity,
                 const std::function<void(cairo_t*)>& draw);
  /// A name and a number on paper of a color, inside the frame.
  void add_tag(const std::string& name, const std::string& number, int x, int y, Color color);
  void add_paper(std::string_view text, int y);
  int baseline(const std::string& name, const std::string& number);
  int line_height(const std::string& name, const std::string& number);
  npu::vision::FramePoint in_pixels(const npu::vision::FramePoint& point) const;
  Box around(std::span<const npu::vision::FramePoint> points) const;
  void add_edges(std::span<const npu::vision::FramePoint> points, Color color);

  /// The nearest, inside the frame; what is no number is 0.
  static int to_pixel(double place, std::uint32_t limit);

  Look look_;
  Lettering lettering_;
  npu::vision::FrameSize frame_;
  std::vector<Sprite> sprites_;
  std::deque<std::vector<guint8>> coverages_;  // of this frame's sprites, and spare ones
  std::size_t coverages_used_ = 0;
  std::vector<Color> map_colors_;  // of the last map
  int next_line_ = 0;              // where the next line of text begins
};

}  // namespace gstnpu

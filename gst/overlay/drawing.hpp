// Draws a frame's results as sprites.
#pragma once

#include <cairo.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/frame_answer.hpp"

#include "label_layout.hpp"
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
  guint line_width = 0;       ///< pixels; 0: by the frame's height, so that all sizes look alike
  guint text_height = 0;      ///< height of a line, pixels; 0: likewise
  float mask_opacity = 0.4F;  ///< 0..1
  guint trail_ms = 0;         ///< time that an object's trail stays; 0: no trails
  Anchor trail_anchor = Anchor::kBottom;

  /// Fills in what is left open.
  Look for_height(int frame_height) const;
  bool operator==(const Look&) const = default;
};

/// Turns results into sprites. Keeps its memory from frame to frame. Single-threaded.
class Drawing {
 public:
  explicit Drawing(const Look& look);

  void begin(npu::vision::FrameSize frame);
  /// Adds a region without its label.
  void add(const FoundObject& region);
  /// Adds its label for draw_labels(). Returns whether that is complete: new texts for each frame
  /// are limited.
  bool add_label(const FoundObject& region);
  /// Adds a trail that fades towards its start.
  void add_trail(guint64 id, const Trails::Trail& trail);
  /// Adds a map over the part of the frame that it covers; an invalid area is left out.
  void add_map(const ColoredMap& map, const FrameArea& area);
  /// Adds lines at the frame's top left: the map's largest classes in their colors, with their
  /// shares.
  void add_legend(const ColoredMap& map);
  /// Add zones and lines of npucount, and their counts for draw_labels().
  void add_zone(const npu::vision::ZoneCount& zone);
  void add_count_line(const npu::vision::LineCount& line);
  void add_zone_tag(const npu::vision::ZoneCount& zone);
  void add_line_tag(const npu::vision::LineCount& line);
  /// Adds all labels where they cover as little as can be of the lines of text, the outlines of
  /// objects and each other that were added before. Those added first have the first choice.
  void draw_labels();
  /// The next frame does not follow the last one.
  void forget_labels() { layout_.forget(); }
  /// Adds lines of text at the frame's top left.
  void add_line(std::string_view text);
  /// Adds a line of text at the frame's bottom left.
  void add_bottom_line(std::string_view text);

  /// All sprites in drawing order. Valid until begin() or forget_sprites().
  std::span<Sprite> sprites() { return sprites_; }
  /// Call it once they are drawn; the next sprites reuse their memory.
  void forget_sprites();

 private:
  /// A name and a number on colored paper.
  struct Tag {
    std::string name, number;
    Color color;
  };

  void add_rectangle(const Box& box, Color color, guint8 opacity);
  void add_outline(const Box& box, Color color);
  void add_mask(const FoundMask& mask, Color color);
  void add_turned(const npu::vision::OrientedBox& box, Color color);
  void add_key_points(std::span<const npu::vision::KeyPoint> points,
                      const npu::vision::Skeleton& skeleton, Color color);
  Box box_of(const FoundObject& region) const;
  Box nowhere() const;
  /// Extends the box to contain a point of the frame.
  void widen(Box* box, double x, double y) const;
  int add_text(std::string_view text, int x, int y, Color color);
  std::vector<guint8>& new_coverage(std::size_t size);
  /// Adds smooth lines and areas around a box; `draw` gets frame pixels.
  void add_lines(const Box& around, Color color, guint8 opacity,
                 const std::function<void(cairo_t*)>& draw);
  static Color color_of(const FoundObject& region);
  Label label_of(const Tag& tag, const Box& owner);
  void add_tag(Tag tag, Label label);
  void draw_tag(const Tag& tag, const Box& place);
  void add_paper(std::string_view text, int y);
  int baseline(const Tag& tag);
  int line_height(const Tag& tag);
  npu::vision::FramePoint in_pixels(const npu::vision::FramePoint& point) const;
  Box around(std::span<const npu::vision::FramePoint> points) const;
  void add_edges(std::span<const npu::vision::FramePoint> points, Color color);

  /// The nearest pixel inside the frame; 0 for NaN.
  static int to_pixel(double place, std::uint32_t limit);

  Look look_;
  Lettering lettering_;
  npu::vision::FrameSize frame_;
  std::vector<Sprite> sprites_;
  std::deque<std::vector<guint8>> coverages_;  // this frame's, and spare ones
  std::size_t coverages_used_ = 0;
  LabelLayout layout_;
  std::vector<Tag> tags_;          // of its labels
  std::vector<Color> map_colors_;  // colors of the last map
  int next_line_ = 0;              // y of the next line of text
};

}  // namespace gstnpu

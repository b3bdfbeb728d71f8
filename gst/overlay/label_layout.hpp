// Finds places for labels, where they cover neither each other nor the outlines of objects.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/inline_vector.hpp"

namespace gstnpu {

/// Pixels of a frame; the right and the lower edge lie outside.
struct Box {
  int left = 0, top = 0, right = 0, bottom = 0;

  bool is_empty() const { return left >= right || top >= bottom; }
  long area() const { return is_empty() ? 0 : long{right - left} * (bottom - top); }
  bool operator==(const Box&) const = default;
};

/// The pixels that both boxes have; maybe none.
Box common(const Box& one, const Box& other);

struct Label {
  struct Corner {
    int x = 0, y = 0;
  };

  std::string name;  ///< the same in each frame
  Box owner;         ///< the object or place it belongs to, whose outline it may cover
  int width = 0, height = 0;
  InlineVector<Corner, 8> corners;  ///< where its upper left corner may lie, the best first
  bool heeds_outlines = true;       ///< false: no object that comes and goes moves it
};

/// Chooses a place for each label of a frame: the first that covers nothing, else the one that
/// covers least. A label stays where it was in the last frame, as seen from its owner, unless
/// another place has become much better. Single-threaded.
class LabelLayout {
 public:
  /// Begins a frame.
  void begin(int width, int height);
  /// Keeps labels away from what is written there.
  void avoid(const Box& box) { placed_.push_back(box); }
  void avoid_outline(const Box& box, int line_width) { outlines_.push_back({box, line_width}); }
  void add(Label label) { labels_.push_back(std::move(label)); }
  /// The places of all labels, in the order in which they were added, inside the frame. Of labels
  /// that are new, those added first choose first.
  std::vector<Box> place();
  /// The next frame does not follow the last one.
  void forget() { last_.clear(); }

 private:
  struct Outline {
    Box box;
    int line_width;
  };
  /// A label of the last frame.
  struct Placed {
    std::string name;
    Box owner;
    std::size_t corner;
  };

  std::optional<std::size_t> found_again(const Placed& before,
                                         const std::vector<bool>& is_placed) const;
  std::size_t choose(const Label& label, std::optional<std::size_t> before) const;
  long cost_of(const Label& label, std::size_t corner) const;
  Box inside_frame(const Box& box) const;

  Box frame_;
  std::vector<Label> labels_;
  std::vector<Box> placed_;
  std::vector<Outline> outlines_;
  std::vector<Placed> last_;
};

}  // namespace gstnpu

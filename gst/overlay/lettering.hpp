// Text as bitmaps.
#pragma once

#include <pango/pangocairo.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gstnpu {

/// " 87%"; empty of what is no number.
std::string percent(double share);

/// How much of each pixel is covered, 255: all; row after row.
struct Bitmap {
  int width = 0, height = 0;  ///< pixels
  std::vector<guint8> coverage;
  int baseline = 0;  ///< rows above the line that letters stand on
};

/// Draws text of one size, each piece once: a label is the same in most frames. One thread.
class Lettering {
 public:
  /// `height`: of a line, pixels.
  explicit Lettering(int height);

  /// A new frame begins.
  void begin_frame() { new_ones_ = 0; }
  /// One line; what is no UTF-8 is replaced, what is very long is cut. Empty where the frame has
  /// had too many that were not known. Valid until clean_up().
  const Bitmap& of(std::string_view text);
  /// Forgets all where it has become too much.
  void clean_up();

  /// Texts that were not drawn, of all frames.
  std::size_t left_out() const { return left_out_; }
  std::size_t known_bytes() const { return known_bytes_; }

 private:
  Bitmap draw(std::string_view text) const;

  struct Unref {
    void operator()(gpointer object) const { g_object_unref(object); }
  };
  int height_;
  std::unique_ptr<PangoLayout, Unref> layout_;
  std::unordered_map<std::string, Bitmap> known_;
  std::size_t known_bytes_ = 0;
  int new_ones_ = 0;  // in this frame
  std::size_t left_out_ = 0;
};

}  // namespace gstnpu

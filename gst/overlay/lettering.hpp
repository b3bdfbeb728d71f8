// Draws text as bitmaps.
#pragma once

#include <pango/pangocairo.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gstnpu {

/// " 87%"; empty for NaN and infinity.
std::string percent(double share);

/// Coverage of each pixel, 255: all, row after row.
struct Bitmap {
  int width = 0, height = 0;  ///< pixels
  std::vector<guint8> coverage;
  int baseline = 0;  ///< rows above the line that letters stand on
};

/// Draws text of one size and keeps each piece, because most frames have the same labels.
/// Single-threaded.
class Lettering {
 public:
  /// `height`: line height in pixels.
  explicit Lettering(int height);

  /// Starts a new frame.
  void begin_frame() { new_ones_ = 0; }
  /// Draws one line. Invalid UTF-8 is replaced, a long text cut. Empty where the frame has had too
  /// many new texts. Valid until clean_up().
  const Bitmap& of(std::string_view text);
  /// Forgets all texts if they take too much memory.
  void clean_up();

  /// Number of texts that were not drawn, in all frames.
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
  int new_ones_ = 0;  // drawn for this frame
  std::size_t left_out_ = 0;
};

}  // namespace gstnpu

#include "lettering.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostKnownBytes = std::size_t{8} << 20;
constexpr glong kMostCharacters = 80;
constexpr int kMostNewOnes = 64;     // in a frame: each takes some 0.1 ms
constexpr double kLineHeight = 1.2;  // by font size; most fonts are close to it

std::string shown(std::string_view text) {
  gchar* valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string line(valid);
  g_free(valid);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  if (g_utf8_strlen(line.c_str(), -1) <= kMostCharacters) return line;
  line.resize(static_cast<std::size_t>(g_utf8_offset_to_pointer(line.c_str(), kMostCharacters) -
                                       line.c_str()));
  return line + "\u2026";
}

}  // namespace

std::string percent(double share) {
  if (!std::isfinite(share)) return {};
  constexpr double kMost = 1e6;  // foreign confidences may be anything
  return " " + std::to_string(std::lround(100 * std::clamp(share, -kMost, kMost))) + "%";
}

Lettering::Lettering(int height) : height_(std::max(height, 4)) {
  // A font map of its own: the default one is the calling thread's.
  const std::unique_ptr<PangoFontMap, Unref> fonts(pango_cairo_font_map_new());
  const std::unique_ptr<PangoContext, Unref> context(pango_font_map_create_context(fonts.get()));
  layout_.reset(pango_layout_new(context.get()));
  PangoFontDescription* font = pango_font_description_from_string("Sans Bold");
  pango_font_description_set_absolute_size(font, height_ / kLineHeight * PANGO_SCALE);
  pango_layout_set_font_description(layout_.get(), font);
  pango_font_description_free(font);
  pango_layout_set_single_paragraph_mode(layout_.get(), TRUE);
}

const Bitmap& Lettering::of(std::string_view text) {
  std::string key(text);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  static const Bitmap kNone;
  if (new_ones_ == kMostNewOnes) {
    ++left_out_;
    return kNone;
  }
  ++new_ones_;
  Bitmap bitmap = draw(text);
  known_bytes_ += key.size() + bitmap.coverage.size();
  return known_.emplace(std::move(key), std::move(bitmap)).first->second;
}

void Lettering::clean_up() {
  if (known_bytes_ <= kMostKnownBytes) return;
  known_.clear();
  known_bytes_ = 0;
}

Bitmap Lettering::draw(std::string_view text) const {
  const std::string line = shown(text);
  pango_layout_set_text(layout_.get(), line.data(), static_cast<int>(line.size()));
  int width = 0, height = 0;
  pango_layout_get_pixel_size(layout_.get(), &width, &height);
  if (width <= 0 || height <= 0) return {};
  const std::unique_ptr<cairo_surface_t, FreeBy<cairo_surface_destroy>> surface(
      cairo_image_surface_create(CAIRO_FORMAT_A8, width, height));
  {
    const std::unique_ptr<cairo_t, FreeBy<cairo_destroy>> cairo(cairo_create(surface.get()));
    pango_cairo_show_layout(cairo.get(), layout_.get());
  }
  cairo_surface_flush(surface.get());
  Bitmap bitmap{width, height, {}, PANGO_PIXELS(pango_layout_get_baseline(layout_.get()))};
  const guint8* row = cairo_image_surface_get_data(surface.get());
  if (!row) return {};  // out of memory
  bitmap.coverage.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y, row += cairo_image_surface_get_stride(surface.get())) {
    bitmap.coverage.insert(bitmap.coverage.end(), row, row + width);
  }
  return bitmap;
}

}  // namespace gstnpu

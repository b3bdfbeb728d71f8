#include "picture.hpp"

#include <cairo.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace gstnpu::test {
namespace {

constexpr int kClearlyOther = 32;

struct EndSurface {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Surface = std::unique_ptr<cairo_surface_t, EndSurface>;

void require(cairo_status_t status, const std::string& file) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw std::runtime_error(file + ": " + cairo_status_to_string(status));
}

/// Row of a surface whose pixels are 0x00RRGGBB in the machine's order.
guint32* row_of(const Surface& surface, int y) {
  return reinterpret_cast<guint32*>(cairo_image_surface_get_data(surface.get()) +
                                    std::ptrdiff_t{y} *
                                        cairo_image_surface_get_stride(surface.get()));
}

bool is_left_out(int x, int y, std::span<const Area> areas) {
  return std::any_of(areas.begin(), areas.end(), [x, y](const Area& area) {
    return x >= area.x && x < area.x + area.width && y >= area.y && y < area.y + area.height;
  });
}

}  // namespace

Picture read_png(const std::string& file) {
  const Surface surface(cairo_image_surface_create_from_png(file.c_str()));
  require(cairo_surface_status(surface.get()), file);
  Picture picture{cairo_image_surface_get_width(surface.get()),
                  cairo_image_surface_get_height(surface.get()),
                  {}};
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const guint32 pixel = row_of(surface, y)[x];
      for (const int shift : {16, 8, 0}) picture.rgb.push_back(pixel >> shift & 0xff);
    }
  }
  return picture;
}

void write_png(const Picture& picture, const std::string& file) {
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture.width, picture.height));
  require(cairo_surface_status(surface.get()), file);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      const guint8* rgb = picture.at(x, y);
      row_of(surface, y)[x] = guint32{rgb[0]} << 16 | guint32{rgb[1]} << 8 | rgb[2];
    }
  }
  cairo_surface_mark_dirty(surface.get());
  require(cairo_surface_write_to_png(surface.get(), file.c_str()), file);
}

Difference difference(const Picture& one, const Picture& other, std::span<const Area> left_out) {
  if (one.width != other.width || one.height != other.height) return {255, 1};
  double sum = 0, others = 0, pixels = 0;
  for (int y = 0; y < one.height; ++y) {
    for (int x = 0; x < one.width; ++x) {
      if (is_left_out(x, y, left_out)) continue;
      int most = 0;
      for (int i = 0; i < 3; ++i) {
        const int apart = std::abs(one.at(x, y)[i] - other.at(x, y)[i]);
        most = std::max(most, apart);
        sum += apart / 3.0;
      }
      others += most > kClearlyOther ? 1 : 0;
      pixels += 1;
    }
  }
  return {sum / pixels, others / pixels};
}

}  // namespace gstnpu::test

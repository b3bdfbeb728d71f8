#include "composition.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "common/refs.hpp"

namespace gstnpu {
namespace {

/// Order of a pixel's bytes in GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB.
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
constexpr int kBlue = 0, kGreen = 1, kRed = 2, kAlpha = 3;
#else
constexpr int kBlue = 3, kGreen = 2, kRed = 1, kAlpha = 0;
#endif

/// Premultiplies the color.
void put_over(guint8* pixel, Color color, guint alpha) {
  const auto mixed = [&](guint8 below, guint above) {
    return static_cast<guint8>(
        divided_by_255(static_cast<guint16>(below * (255 - alpha) + above * alpha)));
  };
  pixel[kRed] = mixed(pixel[kRed], color.red);
  pixel[kGreen] = mixed(pixel[kGreen], color.green);
  pixel[kBlue] = mixed(pixel[kBlue], color.blue);
  pixel[kAlpha] = mixed(pixel[kAlpha], 255);
}

using Pixel = std::array<guint8, 4>;

/// A palette's colors on empty pixels, by their numbers.
std::array<Pixel, 256> pixels_of(const Sprite& sprite) {
  std::array<Pixel, 256> pixels{};
  for (std::size_t i = 0; i < sprite.palette.size(); ++i) {
    put_over(pixels.at(i + 1).data(), sprite.palette[i], sprite.opacity);
  }
  return pixels;
}

struct Pixels {
  int left, top, width, height;  // in frame pixels
  guint8* data;
};

/// The part of a sprite that lies on the pixels, in frame pixels.
struct Part {
  Part(const Sprite& sprite, const Pixels& on)
      : left(std::max(sprite.x, on.left)),
        top(std::max(sprite.y, on.top)),
        right(std::min(sprite.x + sprite.width, on.left + on.width)),
        bottom(std::min(sprite.y + sprite.height, on.top + on.height)) {}

  int left, top, right, bottom;
};

guint8* pixel_at(const Pixels& pixels, int x, int y) {
  return pixels.data + std::size_t{4} * (static_cast<std::size_t>(y - pixels.top) *
                                             static_cast<std::size_t>(pixels.width) +
                                         static_cast<std::size_t>(x - pixels.left));
}

/// The sprite's coverage of row `y`; null where it covers all pixels.
const guint8* coverage_of(const Sprite& sprite, int y) {
  return sprite.coverage
             ? sprite.coverage + static_cast<std::size_t>(y - sprite.y) * sprite.coverage_stride
             : nullptr;
}

void draw(const Sprite& sprite, const Pixels& on) {
  const Part part(sprite, on);
  for (int y = part.top; y < part.bottom; ++y) {
    const guint8* coverage = coverage_of(sprite, y);
    for (int x = part.left; x < part.right; ++x) {
      const guint share = coverage ? coverage[x - sprite.x] : 255U;
      if (share == 0) continue;
      put_over(pixel_at(on, x, y), sprite.color,
               divided_by_255(static_cast<guint16>(share * sprite.opacity)));
    }
  }
}

/// Draws a sprite with a palette. Its pixels are nearly always empty: maps are drawn first.
void draw_palette(const Sprite& sprite, const Pixels& on) {
  const std::array<Pixel, 256> pixels = pixels_of(sprite);
  const Part part(sprite, on);
  for (int y = part.top; y < part.bottom; ++y) {
    const guint8* numbers = coverage_of(sprite, y) + (part.left - sprite.x);
    guint8* at = pixel_at(on, part.left, y);
    for (int x = part.left; x < part.right; ++x, ++numbers, at += sizeof(Pixel)) {
      if (at[kAlpha] == 0) {
        std::memcpy(at, pixels[*numbers].data(), sizeof(Pixel));
      } else if (*numbers != 0) {
        put_over(at, sprite.palette[*numbers - 1U], sprite.opacity);
      }
    }
  }
}

}  // namespace

/// Joins the sprite to a group unless the common rectangle would be mostly empty, which costs more
/// than two. A sprite must not go below a group that it overlaps.
void Composition::put_into_groups(const Sprite& sprite, std::vector<Group>* groups) {
  const Group alone{sprite.x,
                    sprite.y,
                    sprite.x + sprite.width,
                    sprite.y + sprite.height,
                    gint64{sprite.width} * sprite.height,
                    {&sprite}};
  for (auto group = groups->rbegin(); group != groups->rend(); ++group) {
    const int left = std::min(group->left, alone.left), top = std::min(group->top, alone.top);
    const int right = std::max(group->right, alone.right);
    const int bottom = std::max(group->bottom, alone.bottom);
    const gint64 together = gint64{right - left} * (bottom - top);
    if (together <= 2 * (group->sprites_area + alone.sprites_area)) {
      group->left = left;
      group->top = top;
      group->right = right;
      group->bottom = bottom;
      group->sprites_area = std::min(group->sprites_area + alone.sprites_area, together);
      group->sprites.push_back(&sprite);
      return;
    }
    const bool overlaps = group->left < alone.right && alone.left < group->right &&
                          group->top < alone.bottom && alone.top < group->bottom;
    if (overlaps) break;
  }
  groups->push_back(alone);
}

void Composition::add_rectangle(const Group& group) {
  const auto width = static_cast<guint>(group.right - group.left);
  const auto height = static_cast<guint>(group.bottom - group.top);
  const gsize size = gsize{4} * width * height;
  const BufferRef pixels(gst_buffer_new_allocate(nullptr, size, nullptr));
  GstMapInfo map;
  if (!pixels || !gst_buffer_map(pixels.get(), &map, GST_MAP_WRITE)) throw std::bad_alloc();
  std::fill_n(map.data, size, guint8{0});
  for (const Sprite* sprite : group.sprites) {
    const Pixels on{group.left, group.top, static_cast<int>(width), static_cast<int>(height),
                    map.data};
    sprite->palette.empty() ? draw(*sprite, on) : draw_palette(*sprite, on);
  }
  gst_buffer_unmap(pixels.get(), &map);
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE,
                            GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width, height);
  rectangles_.emplace_back(
      gst_video_overlay_rectangle_new_raw(pixels.get(), group.left, group.top, width, height,
                                          GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA));
}

void Composition::add(std::span<const Sprite> sprites, int frame_width, int frame_height) {
  std::vector<Group> groups;
  for (const Sprite& sprite : sprites) put_into_groups(sprite, &groups);
  for (Group& group : groups) {
    group.left = std::max(group.left, 0);
    group.top = std::max(group.top, 0);
    group.right = std::min(group.right, frame_width);
    group.bottom = std::min(group.bottom, frame_height);
    if (group.left >= group.right || group.top >= group.bottom) continue;
    add_rectangle(group);
  }
}

void Composition::attach_to(GstBuffer* buffer) {
  if (empty()) return;
  GstVideoOverlayCompositionMeta* there = gst_buffer_get_video_overlay_composition_meta(buffer);
  // A new composition, because others may hold theirs. It reuses their rectangles, which sinks
  // know.
  GstVideoOverlayComposition* all = gst_video_overlay_composition_new(nullptr);
  const guint count = there ? gst_video_overlay_composition_n_rectangles(there->overlay) : 0;
  for (guint i = 0; i < count; ++i) {
    gst_video_overlay_composition_add_rectangle(
        all, gst_video_overlay_composition_get_rectangle(there->overlay, i));
  }
  for (const auto& rectangle : rectangles_) {
    gst_video_overlay_composition_add_rectangle(all, rectangle.get());
  }
  if (there) {
    gst_buffer_remove_video_overlay_composition_meta(buffer, there);
  }
  gst_buffer_add_video_overlay_composition_meta(buffer, all);
  gst_video_overlay_composition_unref(all);
  rectangles_.clear();
}

}  // namespace gstnpu

#include "painter.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "bridges/bridges.hpp"
#include "meta/npumeta.h"

namespace gstnpu {
namespace {

const FrameCounts kNoCounts;

std::string line_of(const FoundClass& said) {
  return said.confidence ? said.label + percent(*said.confidence) : said.label;
}

}  // namespace

/// Destination of a frame's sprites. The visible part of the frame begins at `left`, `top`.
struct Painter::Target {
  Target(GstBuffer* frame, bool is_attached) : buffer(frame), attaches(is_attached) {
    constexpr guint kFarthest = 1 << 24;
    const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(frame);
    left = crop ? static_cast<int>(std::min(crop->x, kFarthest)) : 0;
    top = crop ? static_cast<int>(std::min(crop->y, kFarthest)) : 0;
  }

  GstBuffer* buffer;
  bool attaches;
  int left, top;
  std::optional<MappedFrame> pixels;  // mapped only when something is drawn
};

void Painter::set_frames(const GstVideoInfo& info) {
  canvas_.emplace(info);
  info_ = info;
  drawing_.reset();
  reset();
}

void Painter::prepare(const Look& wanted) {
  const Look look = wanted.for_height(GST_VIDEO_INFO_HEIGHT(&info_));
  if (drawing_ && look == drawn_with_) return;
  drawing_.emplace(look);
  drawn_with_ = look;
}

void Painter::put_sprites(Target* target) {
  const std::span<Sprite> sprites = drawing_->sprites();
  for (Sprite& sprite : sprites) {
    sprite.x += target->left;
    sprite.y += target->top;
  }
  if (target->attaches) {
    composition_.add(sprites, target->left + GST_VIDEO_INFO_WIDTH(&info_),
                     target->top + GST_VIDEO_INFO_HEIGHT(&info_));
  } else if (!sprites.empty() && !target->pixels) {
    target->pixels.emplace(info_, target->buffer);
    ++stats_.drawn;
  }
  if (target->pixels) {
    for (const Sprite& sprite : sprites) canvas_->blend(sprite, target->pixels->get());
  }
  drawing_->forget_sprites();
}

/// Draws maps below everything else.
void Painter::paint_maps(const FrameAnswer& answer, Target* target) {
  maps_.clear();
  if (!drawn_with_.with_maps) return;
  for (const FoundMap& found : answer.maps) {
    const auto paint = [&](ColoredMap map) {
      drawing_->add_map(map, found.area);
      put_sprites(target);
      maps_.push_back(std::move(map));
    };
    if (!found.values.empty()) {
      paint(color_values(found.values, found.is_anomaly));
    }
    if (!found.classes.empty()) {
      paint(color_classes(found.classes, found.names()));
    }
  }
}

void Painter::paint_legends(Target* target) {
  for (const ColoredMap& map : maps_) drawing_->add_legend(map);
  put_sprites(target);
}

void Painter::paint_places(const FrameCounts& counts, Target* target) {
  for (const npu::vision::ZoneCount& zone : counts.zones) {
    drawing_->add_zone(zone);
    put_sprites(target);
  }
  for (const npu::vision::LineCount& line : counts.lines) {
    drawing_->add_count_line(line);
    put_sprites(target);
  }
}

/// Counts stand still, so that they choose their places before the objects' labels.
void Painter::paint_labels(std::span<const FoundObject> regions, const FrameCounts& counts,
                           Target* target) {
  for (const npu::vision::ZoneCount& zone : counts.zones) drawing_->add_zone_tag(zone);
  for (const npu::vision::LineCount& line : counts.lines) drawing_->add_line_tag(line);
  for (const FoundObject& region : regions) {
    stats_.labels_left_out += drawing_->add_label(region) ? 0 : 1;
  }
  drawing_->draw_labels();
  put_sprites(target);
}

void Painter::paint_trails(std::span<const FoundObject> regions, double seconds, Target* target) {
  if (drawn_with_.trail_ms == 0) return trails_.clear();
  trails_.update(seconds, drawn_with_.trail_ms / 1e3, drawn_with_.line_width,
                 drawn_with_.trail_anchor, regions);
  for (const auto& [id, trail] : trails_.trails()) {
    drawing_->add_trail(id, trail);
    put_sprites(target);
  }
}

void Painter::paint_statistics(GstBuffer* buffer, std::span<const FoundObject> regions,
                               Target* target) {
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_frame_inference_meta(buffer);
  statistics_.count(g_get_monotonic_time(), meta ? meta->inference_ns : 0, regions);
  drawing_->add_bottom_line(statistics_.line());
  put_sprites(target);
}

/// Draws the best object last, on top of the others.
void Painter::paint_objects(std::span<const FoundObject> regions, Target* target) {
  for (auto region = regions.rbegin(); region != regions.rend(); ++region) {
    drawing_->add(*region);
    put_sprites(target);
  }
}

void Painter::paint(GstBuffer* buffer, const Look& look, bool attaches, double seconds) {
  prepare(look);
  ++stats_.frames;
  const npu::vision::FrameSize size{static_cast<std::uint32_t>(GST_VIDEO_INFO_WIDTH(&info_)),
                                    static_cast<std::uint32_t>(GST_VIDEO_INFO_HEIGHT(&info_))};
  Target target(buffer, attaches);
  drawing_->begin(size);
  const auto answer = read_answer(buffer, size);
  const std::span<const FoundObject> regions = answer->objects;
  const FrameCounts& counts = look.with_places ? answer->counts : kNoCounts;
  paint_maps(*answer, &target);
  paint_places(counts, &target);
  paint_trails(regions, seconds, &target);
  paint_objects(regions, &target);
  for (const FoundClass& said : answer->classes) {
    drawing_->add_line(line_of(said));
    put_sprites(&target);
  }
  paint_legends(&target);
  if (look.with_statistics) {
    paint_statistics(buffer, regions, &target);
  }
  paint_labels(regions, counts, &target);
  if (composition_.empty()) return;
  composition_.attach_to(buffer);
  ++stats_.attached;
}

}  // namespace gstnpu

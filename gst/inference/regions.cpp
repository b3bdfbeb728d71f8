#include "regions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bridges/bridges.hpp"
#include "bridges/dlstreamer.hpp"

namespace gstnpu {
namespace {

constexpr std::size_t kMostTracks = 4096;  // remembered by an ObjectPicker

/// From the edge to the other one, to whole pixels of the frame; at least one pixel of what is not
/// empty.
std::pair<double, double> span_of(double first, double length, guint limit) {
  const double from = with_sign(first), size = with_sign(length);
  const double begin = std::round(from);
  const double end = size > 0 ? std::max(std::round(from + size), begin + 1) : begin;
  return {std::max(begin, 0.0), std::min<double>(end, limit)};
}

/// nullopt where nothing of it is inside the frame.
std::optional<PixelRect> box_of(const FoundObject& object, guint width, guint height) {
  const auto [left, right] = span_of(object.x, object.width, width);
  const auto [top, bottom] = span_of(object.y, object.height, height);
  if (!(right > left && bottom > top)) return std::nullopt;
  return PixelRect{static_cast<guint>(left), static_cast<guint>(top),
                   static_cast<guint>(right - left), static_cast<guint>(bottom - top)};
}

}  // namespace

FrameObjects find_objects(GstBuffer* buffer, guint width, guint height) {
  FrameObjects found;
  const auto answer = read_answer(buffer, npu::vision::FrameSize{width, height});
  for (std::size_t i = 0; i < answer->objects.size(); ++i) {
    const FoundObject& object = answer->objects[i];
    const auto box = box_of(object, width, height);
    if (!box) {
      ++found.refused;
      continue;
    }
    found.usable.push_back({*box, {i, object.id()}, object.label, {}});
    if (object.identity) {
      found.usable.back().track = object.identity->id;
    }
  }
  return found;
}

ObjectPicker::ObjectPicker(const std::string& classes) : classes_(classes) {}

ObjectPicker::Picked ObjectPicker::pick(FrameObjects found, guint interval) {
  Picked picked;
  picked.refused = found.refused;
  drop_old_tracks(interval);
  for (FrameObject& object : found.usable) {
    if (!classes_.has(object.label)) continue;
    if (picked.objects.size() == kMostObjects) {
      ++picked.refused;
    } else if (is_due(object, interval)) {
      picked.objects.push_back(std::move(object));
    } else {
      picked.has_waiting = true;
    }
  }
  ++frame_;
  return picked;
}

void ObjectPicker::take_back() {
  --frame_;
  std::erase_if(inferred_at_, [this](const auto& track) { return track.second == frame_; });
  if (others_at_ == frame_) {
    others_at_.reset();
  }
}

/// Notes each object that is due. Objects of one track in one frame (a body and its face) are due
/// together; so are all objects without a track.
bool ObjectPicker::is_due(const FrameObject& object, guint interval) {
  if (!object.track) {
    if (others_at_ && waits(*others_at_, interval)) return false;
    others_at_ = frame_;
    return true;
  }
  const auto known = inferred_at_.find(*object.track);
  if (known != inferred_at_.end() && waits(known->second, interval)) return false;
  inferred_at_[*object.track] = frame_;
  return true;
}

bool ObjectPicker::waits(guint64 inferred_at, guint interval) const {
  const guint64 age = frame_ - inferred_at;
  return age > 0 && age < interval;
}

/// Tracks that are due again need no note. If too many remain, all are forgotten: their objects are
/// then inferred at once.
void ObjectPicker::drop_old_tracks(guint interval) {
  if (inferred_at_.size() <= kMostTracks) return;
  std::erase_if(inferred_at_, [&](const auto& track) { return frame_ - track.second >= interval; });
  if (inferred_at_.size() > kMostTracks) {
    inferred_at_.clear();
  }
}

BufferRef finish(RegionFrame frame) {
  BufferRef buffer(gst_buffer_make_writable(frame.buffer.release()));
  RegionResults& results = *frame.results;
  FrameAnswer answer = take_answer(buffer.get(), {results.frame_width, results.frame_height});
  give_ids(buffer.get(), &answer);
  for (InferenceResult& result : results.done) {
    ObjectLink& link = result.region->object;
    if (link.index < answer.objects.size()) {
      link.object_id = answer.objects[link.index].id();
    }
    attach(buffer.get(), std::move(result));
  }
  write_answer(buffer.get(), std::move(answer));
  return buffer;
}

}  // namespace gstnpu

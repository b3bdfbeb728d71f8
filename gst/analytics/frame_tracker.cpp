#include "frame_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bridges/bridges.hpp"

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using npu::vision::Object;
using npu::vision::Track;

npu::vision::TrackerOptions options_of(const TrackSettings& settings) {
  return {.high_confidence = settings.high_threshold,
          .low_confidence = std::min(settings.low_threshold, settings.high_threshold),
          .confirm_after = settings.min_hits,
          .lost_seconds = settings.max_age_ms / 1e3,
          .across_labels = settings.across_labels};
}

/// Nullopt where nothing of it is inside.
std::optional<Object> object_of(const FoundObject& found, FrameSize frame) {
  const double x = with_sign(found.x), y = with_sign(found.y);
  Object object;
  object.left = std::max(x, 0.0);
  object.top = std::max(y, 0.0);
  object.right = std::min<double>(x + found.width, frame.width);
  object.bottom = std::min<double>(y + found.height, frame.height);
  object.confidence = static_cast<float>(found.confidence.value_or(1));
  const bool is_inside = object.left < object.right && object.top < object.bottom;
  if (!is_inside || !std::isfinite(object.confidence)) return std::nullopt;
  return object;
}

GstClockTime to_ns(double seconds) {
  constexpr double kMost = 9e18;  // of what std::llround() can give
  return static_cast<GstClockTime>(std::llround(std::min(std::abs(seconds) * 1e9, kMost)));
}

/// Elements that drop metas of a frame's size keep the origin or the tensors.
bool has_tensors_of_frame(GstBuffer* buffer) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    const auto* origin =
        gst_buffer_get_npu_inference_origin(buffer, gst_npu_buffer_get_tensor_inference(buffer, i));
    if (!origin || !origin->is_region) return true;
  }
  return false;
}

}  // namespace

// ---- Labels

const LabelNumbers::Label* LabelNumbers::find(std::uint32_t number) const {
  const auto found = labels_.find(number);
  return found == labels_.end() ? nullptr : found->second;
}

void LabelNumbers::forget_others(std::span<const Track> tracks) {
  constexpr std::size_t kMost = 4096;
  if (numbers_.size() <= kMost) return;
  std::set<std::uint32_t> used;
  for (const Track& track : tracks) used.insert(track.label_id);
  std::erase_if(labels_, [&](const auto& label) { return !used.contains(label.first); });
  std::erase_if(numbers_, [&](const auto& label) { return !used.contains(label.second); });
}

// ---- Settings

void FrameTracker::configure(const TrackSettings& settings) {
  const TrackSettings before = std::exchange(settings_, settings);
  classes_ = LabelList(settings_.object_class);
  const npu::vision::TrackerOptions options = options_of(settings_);
  if (options == options_of(before)) return;
  tracker_ = npu::vision::Tracker(options);
  first_id_ = last_id_;
}

void FrameTracker::reset() {
  tracker_.reset();
  knows_inferences_ = false;
  since_looked_at_ = 0;
}

// ---- Frames

TrackedFrame FrameTracker::track(GstBuffer* buffer, double seconds, FrameSize frame) {
  TrackedFrame done;
  FrameAnswer answer = take_answer(buffer, frame);
  const bool has_objects = take_objects(answer, &done);
  if (is_looked_at(buffer, has_objects)) {
    tracker_.update(seconds, objects_, frame);
    identify(seconds, &answer, &done);
  } else {
    done.is_predicted = true;
    tracker_.predict(seconds, frame);
    if (settings_.predict) {
      predict(seconds, &answer, &done);
    }
  }
  labels_.forget_others(tracker_.tracks());
  write_answer(buffer, std::move(answer));
  return done;
}

/// Frames of npuinfer tell it. Of other detectors only those with objects do; of the others between
/// them every Nth counts.
bool FrameTracker::is_looked_at(GstBuffer* buffer, bool has_objects) {
  const auto* inference = gst_buffer_get_npu_frame_inference_meta(buffer);
  const bool tells = (inference && !inference->is_region) || has_tensors_of_frame(buffer);
  knows_inferences_ = knows_inferences_ || tells;
  ++since_looked_at_;
  const bool is_due = !knows_inferences_ && since_looked_at_ >= settings_.inference_interval;
  if (!tells && !has_objects && !is_due) return false;
  since_looked_at_ = 0;
  return true;
}

/// Takes the objects without an identity. Returns whether there are any, wanted or not.
bool FrameTracker::take_objects(const FrameAnswer& answer, TrackedFrame* done) {
  indices_.clear();
  objects_.clear();
  bool has_objects = false;
  for (std::size_t i = 0; i < answer.objects.size(); ++i) {
    const FoundObject& found = answer.objects[i];
    has_objects = has_objects || !found.identity;
    if (found.identity || !classes_.has(found.label)) continue;
    std::optional<Object> object = object_of(found, answer.frame);
    if (!object) {
      ++done->refused;
      continue;
    }
    object->label_id = labels_.number_of({found.label, found.label_id});
    objects_.push_back(*object);
    indices_.push_back(i);
  }
  done->objects = std::min(objects_.size(), npu::vision::Tracker::kMostObjects);
  done->refused += objects_.size() - done->objects;
  return has_objects;
}

Identity FrameTracker::identity_of(const Track& track, double seconds) {
  const guint64 id = first_id_ + track.id;
  last_id_ = std::max(last_id_, id);
  return {.id = id,
          .first_seen_ns = to_ns(track.first_found),
          .last_seen_ns = to_ns(seconds - track.seconds_since_found)};
}

void FrameTracker::identify(double seconds, FrameAnswer* answer, TrackedFrame* done) {
  for (const Track& track : tracker_.tracks().first(tracker_.num_present())) {
    if (track.id == 0 || track.object == Track::kNotFound) continue;
    answer->objects[indices_[track.object]].identity = identity_of(track, seconds);
    ++done->identified;
  }
}

void FrameTracker::predict(double seconds, FrameAnswer* answer, TrackedFrame* done) {
  for (const Track& track : tracker_.tracks().first(tracker_.num_present())) {
    const LabelNumbers::Label* label = labels_.find(track.label_id);
    const bool is_old = track.seconds_since_found > settings_.max_age_ms / 1e3;
    if (track.id == 0 || is_old || label == nullptr) continue;
    FoundObject object{.label = label->text,
                       .label_id = label->id,
                       .confidence = track.confidence,
                       .x = track.left,
                       .y = track.top,
                       .width = track.right - track.left,
                       .height = track.bottom - track.top};
    object.identity = identity_of(track, seconds);
    answer->objects.push_back(std::move(object));
    ++done->predicted;
  }
}

}  // namespace gstnpu

#include "frame_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace gstnpu {
namespace {

using npu::vision::FrameSize;
using npu::vision::Object;
using npu::vision::Track;

constexpr std::size_t kMostObjects = 1024;  // of a frame; matching takes time in its square
constexpr std::size_t kMostLabels = 4096;   // that are remembered

npu::vision::TrackerOptions options_of(const TrackSettings& settings) {
  return {.high_confidence = settings.high_threshold,
          .low_confidence = std::min(settings.low_threshold, settings.high_threshold),
          .confirm_after = settings.min_hits,
          .lost_seconds = settings.max_age_ms / 1e3,
          .across_labels = settings.across_labels};
}

/// Numbers below zero come as huge ones of a region's unsigned fields.
double with_sign(double pixels) {
  constexpr double kModulus = 4294967296.0;
  return pixels >= kModulus / 2 && pixels < kModulus ? pixels - kModulus : pixels;
}

/// Nullopt where nothing of it is inside.
std::optional<Object> object_of(const Region& region, FrameSize frame) {
  const double x = with_sign(region.x), y = with_sign(region.y);
  Object object;
  object.left = std::max(x, 0.0);
  object.top = std::max(y, 0.0);
  object.right = std::min<double>(x + region.width, frame.width);
  object.bottom = std::min<double>(y + region.height, frame.height);
  object.confidence = static_cast<float>(region.confidence.value_or(1));
  const bool is_inside = object.left < object.right && object.top < object.bottom;
  if (!is_inside || !std::isfinite(object.confidence)) return std::nullopt;
  return object;
}

GstClockTime to_ns(double seconds) {
  constexpr double kMost = 9e18;  // of what std::llround() can give
  return static_cast<GstClockTime>(std::llround(std::min(std::abs(seconds) * 1e9, kMost)));
}

}  // namespace

// ---- Labels

std::uint32_t LabelNumbers::number_of(const Label& label) {
  const auto [known, is_new] = numbers_.try_emplace(label, next_);
  if (is_new) {
    labels_.emplace(next_++, label);
  }
  return known->second;
}

const LabelNumbers::Label* LabelNumbers::find(std::uint32_t number) const {
  const auto found = labels_.find(number);
  return found == labels_.end() ? nullptr : &found->second;
}

void LabelNumbers::forget_others(std::span<const Track> tracks) {
  if (labels_.size() <= kMostLabels) return;
  std::set<std::uint32_t> used;
  for (const Track& track : tracks) used.insert(track.label_id);
  std::erase_if(labels_, [&](const auto& label) { return !used.contains(label.first); });
  std::erase_if(numbers_, [&](const auto& label) { return !used.contains(label.second); });
}

// ---- Settings

void FrameTracker::configure(const TrackSettings& settings) {
  const TrackSettings before = std::exchange(settings_, settings);
  classes_ = LabelList(settings_.object_class);
  const auto same_options = [&] {
    TrackSettings same = settings;
    same.object_class = before.object_class;
    same.predict = before.predict;
    same.inference_interval = before.inference_interval;
    return same == before;
  };
  if (same_options()) return;
  tracker_ = npu::vision::Tracker(options_of(settings_));
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
  const bool has_objects =
      take_regions(read_regions(buffer, frame, RegionDetail::kBox), frame, &done);
  if (is_looked_at(buffer, has_objects)) {
    tracker_.update(seconds, objects_, frame);
    identify(buffer, seconds, &done);
  } else {
    done.is_predicted = true;
    tracker_.predict(seconds, frame);
    if (settings_.predict) {
      predict(buffer, seconds, frame, &done);
    }
  }
  labels_.forget_others(tracker_.tracks());
  return done;
}

/// Frames of npuinfer tell it. Of other detectors only those with objects do; of the others between
/// them every Nth counts.
bool FrameTracker::is_looked_at(GstBuffer* buffer, bool has_objects) {
  const bool tells = is_inferred(buffer);
  knows_inferences_ = knows_inferences_ || tells;
  ++since_looked_at_;
  const bool is_due = !knows_inferences_ && since_looked_at_ >= settings_.inference_interval;
  if (!tells && !has_objects && !is_due) return false;
  since_looked_at_ = 0;
  return true;
}

/// Takes the regions without an identity. Returns whether there are any, wanted or not.
bool FrameTracker::take_regions(std::vector<Region> regions, FrameSize frame, TrackedFrame* done) {
  regions_.clear();
  objects_.clear();
  bool has_objects = false;
  for (Region& region : regions) {
    has_objects = has_objects || !region.tracking_id;
    if (region.tracking_id || !classes_.has(region.label)) continue;
    std::optional<Object> object = object_of(region, frame);
    if (!object) {
      ++done->refused;
      continue;
    }
    objects_.push_back(*object);
    regions_.push_back(std::move(region));
  }
  keep_best(done);
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    objects_[i].label_id = labels_.number_of({regions_[i].label, regions_[i].label_id});
  }
  done->objects = objects_.size();
  return has_objects;
}

void FrameTracker::keep_best(TrackedFrame* done) {
  if (objects_.size() <= kMostObjects) return;
  std::vector<std::size_t> order(objects_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return objects_[a].confidence > objects_[b].confidence;
  });
  done->refused += order.size() - kMostObjects;
  order.resize(kMostObjects);
  std::vector<Object> objects;
  std::vector<Region> regions;
  for (const std::size_t i : order) {
    objects.push_back(objects_[i]);
    regions.push_back(std::move(regions_[i]));
  }
  objects_ = std::move(objects);
  regions_ = std::move(regions);
}

Identity FrameTracker::identity_of(const Track& track, double seconds) {
  const guint64 id = first_id_ + track.id;
  last_id_ = std::max(last_id_, id);
  return {.id = id,
          .first_seen_ns = to_ns(track.first_found),
          .last_seen_ns = to_ns(seconds - track.seconds_since_found)};
}

void FrameTracker::identify(GstBuffer* buffer, double seconds, TrackedFrame* done) {
  for (const Track& track : tracker_.tracks().first(tracker_.num_present())) {
    if (track.id == 0 || track.object == Track::kNotFound) continue;
    attach_identity(buffer, regions_[track.object], identity_of(track, seconds));
    ++done->identified;
  }
}

void FrameTracker::predict(GstBuffer* buffer, double seconds, FrameSize frame, TrackedFrame* done) {
  gint region_id = next_region_id(buffer);
  for (const Track& track : tracker_.tracks().first(tracker_.num_present())) {
    const LabelNumbers::Label* label = labels_.find(track.label_id);
    const bool is_old = track.seconds_since_found > settings_.max_age_ms / 1e3;
    if (track.id == 0 || is_old || label == nullptr) continue;
    const Object object{.left = track.left,
                        .top = track.top,
                        .right = track.right,
                        .bottom = track.bottom,
                        .confidence = track.confidence,
                        .label_id = static_cast<std::uint32_t>(label->id.value_or(-1)),
                        .oriented = {}};
    Region region;
    region.meta = attach_object(buffer, object, label->text, frame, region_id++);
    if (!label->id) {
      gst_structure_remove_field(
          gst_video_region_of_interest_meta_get_param(region.meta, "detection"), "label_id");
    }
#ifdef GST_NPU_HAVE_ANALYTICS
    region.analytics_id = static_cast<guint>(region.meta->id);
#endif
    attach_identity(buffer, region, identity_of(track, seconds));
    ++done->predicted;
  }
}

}  // namespace gstnpu

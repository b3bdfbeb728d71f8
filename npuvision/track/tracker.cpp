#include <algorithm>
#include <cmath>

#include <npuvision/tracker.hpp>

#include "decode/boxes.hpp"

#include "assignment.hpp"
#include "motion.hpp"

namespace npu::vision {
namespace {

// Least overlap of an object with its track's expected box.
constexpr double kLeastOverlap = 0.2;
constexpr double kLeastOverlapOfUnsure = 0.5;
// Small and fast objects overlap with nothing, so the last rounds compare enlarged boxes: by this
// part of their sides on each side (C-BIoU: Yang et al., WACV 2023).
constexpr double kBuffer = 0.5;
// An object is partly hidden if it is suddenly smaller than this part of the expected box and
// inside of it, give or take a margin in parts of the expected sides. If that lasts, it has become
// that small.
constexpr double kLeastSeen = 0.7;
constexpr double kHiddenMargin = 0.1;
constexpr double kLongestHidden = 0.5;  // seconds
// Limits the memory where lost tracks are never given up.
constexpr std::size_t kMostLost = 1024;
// Most positions inserted into a path.
constexpr int kMostVirtual = 8;

Edges edges_of(const Object& object) {
  return {object.left, object.top, object.right, object.bottom};
}

Edges larger(const Edges& edges) {
  const double x = kBuffer * (edges[2] - edges[0]), y = kBuffer * (edges[3] - edges[1]);
  return {edges[0] - x, edges[1] - y, edges[2] + x, edges[3] + y};
}

double area(const Edges& edges) {
  return (edges[2] - edges[0]) * (edges[3] - edges[1]);
}

/// The whole box of a partly hidden object: as large as expected, and moved only where the seen
/// part sticks out. The seen box for other objects.
Edges whole_of(const Edges& expected, const Edges& seen) {
  if (area(seen) >= kLeastSeen * area(expected)) return seen;
  Edges whole = expected;
  for (std::size_t low = 0; low < 2; ++low) {
    const std::size_t high = low + 2;
    const double over_low = std::min(seen[low] - expected[low], 0.0);
    const double over_high = std::max(seen[high] - expected[high], 0.0);
    const double margin = kHiddenMargin * (expected[high] - expected[low]);
    if (over_high - over_low > margin) return seen;
    whole[low] += over_low + over_high;
    whole[high] += over_low + over_high;
  }
  return whole;
}

bool is_box(const Object& object) {
  const Edges edges = edges_of(object);
  return std::all_of(edges.begin(), edges.end(), [](double edge) { return std::isfinite(edge); }) &&
         object.left < object.right && object.top < object.bottom &&
         std::isfinite(object.confidence);
}

/// A track with its filter and its last detections.
struct Tracked {
  Track track;
  Motion motion;
  Motion motion_when_found;
  Edges found;  ///< frame pixels
  Edges whole;  ///< `found` with its hidden part
  double found_at = 0;
  double whole_at = 0;  ///< when it was last not hidden
  std::uint32_t times_found = 0;
  std::uint32_t missed = 0;  ///< frames in a row in which it was not found

  bool is_lost() const { return missed > 0; }
  bool is_confirmed() const { return track.id != 0; }
};

/// One round of matching: the tracks and objects that take part.
struct Round {
  bool is_confirmed;  ///< which tracks
  bool with_lost;     ///< whether lost tracks too
  bool is_sure;       ///< which objects
  bool is_larger;     ///< compare enlarged boxes, see kBuffer
  double least_overlap;
};

constexpr Round kRounds[] = {
    {.is_confirmed = true,
     .with_lost = true,
     .is_sure = true,
     .is_larger = false,
     .least_overlap = kLeastOverlap},
    {.is_confirmed = true,
     .with_lost = false,
     .is_sure = false,
     .is_larger = false,
     .least_overlap = kLeastOverlapOfUnsure},
    {.is_confirmed = true,
     .with_lost = true,
     .is_sure = true,
     .is_larger = true,
     .least_overlap = kLeastOverlap},
    {.is_confirmed = false,
     .with_lost = false,
     .is_sure = true,
     .is_larger = true,
     .least_overlap = kLeastOverlap},
};

}  // namespace

class Tracker::Impl {
 public:
  explicit Impl(const TrackerOptions& options) : options_(options) {}

  void update(double seconds, std::span<const Object> objects, FrameSize frame);
  void predict(double seconds, FrameSize frame);
  std::span<const Track> tracks() const { return shown_; }
  std::size_t num_present() const { return num_present_; }
  void reset() {
    tracked_.clear();
    shown_.clear();
    num_present_ = 0;
    is_first_ = true;
  }

 private:
  void go_on(double seconds);
  void leave_out(std::span<const Object> objects);
  void match(const Round& round, std::span<const Object> objects);
  bool takes_part(const Round& round, const Tracked& tracked) const;
  bool takes_part(const Round& round, const Object& object) const;
  void move(Tracked* tracked, const Edges& found);
  void find(Tracked* tracked, std::span<const Object> objects, std::size_t object);
  void begin_tracks(std::span<const Object> objects);
  void drop(FrameSize frame);
  void drop_longest_lost();
  void show(FrameSize frame);

  TrackerOptions options_;
  std::uint64_t next_id_ = 1;
  double seconds_ = 0;
  bool is_first_ = true;  // no frame was taken yet
  std::vector<Tracked> tracked_;
  std::vector<Track> shown_;
  std::size_t num_present_ = 0;

  // Kept for one frame:
  std::vector<char> is_taken_;      // for each object
  std::vector<std::size_t> boxes_;  // indices of objects
  std::vector<Edges> expected_;
  std::vector<double> lost_since_;
  Assignment assignment_;
};

void Tracker::Impl::go_on(double seconds) {
  if (!std::isfinite(seconds)) {
    seconds = is_first_ ? 0 : seconds_;
  }
  if (!is_first_ && seconds < seconds_) {
    reset();
  }
  const double passed = is_first_ ? 0 : seconds - seconds_;
  seconds_ = seconds;
  for (Tracked& tracked : tracked_) {
    tracked.motion.predict(passed);
    tracked.track.object = Track::kNotFound;
    tracked.track.seconds_since_found = seconds - tracked.found_at;
  }
}

/// Leaves out empty boxes, and where there are too many, all but the best: matching takes time in
/// the square of their number.
void Tracker::Impl::leave_out(std::span<const Object> objects) {
  is_taken_.assign(objects.size(), 0);
  boxes_.clear();
  for (std::size_t j = 0; j < objects.size(); ++j) {
    if (is_box(objects[j])) {
      boxes_.push_back(j);
    } else {
      is_taken_[j] = 1;
    }
  }
  if (boxes_.size() <= kMostObjects) return;
  std::stable_sort(boxes_.begin(), boxes_.end(), [&](std::size_t a, std::size_t b) {
    return objects[a].confidence > objects[b].confidence;
  });
  for (const std::size_t j : std::span(boxes_).subspan(kMostObjects)) is_taken_[j] = 1;
}

bool Tracker::Impl::takes_part(const Round& round, const Tracked& tracked) const {
  return tracked.track.object == Track::kNotFound && tracked.is_confirmed() == round.is_confirmed &&
         (round.with_lost || !tracked.is_lost());
}

bool Tracker::Impl::takes_part(const Round& round, const Object& object) const {
  const bool is_sure = object.confidence >= options_.high_confidence;
  return is_sure == round.is_sure && object.confidence >= options_.low_confidence;
}

void Tracker::Impl::match(const Round& round, std::span<const Object> objects) {
  assignment_.begin(tracked_.size(), objects.size());
  expected_.clear();
  for (const Tracked& tracked : tracked_) {
    const Edges edges = tracked.motion.edges();
    expected_.push_back(round.is_larger ? larger(edges) : edges);
  }
  for (std::size_t j = 0; j < objects.size(); ++j) {
    if (is_taken_[j] || !takes_part(round, objects[j])) continue;
    const Edges found = round.is_larger ? larger(edges_of(objects[j])) : edges_of(objects[j]);
    for (std::size_t i = 0; i < tracked_.size(); ++i) {
      if (!takes_part(round, tracked_[i])) continue;
      if (!options_.across_labels && tracked_[i].track.label_id != objects[j].label_id) continue;
      const double shared = overlap(expected_[i], found);
      if (shared >= round.least_overlap) {
        assignment_.add(i, j, 1 - shared);
      }
    }
  }
  for (const auto& [i, j] : assignment_.solve()) {
    find(&tracked_[i], objects, j);
  }
}

/// A lost object moved unseen. Assumes that it went straight, so that its velocity is that of its
/// path and not the one predicted in vain (OC-SORT: Cao et al., CVPR 2023).
void follow_path(Tracked* tracked, const Edges& to, double seconds) {
  const int steps = std::min(static_cast<int>(tracked->missed) + 1, kMostVirtual);
  const Edges from = tracked->whole;
  tracked->motion = tracked->motion_when_found;
  for (int step = 1; step <= steps; ++step) {
    const double part = static_cast<double>(step) / steps;
    Edges at{};
    for (std::size_t i = 0; i < at.size(); ++i) {
      at[i] = from[i] + part * (to[i] - from[i]);
    }
    tracked->motion.predict((seconds - tracked->found_at) / steps);
    tracked->motion.correct(at);
  }
}

void Tracker::Impl::move(Tracked* tracked, const Edges& found) {
  const bool may_be_hidden =
      tracked->is_confirmed() && seconds_ - tracked->whole_at <= kLongestHidden;
  const Edges whole = may_be_hidden ? whole_of(tracked->motion.edges(), found) : found;
  if (whole == found) {
    tracked->whole_at = seconds_;
  }
  if (tracked->is_lost()) {
    follow_path(tracked, whole, seconds_);
  } else {
    tracked->motion.correct(whole);
  }
  tracked->motion_when_found = tracked->motion;
  tracked->found = found;
  tracked->whole = whole;
  tracked->found_at = seconds_;
}

void Tracker::Impl::find(Tracked* tracked, std::span<const Object> objects, std::size_t object) {
  move(tracked, edges_of(objects[object]));
  is_taken_[object] = 1;
  tracked->missed = 0;
  tracked->track.object = object;
  tracked->track.seconds_since_found = 0;
  tracked->track.confidence = objects[object].confidence;
  tracked->track.label_id = objects[object].label_id;
  if (++tracked->times_found >= options_.confirm_after && !tracked->is_confirmed()) {
    tracked->track.id = next_id_++;
  }
}

void Tracker::Impl::begin_tracks(std::span<const Object> objects) {
  for (std::size_t j = 0; j < objects.size(); ++j) {
    if (is_taken_[j] || objects[j].confidence < options_.high_confidence) continue;
    Tracked tracked;
    tracked.motion = Motion(edges_of(objects[j]));
    tracked.found = edges_of(objects[j]);
    tracked.motion_when_found = tracked.motion;
    tracked.whole = tracked.found;
    tracked.found_at = tracked.whole_at = seconds_;
    tracked.times_found = 1;
    tracked.track = {.confidence = objects[j].confidence,
                     .label_id = objects[j].label_id,
                     .object = j,
                     .first_found = seconds_};
    if (is_first_ || options_.confirm_after <= 1) {
      tracked.track.id = next_id_++;
    }
    tracked_.push_back(tracked);
  }
}

/// Drops tracks that were not confirmed, were lost for too long, or have left the frame.
void Tracker::Impl::drop(FrameSize frame) {
  std::erase_if(tracked_, [&](Tracked& tracked) {
    if (tracked.track.object != Track::kNotFound) return false;
    ++tracked.missed;
    tracked.motion.keep_size();
    const Edges edges = tracked.motion.edges();
    const double x = (edges[0] + edges[2]) / 2, y = (edges[1] + edges[3]) / 2;
    const bool is_inside = x >= 0 && x < frame.width && y >= 0 && y < frame.height;
    return !tracked.is_confirmed() || !is_inside ||
           tracked.track.seconds_since_found > options_.lost_seconds;
  });
}

/// Drops the tracks lost longest if there are more than kMostLost.
void Tracker::Impl::drop_longest_lost() {
  lost_since_.clear();
  for (const Tracked& tracked : tracked_) {
    if (tracked.is_lost()) {
      lost_since_.push_back(tracked.found_at);
    }
  }
  if (lost_since_.size() <= kMostLost) return;
  const std::size_t surplus = lost_since_.size() - kMostLost;
  const auto first_kept = lost_since_.begin() + static_cast<std::ptrdiff_t>(surplus);
  std::nth_element(lost_since_.begin(), first_kept, lost_since_.end());
  const double oldest = *first_kept;
  auto as_old = std::count(lost_since_.begin(), first_kept, oldest);
  std::erase_if(tracked_, [&](const Tracked& tracked) {
    if (!tracked.is_lost() || tracked.found_at > oldest) return false;
    return tracked.found_at < oldest || as_old-- > 0;
  });
}

void Tracker::Impl::show(FrameSize frame) {
  shown_.clear();
  for (const bool is_lost : {false, true}) {
    for (const Tracked& tracked : tracked_) {
      if (tracked.is_lost() != is_lost) continue;
      const bool is_found = tracked.track.object != Track::kNotFound;
      const Edges edges = is_found ? tracked.found : tracked.motion.edges();
      Track track = tracked.track;
      track.left = std::clamp<double>(edges[0], 0, frame.width);
      track.top = std::clamp<double>(edges[1], 0, frame.height);
      track.right = std::clamp<double>(edges[2], 0, frame.width);
      track.bottom = std::clamp<double>(edges[3], 0, frame.height);
      if (track.left < track.right && track.top < track.bottom) {
        shown_.push_back(track);
      }
    }
    if (!is_lost) {
      num_present_ = shown_.size();
    }
  }
}

void Tracker::Impl::update(double seconds, std::span<const Object> objects, FrameSize frame) {
  go_on(seconds);
  leave_out(objects);
  for (const Round& round : kRounds) {
    match(round, objects);
  }
  drop(frame);
  drop_longest_lost();
  begin_tracks(objects);
  is_first_ = false;
  show(frame);
}

void Tracker::Impl::predict(double seconds, FrameSize frame) {
  go_on(seconds);
  show(frame);
}

Tracker::Tracker(const TrackerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Tracker::~Tracker() = default;
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;

void Tracker::update(double seconds, std::span<const Object> objects, FrameSize frame) {
  impl_->update(seconds, objects, frame);
}

void Tracker::predict(double seconds, FrameSize frame) {
  impl_->predict(seconds, frame);
}

std::span<const Track> Tracker::tracks() const {
  return impl_->tracks();
}

std::size_t Tracker::num_present() const {
  return impl_->num_present();
}

void Tracker::reset() {
  impl_->reset();
}

}  // namespace npu::vision

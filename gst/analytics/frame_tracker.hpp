// Tracks the objects of nputrack's frames.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <npuvision/tracker.hpp>

#include "answers/frame_answer.hpp"
#include "common/label_list.hpp"

namespace gstnpu {

struct TrackSettings {
  std::string object_class;  ///< labels, separated by commas; empty: every object
  float high_threshold = 0.5F;
  float low_threshold = 0.1F;
  std::uint32_t min_hits = 2;
  std::uint32_t max_age_ms = 1000;
  bool across_labels = false;
  bool predict = true;
  std::uint32_t inference_interval = 1;

  bool operator==(const TrackSettings&) const = default;
};

/// Counts of a frame's objects.
struct TrackedFrame {
  bool is_predicted = false;  ///< nobody looked for objects in it
  std::size_t objects = 0;    ///< that were found
  std::size_t identified = 0;
  std::size_t predicted = 0;
  std::size_t refused = 0;  ///< empty, outside of the frame, or too many
};

/// Numbers for labels, which trackers compare.
class LabelNumbers {
 public:
  struct Label {
    std::string text;
    std::optional<int> id;
    auto operator<=>(const Label&) const = default;
  };

  std::uint32_t number_of(const Label& label) {
    const auto [known, is_new] = numbers_.try_emplace(label, next_);
    if (is_new) {
      labels_.emplace(next_++, &known->first);
    }
    return known->second;
  }
  /// Null where it is gone.
  const Label* find(std::uint32_t number) const;
  /// Forgets those that no track has, where there are very many: a label may be a text.
  void forget_others(std::span<const npu::vision::Track> tracks);

 private:
  std::map<Label, std::uint32_t> numbers_;
  std::map<std::uint32_t, const Label*> labels_;  // keys of numbers_
  std::uint32_t next_ = 0;
};

/// Gives the objects of a stream's frames identities, and frames between inferences their objects.
/// One thread.
class FrameTracker {
 public:
  /// Ends all tracks where the tracker's own options change.
  void configure(const TrackSettings& settings);
  /// Ends all tracks. Identities go on.
  void reset();
  /// `seconds`: of the stream; the buffer is writable.
  TrackedFrame track(GstBuffer* buffer, double seconds, npu::vision::FrameSize frame);
  guint64 last_id() const { return last_id_; }

 private:
  bool is_looked_at(GstBuffer* buffer, bool has_objects);
  bool take_objects(const FrameAnswer& answer, TrackedFrame* done);
  void identify(double seconds, FrameAnswer* answer, TrackedFrame* done);
  void predict(double seconds, FrameAnswer* answer, TrackedFrame* done);
  Identity identity_of(const npu::vision::Track& track, double seconds);

  TrackSettings settings_;
  LabelList classes_;
  npu::vision::Tracker tracker_;
  guint64 first_id_ = 0;  // of this tracker: what its own numbers are added to
  guint64 last_id_ = 0;
  bool knows_inferences_ = false;  // this stream's frames tell which of them were inferred
  std::uint32_t since_looked_at_ = 0;
  LabelNumbers labels_;

  // Kept for one frame:
  std::vector<npu::vision::Object> objects_;
  std::vector<std::size_t> indices_;  // theirs in the answer
};

}  // namespace gstnpu

// The objects of a frame that are inferred one by one, and what came of them.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/label_list.hpp"
#include "common/refs.hpp"
#include "frames/region_copy.hpp"

#include "inference.hpp"

namespace gstnpu {

/// An object that an element upstream has found in a frame.
struct FrameObject {
  PixelRect box;    ///< clipped to the frame, not empty
  ObjectLink link;  ///< where its results go
  std::string label;
  std::optional<guint64> track;  ///< tells it from others in all frames
};

/// What is on a buffer: GstVideoRegionOfInterestMeta of anybody, and objects of GstAnalytics that
/// have none. Those that are empty or outside of the frame are only counted.
struct FrameObjects {
  std::vector<FrameObject> usable;
  guint64 refused = 0;
};
FrameObjects find_objects(GstBuffer* buffer, guint width, guint height);

/// Chooses the objects that are inferred. Streaming thread.
class ObjectPicker {
 public:
  /// `classes`: labels, separated by commas; empty: any.
  explicit ObjectPicker(const std::string& classes);

  struct Picked {
    std::vector<FrameObject> objects;
    guint64 refused = 0;       ///< as above, and what is beyond the most that a frame may have
    bool has_waiting = false;  ///< some are of the classes, but not due by the interval
  };
  /// Of the next frame. `interval`: each object again only in every Nth, by its track, else all in
  /// every Nth; where that has none, in the next that has.
  Picked pick(FrameObjects found, guint interval);
  /// The last frame was dropped: its objects are due in the next one.
  void take_back();
  /// The frames that come are not those after the last.
  void forget() {
    inferred_at_.clear();
    others_at_.reset();
  }

  static constexpr std::size_t kMostObjects = 512;  ///< of one frame; more are no detections

 private:
  bool is_due(const FrameObject& object, guint interval);
  bool waits(guint64 inferred_at, guint interval) const;
  void drop_old_tracks(guint interval);

  LabelList classes_;
  guint64 frame_ = 0;
  std::unordered_map<guint64, guint64> inferred_at_;  // by track: the frame
  std::optional<guint64> others_at_;                  // those without a track
};

/// What the objects of one frame gave. Made by the streaming thread, filled by the output task.
struct RegionResults {
  std::vector<InferenceResult> done;
  guint frame_width = 0, frame_height = 0;
  bool is_lost = false;              ///< the NPU was lost at one of them
  guint64 came_ns = 0;               ///< when the frame came into the element
  guint64 begin_ns = 0, end_ns = 0;  ///< of what the NPU did
};

/// An object in the NPU, and its frame behind the last of them.
struct RegionInference {
  std::unique_ptr<Inference> inference;
  std::shared_ptr<RegionResults> results;
};
struct RegionFrame {
  BufferRef buffer;
  std::shared_ptr<RegionResults> results;
};

/// The frame with all that its objects gave; on a shallow copy where others hold the buffer too.
BufferRef finish(RegionFrame frame);

}  // namespace gstnpu

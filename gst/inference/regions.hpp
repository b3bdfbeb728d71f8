// Objects of a frame that are inferred one by one, and their results.
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

/// An object that an upstream element found in a frame.
struct FrameObject {
  PixelRect box;    ///< clipped to the frame, not empty
  ObjectLink link;  ///< where its results go
  std::string label;
  std::optional<guint64> track;  ///< identifies it across frames
};

/// All objects on a buffer, whoever attached them. Objects that are empty or outside of the frame
/// are only counted.
struct FrameObjects {
  std::vector<FrameObject> usable;
  guint64 refused = 0;
};
FrameObjects find_objects(GstBuffer* buffer, guint width, guint height);

/// Chooses the objects to infer. Streaming thread only.
class ObjectPicker {
 public:
  /// `classes`: labels, separated by commas; empty: any.
  explicit ObjectPicker(const std::string& classes);

  struct Picked {
    std::vector<FrameObject> objects;
    guint64 refused = 0;       ///< as FrameObjects, plus objects beyond kMostObjects
    bool has_waiting = false;  ///< some objects have the right class but are not due yet
  };
  /// Picks objects of the next frame. `interval`: an object with a track is due again after that
  /// many frames; so are all objects without a track together, or in the next frame that has any.
  Picked pick(FrameObjects found, guint interval);
  /// The last frame was dropped: its objects are due in the next one.
  void take_back();
  /// Starts over: the next frame does not follow the last one.
  void forget() {
    inferred_at_.clear();
    others_at_.reset();
  }

  static constexpr std::size_t kMostObjects = 512;  ///< of one frame; more are not real detections

 private:
  bool is_due(const FrameObject& object, guint interval);
  bool waits(guint64 inferred_at, guint interval) const;
  void drop_old_tracks(guint interval);

  LabelList classes_;
  guint64 frame_ = 0;
  std::unordered_map<guint64, guint64> inferred_at_;  // frame number by track
  std::optional<guint64> others_at_;                  // of the last inference without a track
};

/// Results of one frame's objects. Made by the streaming thread, filled by the output task.
struct RegionResults {
  std::vector<InferenceResult> done;
  guint frame_width = 0, frame_height = 0;
  bool is_lost = false;              ///< the NPU was lost during one of them
  guint64 came_ns = 0;               ///< when the frame came into the element
  guint64 begin_ns = 0, end_ns = 0;  ///< from the first submission to the last fence
};

/// An object in the NPU. The frame follows as a RegionFrame behind its last object.
struct RegionInference {
  std::unique_ptr<Inference> inference;
  std::shared_ptr<RegionResults> results;
};
struct RegionFrame {
  BufferRef buffer;
  std::shared_ptr<RegionResults> results;
};

/// The frame with the results of all its objects, on a shallow copy where others hold the buffer
/// too.
BufferRef finish(RegionFrame frame);

}  // namespace gstnpu

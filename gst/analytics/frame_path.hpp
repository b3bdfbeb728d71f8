// The elements between an inference and a decoder, and what they do to frames.
#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "common/refs.hpp"

#include "frame_move.hpp"

namespace gstnpu {

/// Before GStreamer 1.28 videocrop, videobox and videoflip drop the metas that tell where things
/// are, and tell nobody what they do; videoscale keeps quiet about borders. Their properties and
/// the caps around them say it. Streaming thread.
class FramePath {
 public:
  /// None yet.
  FramePath() = default;
  /// All elements upstream of the pad, as they are when it gets caps.
  explicit FramePath(GstPad* sink);

  /// The move from the frame that was inferred to the one at the pad; nullopt where an element is
  /// not known, or the inference is not found. Throws npu::Error where an element does something
  /// else by now and older frames cannot be told from newer ones.
  std::optional<FrameMove> move_of(const GstNpuInferenceMeta& origin) const;

  /// Called where move_of() knows nothing: throws npu::Error if an element between adds borders,
  /// which it tells no meta.
  void check_borders(const GstNpuInferenceMeta& origin) const;

  /// Called where the meta is gone, too: throws npu::Error if all elements between are known, but
  /// have other sizes or settings by now, for example because a queue holds frames.
  void check_sizes(const GstNpuInferenceMeta& origin) const;

  /// Frames of another size are inferred by now: an element between kept the size of its own
  /// frames, so that no caps came.
  bool is_older_than(const GstNpuInferenceMeta& origin) const;

  /// The same of tensors that other elements attached, which tell nothing, and the size of the
  /// frame that those were made of. An element is known by its name to be such an inference;
  /// nullopt: none is, or nothing between it and the pad moves pixels. Throws npu::Error where
  /// something does, and nobody knows how, or whether the tensors are of frames in front of it.
  struct Others {
    FrameMove move;
    npu::vision::FrameSize frame;
  };
  std::optional<Others> move_of_others() const;

  /// An element that turns or mirrors frames without a known way to follow it; empty: none.
  const std::string& turning() const { return turning_; }

 private:
  /// The user's setting: videocrop's and videobox's edges, or how videoflip turns.
  using Setting = std::vector<int>;
  struct Step {
    ObjectRef<GstElement> element;
    npu::vision::FrameSize from, to;
    Setting setting;                // of elements that have one that counts
    std::optional<FrameMove> move;  // none: not known
    bool is_known;                  // unless it is only that sizes and settings do not fit
    bool is_turning;                // by a property that all such elements have
  };
  struct Inference {
    std::string model;
    std::size_t steps;  // between it and the pad
    npu::vision::FrameSize frame;
  };

  std::vector<Inference> inferences_of(const GstNpuInferenceMeta& origin) const;
  std::size_t steps_of(const GstNpuInferenceMeta& origin) const;
  static bool may_move(const Step& step);
  std::size_t steps_of_others() const;
  void add(GstElement* element, GstPad* before, GstPad* after);
  void find_turning();
  std::optional<FrameMove> move_over(std::size_t steps) const;
  static void check_unchanged(const Step& step);

  std::vector<Step> steps_;  // nearest first
  std::vector<Inference> inferences_;
  std::optional<Inference> other_;  // the nearest that is not ours
  std::string turning_;
};

}  // namespace gstnpu

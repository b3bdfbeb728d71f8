#pragma once

#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/refs.hpp"

#include "opened.hpp"

namespace gstnpu {

/// Which frames an element takes: pure answers of what is open, from any thread. The model stays
/// open as long as the answers are needed, whatever the element's state becomes meanwhile.
class Negotiation {
 public:
  /// Null before a model is open.
  explicit Negotiation(std::shared_ptr<const Opened> opened) : opened_(std::move(opened)) {}

  /// What the frames of a stream are. Throws npu::Error, with the cure, for caps that no frame of
  /// ours has. Once a model is open.
  GstVideoInfo stream_of(const GstCaps* caps) const;
  /// What the frames will be, where the peer of `sink` offers frames of one size only: what that of
  /// `src` takes of them.
  std::optional<GstVideoInfo> foreseen(GstPad* sink, GstPad* src) const;
  /// What to tell about colours that differ from the blob's; empty where they do not.
  std::string color_warning(const GstVideoInfo& info) const;

  /// What frames of these caps are once the tensors are on them. Once a model is open.
  CapsRef caps_with_tensors(const GstCaps* caps) const;

  /// Queries; `other` is the element's pad on the other side.
  void answer_caps(GstPad* other, GstQuery* query) const;
  bool answer_accept_caps(GstPad* other, GstQuery* query) const;
  /// `takes_crops`: whoever gets the frames next knows what a GstVideoCropMeta is.
  gboolean answer_allocation(GstQuery* query, bool takes_crops) const;

  /// Why these caps are refused; empty where stream_of() takes them, and the peer of `src` gets the
  /// tensors that it asks for. Once a model is open.
  std::string refusal_of(const GstCaps* caps, GstPad* src) const;
  struct Verdict {
    std::string refusal;       ///< why nothing of the offer is taken
    std::string tiles_beside;  ///< a tiled DMA-BUF format that was offered beside ordinary memory
  };
  /// Of a caps query that was answered. Once a model is open.
  Verdict judge_offer(GstQuery* query, GstPad* src) const;

 private:
  CapsRef own_caps() const;
  CapsRef wanted_caps(GstPad* other, const GstCaps* own) const;
  std::string tensor_refusal_of(const GstCaps* caps, GstPad* src) const;
  CapsRef taken_caps(GstPad* other, GstCaps* filter) const;

  const std::shared_ptr<const Opened> opened_;
};

/// What one stream refused, and what of that the user was told. From any thread.
class Refusals {
 public:
  /// Why nothing of upstream's last offer is taken. True the first time: worth a warning.
  bool note_offer(const std::string& why);
  /// Why caps that upstream only tried are not taken.
  void note_trial(const std::string& why);
  void note_tiles_beside(const std::string& format);
  /// The caps of a stream are not taken. True once for each stream that was taken before.
  bool note_stream();
  void note_taken_stream();

  std::string last() const;
  std::string tiles_beside() const;

 private:
  mutable std::mutex mutex_;  // guards all below
  std::string last_, tiles_beside_;
  bool told_offer_ = false;
  bool told_stream_ = false;
};

}  // namespace gstnpu

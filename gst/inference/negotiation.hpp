#pragma once

#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/refs.hpp"

#include "opened.hpp"

namespace gstnpu {

/// Decides which frames an element takes, from the opened model alone; changes nothing.
/// Thread-safe. Keeps the model open, whatever state the element goes to meanwhile.
class Negotiation {
 public:
  /// Null before a model is open.
  explicit Negotiation(std::shared_ptr<const Opened> opened) : opened_(std::move(opened)) {}

  /// Describes the stream's frames. Throws npu::Error, with the cure, for caps that the element
  /// does not take. Needs an open model.
  GstVideoInfo stream_of(const GstCaps* caps) const;
  /// The frames to expect, where upstream of `sink` offers one size only and downstream of `src`
  /// takes it; else nullopt.
  std::optional<GstVideoInfo> foreseen(GstPad* sink, GstPad* src) const;
  /// A warning where the stream's colours differ from the blob's; else empty.
  std::string color_warning(const GstVideoInfo& info) const;

  /// The caps of frames that carry the tensors. Needs an open model.
  CapsRef caps_with_tensors(const GstCaps* caps) const;

  /// Answers queries; `other` is the element's pad on the other side.
  void answer_caps(GstPad* other, GstQuery* query) const;
  bool answer_accept_caps(GstPad* other, GstQuery* query) const;
  /// `takes_crops`: downstream knows GstVideoCropMeta.
  gboolean answer_allocation(GstQuery* query, bool takes_crops) const;

  /// Why these caps are refused; empty where stream_of() takes them and the peer of `src` gets the
  /// tensors that it asks for. Needs an open model.
  std::string refusal_of(const GstCaps* caps, GstPad* src) const;
  struct Verdict {
    std::string refusal;       ///< why nothing of the offer is taken
    std::string tiles_beside;  ///< a tiled DMA-BUF format that was offered beside ordinary memory
  };
  /// Judges a caps query that was answered. Needs an open model.
  Verdict judge_offer(GstQuery* query, GstPad* src) const;

 private:
  CapsRef own_caps() const;
  CapsRef wanted_caps(GstPad* other, const GstCaps* own) const;
  std::string tensor_refusal_of(const GstCaps* caps, GstPad* src) const;
  CapsRef taken_caps(GstPad* other, GstCaps* filter) const;

  const std::shared_ptr<const Opened> opened_;
};

/// Notes what one stream refused, and which refusals the user was told. Thread-safe.
class Refusals {
 public:
  /// Notes why nothing of upstream's last offer is taken. True the first time: worth a warning.
  bool note_offer(const std::string& why);
  /// Notes why caps that upstream only tried are not taken.
  void note_trial(const std::string& why);
  void note_tiles_beside(const std::string& format);
  /// Notes that a stream's caps are not taken. True once after each stream that was taken.
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

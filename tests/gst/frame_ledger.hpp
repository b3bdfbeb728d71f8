// Keeps account of the frames and events that go into an element and come out of it.
#pragma once

#include <gst/gst.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace gstnpu::test {

/// Probes on both pads of an element. Between two flushes what comes out must be what went in, in
/// order, from the first on; at EOS nothing may be missing. Frames are known by their timestamp,
/// and by their pixels: each is painted with its number when it goes in, and the model gives its
/// pixels back.
class FrameLedger {
 public:
  /// `check_tensors`: the tensors hold the painted pixels as f32.
  FrameLedger(GstElement* element, bool check_tensors);
  ~FrameLedger();
  FrameLedger(const FrameLedger&) = delete;
  FrameLedger& operator=(const FrameLedger&) = delete;

  /// The pipeline is about to stop: a sink that is no longer active answers as if the stream had
  /// ended, and what was inside is lost. Until restart().
  void expect_losses();
  /// Starts a new account; the element must not be streaming.
  void restart();
  /// False when fewer than `count` frames more came out within `seconds`.
  bool wait_for_frames(std::uint64_t count, unsigned seconds);
  std::uint64_t frames_out() const;
  std::uint64_t marks_out() const;
  std::vector<std::string> complaints() const;

 private:
  /// A frame's timestamp, or a marker event's number.
  struct Entry {
    bool is_mark = false;
    std::uint64_t number = 0;
    bool operator==(const Entry&) const = default;
  };

  static GstPadProbeReturn on_input(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static GstPadProbeReturn on_output(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  void frame_in(GstPadProbeInfo* info);
  void event_in(GstPad* pad, GstEvent* event);
  void frame_out(GstBuffer* buffer);
  void event_out(GstEvent* event);
  void expect_next(const Entry& entry);
  void check_painting(GstBuffer* buffer);
  void complain(const std::string& what);

  GstPad* const sink_;
  GstPad* const src_;
  const bool check_tensors_;
  gulong sink_probe_ = 0, src_probe_ = 0;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable came_out_;
  bool may_lose_ = false;
  std::deque<Entry> waiting_;  // went in since the last flush and has not come out
  std::uint64_t frames_in_ = 0, frames_out_ = 0, marks_in_ = 0, marks_out_ = 0;
  std::vector<std::string> complaints_;
};

}  // namespace gstnpu::test

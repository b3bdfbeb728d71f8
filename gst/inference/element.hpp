#pragma once

#include <gst/gst.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "common/refs.hpp"
#include "graphs/settings.hpp"

#include "opened.hpp"
#include "replacement.hpp"
#include "stats.hpp"
#include "stream.hpp"

namespace gstnpu {

/// State of npuinfer and npuimport: the properties always, an Opened from READY on, a Stream from
/// PAUSED on. Owned by the GObject.
///
/// GStreamer calls the pads' functions, queries and properties from any thread at any time. Each
/// call works on the Opened and the Stream that it found, which live as long as it needs them.
class Element {
 public:
  Element(const StreamPads& pads, OpenSource open_source)
      : pads_(pads), open_source_(open_source) {}

  Settings settings() const;
  void change_settings(const std::function<void(Settings&)>& change);
  /// While a stream plays, the new model is opened and compiled beside the one that runs. Null: no
  /// model.
  void change_model(const char* file);
  /// The model that runs, or is to run next.
  std::string model() const;
  /// Statistics of the current stream, else of the last one; valid in every state.
  StatsReport stats() const;
  std::string device_name() const;

  // States. False: an error was posted.
  bool open();
  bool start_stream();
  /// Called once no pad is active, or when the pads could not be activated.
  void end_stream();
  void close();

  // Sink pad
  gboolean activate_sink(bool active);
  void look_at_caps(const GstCaps* caps);
  GstFlowReturn chain(BufferRef buffer);
  GstFlowReturn sink_event(EventRef event);
  gboolean sink_query(GstQuery* query);

  // Source pad
  gboolean activate_src(bool active);
  gboolean src_event(EventRef event);
  gboolean src_query(GstQuery* query);

 private:
  /// Null where the element's state is too low.
  struct Alive {
    std::shared_ptr<Opened> opened;
    std::shared_ptr<Stream> stream;
  };

  Alive alive() const;
  std::shared_ptr<Stream> stream() const { return alive().stream; }
  void tell_about(const Opened& opened);
  bool preload(Stream& stream);
  void begin_replacement();
  void end_replacement();
  void adopt_replacement();
  void keep_model(const std::string& instead_of);
  CapsRef refused_for_good(GstQuery* query) const;
  bool passes_crops(const Alive& alive, GstQuery* query) const;
  bool gives_tensors() const;
  gboolean answer_tensor_caps(GstQuery* query);
  gboolean answer_latency(GstQuery* query);

  const StreamPads pads_;
  const OpenSource open_source_;

  mutable std::mutex settings_mutex_;  // guards settings_, but for what is live in them
  Settings settings_;
  bool told_software_ = false;  // state changes only

  mutable std::mutex alive_mutex_;  // guards all below
  Alive alive_;
  StatsReport last_report_;  // last stream's, and its Opened's

  std::atomic<bool> replaces_{false};  // whether replacement_ is there
  std::mutex replacement_mutex_;       // guards replacement_
  std::unique_ptr<Replacement> replacement_;
};

}  // namespace gstnpu

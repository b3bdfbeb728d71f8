#pragma once

#include <gst/app/gstappsink.h>
#include <gst/gst.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "../src/answer.hpp"

#include "refs.hpp"

/// npucore.video: the package's second module, `_video`, over GStreamer and the elements.
namespace pynpu::video {

/// Starts GStreamer, and loads this package's elements. Throws npu::Error where they cannot be
/// loaded, or where the process has another build of them already.
void prepare();

/// An element's words that are no error.
struct Note {
  bool is_warning = false;
  std::string text;  ///< "npuinfer: ..."
};

/// A pipeline that gives its frames one by one. One thread takes them; any may stop it.
class Pipeline {
 public:
  /// `launch`: a line as gst-launch takes it, with an appsink called "frames". Throws npu::Error
  /// for an element that is missing, and for properties. `is_file`: its decodebin "decoder" reads
  /// one.
  Pipeline(const std::string& launch, bool is_file);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Throws the error of the first element that cannot begin.
  void start();
  /// Ends threads and frees what the elements hold; a frame that somebody still has stays.
  void stop();

  /// Empty where none comes within `timeout`. Frames in front of an error come first.
  SampleRef pull(std::chrono::nanoseconds timeout);
  /// Whether no frame will come any more. Throws the first element's error.
  bool is_over();
  /// Elements' words since the last call.
  std::vector<Note> take_notes();

 private:
  void read_bus();
  void note_message(GstMessage* message);
  void note_stall();

  Ref<GstElement> pipeline_, decoder_;  // decoder_: of a file, else null
  Ref<GstAppSink> sink_;
  Ref<GstBus> bus_;
  std::atomic<bool> stopped_{false};
  // The thread that takes frames alone:
  std::string missing_;
  std::optional<npu::Error> error_;
  std::vector<Note> notes_;
  bool seemed_dead_ = false;
  std::chrono::steady_clock::time_point last_life_ = std::chrono::steady_clock::now();
};

/// The answer on a buffer, as npuvision's decoders give it.
Answer read_answer(GstBuffer* buffer, npu::vision::FrameSize frame);
/// For each object what an Answer has no place for: (track id, classes, text, anomaly, embedding).
nb::list read_details(GstBuffer* buffer);

/// The exception for an element's error: its words, its cure, and for a missing decoder the
/// packages. `missing`: what GStreamer has said is missing; empty: nothing.
npu::Error error_of(GstMessage* message, const std::string& missing);
/// The exception for a line that gst_parse_launch() refuses.
npu::Error error_of(const GError& error);
/// The text of an element's warning, information or progress.
std::string text_of(GstMessage* message);
/// The part that a "missing-plugin" message says is missing: "H.264 decoder"; empty for other
/// messages.
std::string missing_of(GstMessage* message);

}  // namespace pynpu::video

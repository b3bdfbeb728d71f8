// Writes a clip of what leads to an event and of what follows.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.hpp"

#include "clip.hpp"
#include "clip_folder.hpp"

namespace npustream {

struct RecordSettings {
  std::string folder;  // as the file has it, with the stream's id
  ClipFolder files;
  GstClockTime before = 0, after = 0, longest = 0;
  std::set<std::string> events, labels;  // those that begin a clip
  bool is_any_object = false;            // or any object does
};

/// The stream must have the key `record`.
RecordSettings record_settings(const StreamConfig& stream);

/// Keeps the encoded frames of the last seconds. Events are read from frames that the model has
/// seen; those come later than the same frames encoded, or earlier: running time tells which belong
/// together. Of one pipeline. Used on the main context's thread.
class Recorder {
 public:
  /// kind "recorded" or "not-recorded", text, and the clip's path as the file's `folder` has it;
  /// on the main context's thread.
  using Tell = std::function<void(const std::string& kind, const std::string& text,
                                  const std::string& clip)>;

  /// `analysed` and `encoded` are sinks, of a pipeline in NULL.
  static std::shared_ptr<Recorder> make(GstElement* analysed, GstElement* encoded,
                                        RecordSettings settings, Tell tell);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void set(RecordSettings settings);
  /// No frame comes any more: ends the clip that is being written.
  void finish();
  /// Whether all clips are whole.
  bool is_done() const;

 private:
  struct Kept {
    GstBuffer* frame;
    GstClockTime time;
    bool is_key;
  };
  /// A clip that goes on.
  struct Open {
    Clip* clip = nullptr;  // null: its first frame has not come
    GstClockTime until = 0, limit = 0;
    std::uint64_t next = 0;  // number of the first frame that is not written
    std::vector<std::string> causes;
  };
  struct Probe {
    GstPad* pad = nullptr;
    gulong id = 0;
  };

  Recorder(RecordSettings settings, Tell tell);
  static Probe add_probe(GstElement* sink, const std::shared_ptr<Recorder>& self, bool is_encoded);
  // The rest, but on_clip(), with the mutex held; mostly on threads of the pipeline.
  void on_event(GstEvent* event, bool is_encoded);
  void on_encoded(GstBuffer* frame);
  void on_timeless();
  void on_analysed(GstBuffer* frame);
  std::vector<std::string> causes_of(GstBuffer* frame) const;
  void begin_or_go_on(const std::vector<std::string>& causes);
  void advance();
  void write();
  bool make_clip();
  void close();
  void trim();
  void drop_first(std::size_t count);
  void break_off();
  void refuse(const std::string& why);
  void tell_failure(const std::string& text) const;
  void on_clip(const Clip& clip, const std::filesystem::path& path, const std::string& error);

  const Tell tell_;
  std::weak_ptr<Recorder> self_;
  Probe analysed_probe_, encoded_probe_;
  mutable std::mutex mutex_;  // guards the rest
  RecordSettings settings_;
  GstSegment analysed_segment_, encoded_segment_;
  GstCaps* caps_ = nullptr;
  std::deque<Kept> kept_;
  std::uint64_t first_number_ = 0;  // of the first of kept_
  std::size_t kept_bytes_ = 0;
  GstClockTime newest_ = 0;                    // running time of the last encoded frame
  std::optional<GstClockTime> seen_;           // and of the last that was analysed
  std::optional<GstClockTime> refused_until_;  // after a failure
  std::optional<Open> open_;
  std::list<std::unique_ptr<Clip>> clips_;
  std::shared_ptr<const int> token_ = std::make_shared<int>();  // a thread that writes has it, too
  bool was_failure_told_ = false, is_finished_ = false;
  std::optional<unsigned> timeless_ = 0;  // frames without a time, until one has a time
};

}  // namespace npustream

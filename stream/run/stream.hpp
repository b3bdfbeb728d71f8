// One stream: its pipeline, which starts, fails, waits and starts again alone.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "counters.hpp"
#include "launch_line.hpp"
#include "picture_maker.hpp"
#include "snapshot.hpp"

namespace npustream {

class FoundFrame;
class Recorder;

/// Used on the main context's thread only. The pipeline's state is changed on other threads: that
/// may take as long as a device takes to open.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  /// An event of this stream: kind, text and clip, as Event has them.
  using Tell = std::function<void(const Stream&, const std::string& kind, const std::string& text,
                                  const std::string& clip)>;

  Stream(StreamConfig config, LaunchLine line, Tell tell);
  ~Stream();

  void start();
  /// Ends the pipeline, at once; calls `done` when it is gone.
  void stop(std::function<void()> done);
  /// Ends the pipeline when what is in it came out.
  void drain();
  bool is_gone() const;

  /// Takes what needs no other pipeline: overlay, min-fps, when and how long clips are.
  void set_config(StreamConfig config);
  /// Only behind stop(), whose end it need not await. Counts of lines and zones that stay where
  /// they are go on.
  void replace(StreamConfig config, LaunchLine line);

  const StreamConfig& config() const { return config_; }
  const LaunchLine& line() const { return line_; }
  StreamState state() const { return state_; }
  bool was_started() const { return was_started_; }

  /// Once a second.
  void tick();
  StreamSnapshot snapshot() const;
  StreamCounters counters() const;
  double fps() const { return fps_; }
  double inferred_fps() const { return inferred_fps_; }
  double missed_fps() const { return missed_fps_; }
  /// Share of the device's time that this stream takes, 0 to 1.
  double load() const { return load_; }
  /// Inferences a second at most; 0: as many as the stream wants.
  void limit(double inferences_per_second);
  bool is_limited() const { return limit_ > 0; }

  Json objects() const;
  PicturePtr picture(int width);

 private:
  struct Run;  // one pipeline

  void set_state(StreamState state);
  void tell(const std::string& kind, const std::string& text, const std::string& clip = "");
  void end_run(std::function<void()> done);
  void fail(const std::string& error, const std::string& cure);
  void start_after(guint milliseconds);
  void on_message(GstMessage* message);
  void on_error(GstMessage* message);
  void on_drops(GstMessage* message);
  void on_end();
  void on_held_frame();
  bool has_input() const;
  void carry_counts();
  void go_on_counting(GstElement* pipeline) const;
  std::vector<PlaceCounts> counts_of(const char* kind, const FoundFrame& frame) const;

  StreamConfig config_;
  LaunchLine line_;
  Tell tell_;
  std::shared_ptr<Run> run_;
  bool leaving_ = false;                              // the last run is being stopped
  std::vector<std::shared_ptr<Recorder>> recorders_;  // of runs before, while they write
  std::vector<std::function<void()>> when_gone_;
  bool starts_when_gone_ = false;
  guint timer_ = 0;

  StreamState state_ = StreamState::kStarting;
  bool was_started_ = false, is_draining_ = false;
  std::string error_, cure_;
  std::uint32_t restarts_ = 0, failures_ = 0;  // failures in a row
  gint64 playing_since_us_ = 0, last_frame_us_ = 0;

  StreamCounters before_;                       // of the runs before this one
  std::map<std::string, Json> counted_before_;  // by place_key(); as FoundFrame has them
  std::uint64_t ticked_frames_ = 0, ticked_inferred_ = 0, ticked_missed_ = 0, ticked_busy_ns_ = 0;
  gint64 ticked_us_ = 0;
  double fps_ = 0, inferred_fps_ = 0, missed_fps_ = 0, load_ = 0, limit_ = 0;
  std::map<int, std::unique_ptr<PictureMaker>> pictures_;  // by width
};

}  // namespace npustream

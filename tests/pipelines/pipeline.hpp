// A pipeline from a launch line, watched from outside.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace npu::test {

/// From GStreamer 1.28 on filters tell metas what they do to places; before, nothing does for
/// certain.
bool filters_tell();

/// Frames that came out at the element named "out".
struct Arrived {
  std::vector<GstClockTime> times;  ///< running times of the frames, since the last clear
  std::size_t with_tensors = 0;
};

class Pipeline {
 public:
  /// The line holds an element named "npu" and a sink named "out".
  explicit Pipeline(const std::string& line);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  GstElement* get() const { return pipeline_; }
  /// False when the state was not reached within ten seconds.
  bool set_state(GstState state);
  /// Waits for EOS, 60 s at most: "eos", "timeout", or the error's text.
  std::string wait();
  /// PLAYING, wait(), NULL; the statistics are read before.
  std::string play_to_the_end();
  bool seek(GstClockTime time);

  Arrived arrived() const;
  void forget_arrived();
  /// A statistic of the element named "npu"; of the last play_to_the_end() where it is in NULL.
  guint64 stat(const char* field);

 private:
  void read_stats();
  void watch_output();

  GstElement* pipeline_;
  GstStructure* stats_ = nullptr;
  mutable std::mutex mutex_;  // guards arrived_
  Arrived arrived_;
};

}  // namespace npu::test

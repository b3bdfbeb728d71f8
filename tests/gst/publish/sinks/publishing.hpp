#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gst/publish_harness.hpp"

namespace gstnpu_test {

/// An npupublish that writes to a broker, and the stream in front of it.
class Publishing {
 public:
  explicit Publishing(const std::string& location, const std::string& more = {})
      : harness_("npupublish name=publish location=" + location + " " + more,
                 "video/x-raw,format=NV12,width=640,height=480,framerate=30/1") {}

  ElementHarness& harness() { return harness_; }
  void push(int frames) {
    for (int i = 0; i < frames; ++i) {
      ASSERT_EQ(harness_.push(frame_with({})), GST_FLOW_OK) << harness_.message(GST_MESSAGE_ERROR);
    }
  }
  void end_stream() { gst_harness_push_event(harness_.get(), gst_event_new_eos()); }
  void stop() { gst_element_set_state(harness_.element(), GST_STATE_NULL); }
  std::string warning() { return harness_.message(GST_MESSAGE_WARNING); }
  /// Whether one that was not looked at yet says so.
  bool has_warning(const std::string& said) {
    for (std::string text = warning(); !text.empty(); text = warning()) {
      if (text.find(said) != std::string::npos) return true;
    }
    return false;
  }
  Counts counts() { return counts_of(harness_); }
  /// Until it has failed.
  std::string error() {
    EXPECT_TRUE(becomes([this] { return harness_.push(frame_with({})) == GST_FLOW_ERROR; }));
    return harness_.message(GST_MESSAGE_ERROR);
  }

 private:
  ElementHarness harness_;
};

/// At a broker that is away: where policy drops lines, no more than so many wait, the others are
/// counted, and nothing is held up or ended.
inline void expect_that_policies_drop(const std::string& location, guint64 most_queued) {
  for (const char* policy : {"drop-old", "drop-new"}) {
    Publishing publishing(location, std::string("queue-size=10 drain-time=50 policy=") + policy);
    publishing.push(1000);
    const Counts counts = publishing.counts();
    EXPECT_EQ(counts.published, 0U);
    EXPECT_LE(counts.queued, most_queued);
    EXPECT_EQ(counts.queued + counts.dropped, 1000U);
    publishing.end_stream();
    publishing.stop();
    EXPECT_TRUE(publishing.has_warning("are dropped (policy)"));
    EXPECT_TRUE(publishing.has_warning(std::to_string(counts.queued) + " were not out"));
    EXPECT_EQ(publishing.harness().message(GST_MESSAGE_ERROR), "");
  }
}

/// Each of these configurations is refused with these words.
inline void expect_refusals(const std::string& location,
                            const std::vector<std::pair<const char*, const char*>>& rows) {
  for (const auto& [config, said] : rows) {
    EXPECT_TRUE(has(failure_of_start(location, std::string("broker-config=") + config).text, said));
  }
}

}  // namespace gstnpu_test

// The end of a stream whose lines nobody takes.
#include <unistd.h>

#include <chrono>
#include <future>

#include "gst/leak_check.hpp"
#include "gst/publish_harness.hpp"
#include "sinks/listener.hpp"

namespace {

using namespace gstnpu_test;

[[maybe_unused]] const bool kNeedsTracer = need_tracer(__FILE__);
const char* const kCaps = "video/x-raw,format=NV12,width=640,height=480,framerate=30/1";

/// Whether one that was not looked at yet says so.
bool has_warning(ElementHarness& harness, const std::string& said) {
  for (std::string text = harness.message(GST_MESSAGE_WARNING); !text.empty();
       text = harness.message(GST_MESSAGE_WARNING)) {
    if (text.find(said) != std::string::npos) return true;
  }
  return false;
}

/// Whether the end of the stream has come out.
bool ends(ElementHarness& harness) {
  while (GstEvent* event = gst_harness_try_pull_event(harness.get())) {
    const bool is_end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
    if (is_end) return true;
  }
  return false;
}

// Nobody listens; then somebody does.
TEST(PublishEnd, WaitsNoLongerThanItsTime) {
  const TempFolder folder;
  for (const char* policy : {"block", "drop-old", "drop-new"}) {
    ElementHarness harness("npupublish name=publish eos-time=50 drain-time=3600000 location=unix:" +
                               folder.file("socket") + " policy=" + policy,
                           kCaps);
    for (int i = 0; i < 3; ++i) ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
    gst_harness_push_event(harness.get(), gst_event_new_eos());
    EXPECT_TRUE(ends(harness));
    EXPECT_TRUE(has_warning(harness, "3 lines for \"unix:" + folder.file("socket") +
                                         "\" were not out when eos-time was over"));
    EXPECT_EQ(counts_of(harness).queued, 3U);
    {
      const Listener listener(folder.file("socket"));
      EXPECT_TRUE(becomes([&] { return counts_of(harness).published == 3; }));
    }
    ::unlink(folder.file("socket").c_str());
    gst_element_set_state(harness.element(), GST_STATE_NULL);
    EXPECT_FALSE(has_warning(harness, "were not out when the element stopped"));
  }
}

// Its time is not over then.
TEST(PublishEnd, IsGivenUpWithoutAWarningWhereAFlushComes) {
  const TempFolder folder;
  ElementHarness harness(
      "npupublish name=publish eos-time=3600000 drain-time=0 policy=block location=unix:" +
          folder.file("socket"),
      kCaps);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  auto ending = std::async(std::launch::async,
                           [&] { gst_harness_push_event(harness.get(), gst_event_new_eos()); });
  EXPECT_EQ(ending.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  gst_harness_push_event(harness.get(), gst_event_new_flush_start());
  ending.get();
  EXPECT_FALSE(has_warning(harness, "when eos-time was over"));
}

}  // namespace

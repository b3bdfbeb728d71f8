// Order, flushing and the end of streams, on a device that takes 20 ms a frame
// (SOFTNPU_EXEC=delay:20000).
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>

#include "element_harness.hpp"

namespace gstnpu::test::streaming_test {
namespace {

using namespace std::chrono_literals;

constexpr guint kRequests = 4;
constexpr auto kPatience = 30s;  // with a busy machine

/// Everything that reaches a pad, in order: the frame's number, or the event's name. Must outlive
/// the pad.
class Recorder {
 public:
  void watch(GstPad* pad) {
    gst_pad_add_probe(pad,
                      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                      record, this, nullptr);
  }
  std::vector<std::string> seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }
  void forget() {
    const std::scoped_lock lock(mutex_);
    seen_.clear();
  }

 private:
  static GstPadProbeReturn record(GstPad*, GstPadProbeInfo* info, gpointer self) {
    static_cast<Recorder*>(self)->add(info);
    return GST_PAD_PROBE_OK;
  }
  void add(GstPadProbeInfo* info) {
    const std::scoped_lock lock(mutex_);
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      const GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
      seen_.push_back(
          std::to_string(gst_util_uint64_scale_round(GST_BUFFER_PTS(buffer), 30, GST_SECOND)));
    } else {
      seen_.push_back(GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
    }
  }

  mutable std::mutex mutex_;  // guards seen_
  std::vector<std::string> seen_;
};

class Streaming : public testing::Test {
 protected:
  Streaming()
      : harness_("npuinfer", [this](GstElement* element) {
          const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
          g_object_set(element, "model", path.c_str(), "device", "software", "nireq", kRequests,
                       nullptr);
        }) {
    recorder_.watch(harness_.get()->sinkpad);
    harness_.set_caps(caps_of("RGB", 8, 8));
    // The compilation is over before anything is timed.
    harness_.push(frame_of("RGB", 8, 8, 0));
    harness_.pull();
    recorder_.forget();
  }

  GstFlowReturn push_frame(guint index) { return harness_.push(frame_of("RGB", 8, 8, 0, index)); }
  void push_frames(guint count) {
    for (guint i = 0; i < count; ++i) ASSERT_EQ(push_frame(i), GST_FLOW_OK);
  }
  bool push_event(GstEvent* event) { return gst_harness_push_event(harness_.get(), event); }
  void wait_for(std::size_t items) {
    EXPECT_TRUE(soon([&] { return recorder_.seen().size() >= items; }));
  }
  /// Until it is the last that came.
  void wait_for_last(const std::string& item) {
    EXPECT_TRUE(soon([&] {
      const std::vector<std::string> seen = recorder_.seen();
      return !seen.empty() && seen.back() == item;
    }));
  }

  TempDir dir_;
  Recorder recorder_;
  ElementHarness harness_;
};

using Seen = std::vector<std::string>;

TEST_F(Streaming, KeepsTheOrder) {
  push_frames(12);
  wait_for(12);
  EXPECT_EQ(recorder_.seen(), (Seen{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}));
}

TEST_F(Streaming, EosComesAfterTheLastResult) {
  push_frames(4);
  push_event(gst_event_new_eos());
  wait_for(5);
  EXPECT_EQ(recorder_.seen(), (Seen{"0", "1", "2", "3", "eos"}));
  EXPECT_EQ(push_frame(9), GST_FLOW_EOS);
}

TEST_F(Streaming, EventsKeepTheirPlaceBetweenFrames) {
  push_frame(0);
  push_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "t", nullptr)));
  push_frame(1);
  push_event(gst_event_new_gap(2 * GST_SECOND / 30, GST_SECOND / 30));
  harness_.set_caps(caps_of("RGB", 16, 8));
  harness_.push(frame_of("RGB", 16, 8, 0, 3));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  push_event(gst_event_new_eos());
  wait_for_last("eos");
  // The harness sends a segment of its own after caps.
  Seen seen = recorder_.seen();
  std::erase(seen, "stream-start");
  EXPECT_EQ(seen, (Seen{"0", "tag", "1", "gap", "caps", "segment", "3", "segment", "eos"}));
}

TEST_F(Streaming, HoldsUpstreamBackWhileEnoughIsInFlight) {
  const gint64 begin = g_get_monotonic_time();
  push_frames(kRequests + 1);
  EXPECT_GT(g_get_monotonic_time() - begin, 15000) << "the first must be done before";
}

/// Keeps the first buffer that comes to the pad until it is told to let go, or a flush comes.
class Gate {
 public:
  explicit Gate(GstPad* pad)
      : pad_(pad),
        flush_(gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_FLUSH, let_go, this, {})) {
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, keep, this, nullptr);
  }
  ~Gate() { gst_pad_remove_probe(pad_, flush_); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void wait_until_kept() { came_.get_future().wait(); }
  void open() {
    if (!is_open_.exchange(true)) {
      open_.set_value();
    }
  }

 private:
  static GstPadProbeReturn keep(GstPad*, GstPadProbeInfo*, gpointer self) {
    static_cast<Gate*>(self)->came_.set_value();
    static_cast<Gate*>(self)->open_.get_future().wait();
    return GST_PAD_PROBE_REMOVE;
  }
  static GstPadProbeReturn let_go(GstPad*, GstPadProbeInfo*, gpointer self) {
    static_cast<Gate*>(self)->open();
    return GST_PAD_PROBE_OK;
  }

  GstPad* const pad_;
  std::promise<void> came_, open_;
  std::atomic<bool> is_open_{false};
  const gulong flush_;  // the probe; last: calls let_go()
};

TEST_F(Streaming, HasRoomForAsManyFramesAsRequests) {
  Gate gate(harness_.get()->sinkpad);
  push_frame(0);
  gate.wait_until_kept();  // no other goes out before it
  std::promise<void> all_in;
  auto pushing = std::async(std::launch::async, [&] {
    push_frames(kRequests);
    all_in.set_value();
    push_frame(kRequests);
  });
  EXPECT_EQ(all_in.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(pushing.wait_for(50ms), std::future_status::timeout) << "one more waits";
  gate.open();
}

TEST_F(Streaming, AnInferenceEndsAtItsFenceWhileTheSinkKeepsAnotherFrame) {
  constexpr gulong kKeptUs = 1'000'000;  // fifty times what an inference takes
  Gate gate(harness_.get()->sinkpad);
  push_frame(0);
  push_frame(1);  // one is in flight when the sink takes the first, the other comes then
  gate.wait_until_kept();
  push_frame(2);
  g_usleep(kKeptUs);
  gate.open();
  wait_for(3);
  EXPECT_EQ(recorder_.seen(), (Seen{"0", "1", "2"}));
  EXPECT_LT(harness_.stat("inference-time-mean"), kKeptUs * 1000 / 4);
  EXPECT_LT(harness_.stat("inference-time-last"), kKeptUs * 1000 / 2);
}

TEST_F(Streaming, FlushDropsWhatIsInFlightAndGoesOn) {
  push_frames(4);
  push_event(gst_event_new_flush_start());
  EXPECT_EQ(push_frame(5), GST_FLOW_FLUSHING);
  push_event(gst_event_new_flush_stop(TRUE));
  recorder_.forget();
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  EXPECT_EQ(push_frame(7), GST_FLOW_OK);
  wait_for(2);
  EXPECT_EQ(recorder_.seen(), (Seen{"segment", "7"}));
}

// Caps and tags that wait behind frames stay true when a flush takes both.
TEST_F(Streaming, FlushKeepsTheStickyEventsThatItOvertakes) {
  Gate gate(harness_.get()->sinkpad);  // what comes behind the frames has not gone out
  push_frames(kRequests);
  gate.wait_until_kept();
  harness_.set_caps(caps_of("RGB", 16, 8));
  push_event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "kept", nullptr)));
  push_event(gst_event_new_flush_start());
  push_event(gst_event_new_flush_stop(TRUE));
  recorder_.forget();
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  ASSERT_EQ(harness_.push(frame_of("RGB", 16, 8, 0, 7)), GST_FLOW_OK);
  wait_for_last("7");
  const Seen seen = recorder_.seen();
  for (const char* event : {"caps", "tag", "segment"}) {
    EXPECT_EQ(std::count(seen.begin(), seen.end(), event), 1) << event;
  }
  const CapsRef caps(gst_pad_get_current_caps(harness_.get()->sinkpad));
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps.get(), 0), "width", &width);
  EXPECT_EQ(width, 16) << "of the frames that come after it";
}

TEST_F(Streaming, FlushForgetsTheSegmentAndTheEndThatItOvertakes) {
  Gate gate(harness_.get()->sinkpad);
  push_frames(kRequests);
  gate.wait_until_kept();
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND;
  push_event(gst_event_new_segment(&segment));
  push_event(gst_event_new_eos());
  push_event(gst_event_new_flush_start());
  push_event(gst_event_new_flush_stop(TRUE));
  recorder_.forget();
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  ASSERT_EQ(push_frame(7), GST_FLOW_OK);
  wait_for(2);
  EXPECT_EQ(recorder_.seen(), (Seen{"segment", "7"}));
}

// Warnings, not errors: the user may want it so.
TEST_F(Streaming, OddPicturesAreToldOnce) {
  harness_.set_caps(caps_of("RGB", 8, 8) + ",interlace-mode=interleaved");
  for (int i = 0; i < 2; ++i) {
    push_event(gst_event_new_tag(
        gst_tag_list_new(GST_TAG_IMAGE_ORIENTATION, "rotate-90", GST_TAG_TITLE, "t", nullptr)));
    push_frame(0);
  }
  harness_.set_caps(caps_of("RGB", 16, 8) + ",interlace-mode=interleaved");
  const auto warnings = harness_.messages(GST_MESSAGE_WARNING);
  const auto count = [&](const char* word) {
    return std::count_if(warnings.begin(), warnings.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
  };
  EXPECT_EQ(count("interlaced"), 1);
  EXPECT_EQ(count("rotate-90"), 1);
  EXPECT_EQ(harness_.stat("interlaced"), 2u);
}

// While the model is compiled, no frame is seen.
TEST_F(Streaming, DroppedFramesAreNotInterlacedOnes) {
  gst_util_set_object_arg(G_OBJECT(harness_.element()), "drop", "busy");
  harness_.set_caps(caps_of("RGB", 16, 8) + ",interlace-mode=interleaved");
  EXPECT_TRUE(soon([&] {
    harness_.push(frame_of("RGB", 16, 8, 0));
    return harness_.stat("inferred") >= 2;
  }));
  harness_.drain();
  EXPECT_GT(harness_.stat("dropped"), 0u);
  EXPECT_GT(harness_.stat("interlaced"), 0u);
  EXPECT_EQ(harness_.stat("interlaced"), harness_.stat("inferred") - 1);
}

class Links : public Streaming {
 protected:
  void link() { ASSERT_EQ(gst_pad_link(src_.get(), harness_.get()->sinkpad), GST_PAD_LINK_OK); }
  void unlink() { ASSERT_TRUE(gst_pad_unlink(src_.get(), harness_.get()->sinkpad)); }
  /// Pushes until upstream is told.
  GstFlowReturn push_into_the_void() {
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint i = 0; i < 100 && flow == GST_FLOW_OK; ++i) flow = push_frame(i);
    return flow;
  }

  const ObjectRef<GstPad> src_{gst_element_get_static_pad(harness_.element(), "src")};
};

TEST_F(Links, NewOnesAreToldWhatCameMeanwhile) {
  unlink();
  ASSERT_EQ(push_into_the_void(), GST_FLOW_NOT_LINKED);
  harness_.set_caps(caps_of("RGB", 16, 8));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 5 * GST_SECOND;
  EXPECT_TRUE(push_event(gst_event_new_segment(&segment)));
  link();
  ASSERT_EQ(harness_.push(frame_of("RGB", 16, 8, 0, 7)), GST_FLOW_OK);
  ASSERT_NE(harness_.pull(), nullptr);
  const CapsRef caps(gst_pad_get_current_caps(harness_.get()->sinkpad));
  gint width = 0;
  gst_structure_get_int(gst_caps_get_structure(caps.get(), 0), "width", &width);
  EXPECT_EQ(width, 16);
  const EventRef told(gst_pad_get_sticky_event(harness_.get()->sinkpad, GST_EVENT_SEGMENT, 0));
  ASSERT_TRUE(told);
  const GstSegment* seen = nullptr;
  gst_event_parse_segment(told.get(), &seen);
  EXPECT_EQ(seen->start, 5 * GST_SECOND);
}

TEST_F(Links, MayBeMissingWhenTheElementStops) {
  unlink();
  ASSERT_EQ(push_into_the_void(), GST_FLOW_NOT_LINKED);
  EXPECT_EQ(gst_element_set_state(harness_.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
}

// Frames and links, both at any moment.
TEST_F(Links, ComeAndGoWhileFramesFlow) {
  std::atomic<bool> over{false};
  auto pushing = std::async(std::launch::async, [&] {
    for (guint i = 0; !over; ++i) {
      if (push_frame(i) == GST_FLOW_NOT_LINKED) {
        g_usleep(500);
      }
    }
  });
  for (int round = 0; round < 100; ++round) {
    unlink();
    g_usleep(static_cast<gulong>(round % 7) * 4000);
    link();
    g_usleep(static_cast<gulong>(round % 5) * 4000);
  }
  over = true;
  pushing.get();
  recorder_.forget();
  // The refusal of the last gap may come a little after the link.
  EXPECT_TRUE(soon([&] { return push_frame(70) == GST_FLOW_OK; }));
  wait_for_last("70");
}

class Streams : public Streaming, public testing::WithParamInterface<bool> {};

TEST_P(Streams, GoOnAfterTheirEndWithoutAFlush) {
  push_frame(0);
  push_event(gst_event_new_eos());
  harness_.drain();  // all pads have their mark
  ASSERT_EQ(push_frame(1), GST_FLOW_EOS);
  recorder_.forget();
  if (GetParam()) {
    push_event(gst_event_new_stream_start("another"));
    harness_.set_caps(caps_of("RGB", 8, 8));
  } else {  // pads take a segment alone only when their own mark is gone
    GstPad* const pads[] = {harness_.get()->srcpad, harness_.get()->sinkpad};
    for (GstPad* pad : pads) {
      const ObjectRef<GstPad> peer(gst_pad_get_peer(pad));
      GST_OBJECT_FLAG_UNSET(pad, GST_PAD_FLAG_EOS);
      GST_OBJECT_FLAG_UNSET(peer.get(), GST_PAD_FLAG_EOS);
    }
  }
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  EXPECT_EQ(push_frame(2), GST_FLOW_OK);
  EXPECT_EQ(push_frame(3), GST_FLOW_OK);
  wait_for_last("3");
  const Seen seen = recorder_.seen();
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "2"), 1);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "3"), 1);
}

INSTANTIATE_TEST_SUITE_P(By, Streams, testing::Bool(), [](const auto& row) {
  return row.param ? "AnotherStream" : "AnotherSegment";
});

TEST_F(Streaming, FlushWakesAWaitingUpstream) {
  auto pushing = std::async(std::launch::async, [this] {
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint i = 0; flow == GST_FLOW_OK; ++i) flow = push_frame(i);
    return flow;
  });
  g_usleep(50000);
  push_event(gst_event_new_flush_start());
  ASSERT_EQ(pushing.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(pushing.get(), GST_FLOW_FLUSHING);
  push_event(gst_event_new_flush_stop(TRUE));
}

// `gst-launch-1.0 -v` prints properties that change.
TEST_F(Streaming, EosTellsTheStatistics) {
  std::atomic<int> told{0};
  g_signal_connect(harness_.element(), "notify::stats",
                   G_CALLBACK(+[](GObject*, GParamSpec*, std::atomic<int>* count) { ++*count; }),
                   &told);
  push_frame(0);
  ASSERT_TRUE(gst_harness_push_event(harness_.get(), gst_event_new_eos()));
  ASSERT_NE(harness_.pull(), nullptr);
  harness_.drain();
  EXPECT_EQ(told, 1);
  g_signal_handlers_disconnect_by_data(harness_.element(), &told);
}

TEST_F(Streaming, FlushAfterEosStartsAgain) {
  push_event(gst_event_new_eos());
  wait_for(1);
  push_event(gst_event_new_flush_start());
  push_event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  EXPECT_EQ(push_frame(1), GST_FLOW_OK);
  EXPECT_NE(harness_.pull(), nullptr);
}

TEST_F(Streaming, StopsAtOnceWithFramesInFlight) {
  push_frames(4);
  const gint64 begin = g_get_monotonic_time();
  gst_element_set_state(harness_.element(), GST_STATE_NULL);
  EXPECT_LT(g_get_monotonic_time() - begin, GST_SECOND / 1000);
}

TEST_F(Streaming, StopWakesAWaitingUpstream) {
  auto pushing = std::async(std::launch::async, [this] {
    GstFlowReturn flow = GST_FLOW_OK;
    for (guint i = 0; flow == GST_FLOW_OK; ++i) flow = push_frame(i);
    return flow;
  });
  g_usleep(50000);
  gst_element_set_state(harness_.element(), GST_STATE_NULL);
  ASSERT_EQ(pushing.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(pushing.get(), GST_FLOW_FLUSHING);
}

TEST_F(Streaming, DrainQueryWaitsForEveryFrame) {
  push_frames(3);
  GstQuery* drain = gst_query_new_drain();
  gst_pad_peer_query(harness_.get()->srcpad, drain);
  gst_query_unref(drain);
  EXPECT_EQ(recorder_.seen(), (Seen{"0", "1", "2"}));
}

TEST_F(Streaming, AddsItsLatencyToALivePipelines) {
  gst_harness_set_live(harness_.get(), TRUE);
  gst_harness_set_upstream_latency(harness_.get(), 5 * GST_MSECOND);
  EXPECT_EQ(gst_harness_query_latency(harness_.get()),
            5 * GST_MSECOND + gst_util_uint64_scale(1, GST_SECOND, 30))
      << "one frame's time before anything slower was measured";
  push_frames(12);
  wait_for(12);
  EXPECT_GT(gst_harness_query_latency(harness_.get()), 70 * GST_MSECOND)
      << "four in flight take 80 ms";
  EXPECT_FALSE(harness_.messages(GST_MESSAGE_LATENCY).empty());
}

TEST_F(Streaming, TellsThatFramesOfAnotherRateMayTakeLonger) {
  gst_harness_set_live(harness_.get(), TRUE);
  gst_harness_query_latency(harness_.get());
  harness_.messages(GST_MESSAGE_LATENCY);
  harness_.set_caps("video/x-raw,format=RGB,width=8,height=8,framerate=2/1");
  EXPECT_EQ(harness_.messages(GST_MESSAGE_LATENCY).size(), 1u);
}

// ---- What downstream answers goes upstream

class Returns : public Streaming, public testing::WithParamInterface<GstFlowReturn> {
 protected:
  static inline std::atomic<GstFlowReturn> answer_{GST_FLOW_OK};
};

TEST_P(Returns, OfDownstreamReachUpstream) {
  answer_ = GetParam();
  gst_pad_set_chain_function(harness_.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    gst_buffer_unref(buffer);
    return answer_.load();
  });
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < 100 && flow == GST_FLOW_OK; ++i) flow = push_frame(i);
  EXPECT_EQ(flow, GetParam());
}

std::string name_of(const testing::TestParamInfo<GstFlowReturn>& row) {
  std::string name = gst_flow_get_name(row.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class Failures : public Returns {};

// A new graph may take minutes, and frames of the last one come out meanwhile.
TEST_P(Failures, OfDownstreamReachUpstreamBesideACompilation) {
  const std::string endless = dir_.write("endless", "#!/bin/sh\nexec sleep 60\n").string();
  std::filesystem::permissions(endless, std::filesystem::perms::owner_all);
  g_setenv("NPUCORE_HELPER_PATH", endless.c_str(), TRUE);
  answer_ = GetParam();
  gst_pad_set_chain_function(harness_.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    gst_buffer_unref(buffer);
    g_usleep(100 * 1000);  // until the compilation has begun
    return answer_.load();
  });
  ASSERT_EQ(push_frame(0), GST_FLOW_OK);
  harness_.set_caps(caps_of("RGB", 16, 8));
  EXPECT_EQ(harness_.push(frame_of("RGB", 16, 8, 0, 1)), GetParam());
  g_unsetenv("NPUCORE_HELPER_PATH");
}

INSTANTIATE_TEST_SUITE_P(All, Returns,
                         testing::Values(GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR,
                                         GST_FLOW_NOT_NEGOTIATED),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, Failures,
                         testing::Values(GST_FLOW_NOT_LINKED, GST_FLOW_ERROR,
                                         GST_FLOW_NOT_NEGOTIATED),
                         name_of);

TEST_F(Streaming, EosDownstreamEndsOneSegmentOnly) {
  static std::atomic<GstFlowReturn> answer{GST_FLOW_EOS};
  static std::atomic<int> frames{0};
  gst_pad_set_chain_function(harness_.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    gst_buffer_unref(buffer);
    ++frames;
    return answer.load();
  });
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = 0; i < 100 && flow == GST_FLOW_OK; ++i) flow = push_frame(i);
  answer = GST_FLOW_OK;
  frames = 0;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  push_event(gst_event_new_segment(&segment));
  EXPECT_EQ(push_frame(1), GST_FLOW_OK);
  harness_.drain();
  EXPECT_EQ(frames, 1);
}

}  // namespace
}  // namespace gstnpu::test::streaming_test

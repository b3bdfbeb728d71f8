// Answers of an element in every state, and while its state changes.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class Lifetimes : public testing::Test {
 protected:
  Lifetimes()
      : harness_("npuinfer", [this](GstElement* element) {
          const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
          g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
        }) {}

  void play() {
    ASSERT_EQ(gst_element_set_state(harness_.element(), GST_STATE_PLAYING),
              GST_STATE_CHANGE_SUCCESS);
    for (GstPad* pad : {harness_.get()->srcpad, harness_.get()->sinkpad}) {
      gst_pad_set_active(pad, FALSE);
      gst_pad_set_active(pad, TRUE);
    }
    gst_harness_push_event(harness_.get(), gst_event_new_stream_start("again"));
    harness_.set_caps(caps_of("RGB", 8, 8));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness_.get(), gst_event_new_segment(&segment));
  }

  TempDir dir_;
  ElementHarness harness_;
};

TEST_F(Lifetimes, StatisticsStayReadableUntilTheNextStreamBegins) {
  harness_.set_caps(caps_of("RGB", 8, 8));
  harness_.push(frame_of("RGB", 8, 8, 1));
  ASSERT_NE(harness_.pull(), nullptr);
  for (const GstState state : {GST_STATE_PAUSED, GST_STATE_READY, GST_STATE_NULL}) {
    gst_element_set_state(harness_.element(), state);
    EXPECT_EQ(harness_.stat("frames"), 1u) << gst_element_state_get_name(state);
    EXPECT_EQ(harness_.stat("copied-ordinary-memory"), 1u) << gst_element_state_get_name(state);
    EXPECT_GT(harness_.stat("compile-time"), 0u) << gst_element_state_get_name(state);
    EXPECT_TRUE(harness_.stat_text("device").starts_with("Software NPU"));
  }
  gst_element_set_state(harness_.element(), GST_STATE_READY);
  EXPECT_EQ(harness_.stat("frames"), 1u) << "READY begins no stream";
  gst_element_set_state(harness_.element(), GST_STATE_PAUSED);
  EXPECT_EQ(harness_.stat("frames"), 0u);
  EXPECT_EQ(harness_.stat("inferred"), 0u);
  EXPECT_EQ(harness_.stat_text("copy-reasons"), "");
}

// A stream is told why frames are copied, however often one was before.
TEST_F(Lifetimes, EachStreamIsToldOnce) {
  for (int round = 0; round < 2; ++round) {
    play();
    for (guint i = 0; i < 3; ++i) {
      ASSERT_EQ(harness_.push(frame_of("RGB", 8, 8, 1, i)), GST_FLOW_OK) << round;
      ASSERT_NE(harness_.pull(), nullptr) << round;
    }
    EXPECT_EQ(harness_.messages(GST_MESSAGE_WARNING).size(), 1u) << round;
    gst_element_set_state(harness_.element(), GST_STATE_READY);
  }
}

void ask_everything(GstElement* element, GstPad* sink, GstPad* src) {
  const CapsRef caps(gst_caps_from_string(caps_of("RGB", 8, 8).c_str()));
  const CapsRef tiled(
      gst_caps_from_string("video/x-raw(memory:DMABuf),format=DMA_DRM,width=8,height=8,"
                           "drm-format=NV12:0x0100000000000002"));
  GstQuery* queries[] = {gst_query_new_caps(tiled.get()), gst_query_new_accept_caps(caps.get()),
                         gst_query_new_accept_caps(tiled.get()),
                         gst_query_new_allocation(caps.get(), TRUE), gst_query_new_latency()};
  for (GstQuery* query : queries) {
    gst_pad_query(sink, query);
    gst_query_unref(query);
  }
  GstQuery* latency = gst_query_new_latency();
  gst_pad_query(src, latency);
  gst_query_unref(latency);
  GstStructure* stats = nullptr;
  gchar* name = nullptr;
  g_object_get(element, "stats", &stats, "device-name", &name, nullptr);
  EXPECT_NE(stats, nullptr);
  gst_clear_structure(&stats);
  g_free(name);
}

TEST_F(Lifetimes, AnswersFromAnyThreadWhileItsStateChanges) {
  GstPad* sink = gst_element_get_static_pad(harness_.element(), "sink");
  GstPad* src = gst_element_get_static_pad(harness_.element(), "src");
  std::atomic<bool> over{false};
  std::atomic<int> rounds{0};
  std::thread asking([&] {
    for (; !over; ++rounds) ask_everything(harness_.element(), sink, src);
  });
  for (int i = 0; i < 12; ++i) {
    play();
    for (guint frame = 0; frame < 4; ++frame) harness_.push(frame_of("RGB", 8, 8, 1, frame));
    gst_element_set_state(harness_.element(), i % 2 ? GST_STATE_NULL : GST_STATE_READY);
  }
  over = true;
  asking.join();
  EXPECT_GT(rounds, 0);
  gst_object_unref(sink);
  gst_object_unref(src);
}

// The element is still in READY then, with nothing open.
TEST_F(Lifetimes, StartsAgainAfterAStartThatFailed) {
  GstElement* element = harness_.element();
  ASSERT_EQ(gst_element_set_state(element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gchar* model = nullptr;
  g_object_get(element, "model", &model, nullptr);
  g_object_set(element, "model", "/no/such/model.xml", nullptr);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  EXPECT_EQ(harness_.messages(GST_MESSAGE_ERROR).size(), 2u) << "each attempt is told";
  g_object_set(element, "model", model, nullptr);
  EXPECT_EQ(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  g_free(model);
}

bool has_task(GstPad* pad) {
  GST_OBJECT_LOCK(pad);
  const bool has = GST_PAD_TASK(pad) != nullptr;
  GST_OBJECT_UNLOCK(pad);
  return has;
}

/// Holds the end of a flush, of which it tells `data`, until the pad has stopped its task.
GstPadProbeReturn hold_flush_stop(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_FLUSH_STOP) {
    *static_cast<std::atomic<bool>*>(data) = true;
    for (int i = 0; i < 5000 && has_task(pad); ++i) g_usleep(1000);
  }
  return GST_PAD_PROBE_OK;
}

// A pad keeps a task that is started once it is stopped; that of the last stream would run on.
TEST_F(Lifetimes, AFlushThatEndsAfterTheStopStartsNoTask) {
  play();
  GstPad* src = gst_element_get_static_pad(harness_.element(), "src");
  std::atomic<bool> is_held{false};
  gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_EVENT_FLUSH, hold_flush_stop, &is_held, nullptr);
  EXPECT_TRUE(has_task(src));
  std::thread flushing([&] {
    gst_pad_push_event(harness_.get()->srcpad, gst_event_new_flush_start());
    gst_pad_push_event(harness_.get()->srcpad, gst_event_new_flush_stop(TRUE));
  });
  while (!is_held) g_usleep(1000);
  EXPECT_EQ(gst_element_set_state(harness_.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  flushing.join();
  EXPECT_FALSE(has_task(src));
  gst_object_unref(src);
}

// The same by chance, many times.
TEST_F(Lifetimes, AFlushBesideAStopLeavesNoTask) {
  std::atomic<bool> over{false};
  std::thread flushing([&] {
    while (!over) {
      gst_pad_push_event(harness_.get()->srcpad, gst_event_new_flush_start());
      gst_pad_push_event(harness_.get()->srcpad, gst_event_new_flush_stop(TRUE));
    }
  });
  GstPad* src = gst_element_get_static_pad(harness_.element(), "src");
  int tasks_left = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(gst_element_set_state(harness_.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    tasks_left += has_task(src);
    ASSERT_NE(gst_element_set_state(harness_.element(), GST_STATE_PLAYING),
              GST_STATE_CHANGE_FAILURE);
  }
  over = true;
  flushing.join();
  gst_object_unref(src);
  EXPECT_EQ(tasks_left, 0);
}

}  // namespace
}  // namespace gstnpu::test

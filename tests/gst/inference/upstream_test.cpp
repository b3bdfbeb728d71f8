// Messages of npuinfer about the elements in front of it.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

/// Errors and warnings of npuinfer behind `front`, a line of elements, until the stream has ended.
/// `feed` may push frames into them.
std::string told_behind(const std::string& front,
                        const std::function<void(GstElement*)>& feed = {}) {
  const TempDir dir;
  const std::string line = front + " ! npuinfer name=npu device=software model=" +
                           dir.write("pixels.xml", pixels_ir(8, 8)).string() + " ! fakesink";
  GError* error = nullptr;
  const ObjectRef<GstElement> pipeline(
      GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(line.c_str(), &error))));
  EXPECT_EQ(error, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  if (feed) {
    feed(pipeline.get());
  }
  const ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
  std::string told;
  bool is_over = false;
  while (!is_over) {
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus.get(), 60 * GST_SECOND,
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
    if (!message) break;
    const bool is_warning = GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    is_over = !is_warning;
    if (g_strcmp0(GST_OBJECT_NAME(GST_MESSAGE_SRC(message)), "npu") == 0) {
      (is_warning ? gst_message_parse_warning : gst_message_parse_error)(message, &error, nullptr);
      told += error->message;
      g_clear_error(&error);
    }
    gst_message_unref(message);
  }
  EXPECT_TRUE(is_over) << "the stream has not ended";
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return told;
}

const std::string kTurned =
    "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48 ! "
    "taginject tags=image-orientation=rotate-90";

TEST(Upstream, VideoThatIsToBeTurnedIsWarnedOf) {
  EXPECT_TRUE(has(told_behind(kTurned), "put videoflip video-direction=auto in front"));
}

TEST(Upstream, VideoThatIsTurnedInFrontIsNotWarnedOf) {
  EXPECT_EQ(told_behind(kTurned + " ! videoflip video-direction=auto"), "");
  EXPECT_EQ(told_behind(kTurned + " ! videoflip video-direction=90r ! identity"), "");
}

// The ghost pad asks whether the caps are taken, and drops their event where they are not.
TEST(Upstream, ABinThatDecodesGetsTheReasonOfARefusal) {
  for (const char* bin : {"decodebin", "decodebin3"}) {
    const std::string told = told_behind(
        "videotestsrc num-buffers=3 ! video/x-raw,format=Y444,width=64,height=48 ! vp9enc ! " +
        std::string(bin));
    EXPECT_TRUE(has(told, "frames of Y444 cannot be read: put videoconvert in front")) << told;
  }
}

/// Frames of one format, then of another one, from an appsrc.
void feed_two_formats(GstElement* pipeline) {
  const ObjectRef<GstElement> source(gst_bin_get_by_name(GST_BIN(pipeline), "source"));
  GstFlowReturn flow = GST_FLOW_OK;
  for (const char* format : {"I420", "Y444"}) {
    const BufferRef frame = frame_of(format, 64, 48, 128);
    const CapsRef caps(gst_caps_from_string(caps_of(format, 64, 48).c_str()));
    GstSample* sample = gst_sample_new(frame.get(), caps.get(), nullptr, nullptr);
    g_signal_emit_by_name(source.get(), "push-sample", sample, &flow);
    gst_sample_unref(sample);
  }
  g_signal_emit_by_name(source.get(), "end-of-stream", &flow);
}

// A queue asks whether the caps are taken, and drops their event where they are not.
TEST(Upstream, AQueueGetsTheReasonOfARefusalInMidStream) {
  for (const char* queue : {"queue", "queue ! queue2"}) {
    const std::string told =
        told_behind("appsrc name=source format=time ! " + std::string(queue), feed_two_formats);
    EXPECT_TRUE(has(told, "frames of Y444 cannot be read: put videoconvert in front")) << told;
  }
}

// It only tries whether it may pass the frames on.
TEST(Upstream, AConverterBehindAQueueIsToldOfNoRefusal) {
  const std::string told = told_behind(
      "appsrc name=source format=time ! queue ! videoconvert ! queue", feed_two_formats);
  EXPECT_FALSE(has(told, "cannot be read")) << told;
}

}  // namespace
}  // namespace gstnpu::test

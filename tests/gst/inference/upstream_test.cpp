// Messages of npuinfer about the elements in front of it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

/// Errors and warnings of the element "npu" until the stream has ended. `feed` may push frames in.
std::string told_in(const std::string& line, const std::function<void(GstElement*)>& feed = {}) {
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

/// The same for npuinfer behind `front`, a line of elements.
std::string told_behind(const std::string& front,
                        const std::function<void(GstElement*)>& feed = {}) {
  const TempDir dir;
  return told_in(front + " ! npuinfer name=npu device=software model=" +
                     dir.write("pixels.xml", pixels_ir(8, 8)).string() + " ! fakesink",
                 feed);
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

/// A frame of each format, from an appsrc.
void feed(GstElement* pipeline, const std::vector<const char*>& formats) {
  const ObjectRef<GstElement> source(gst_bin_get_by_name(GST_BIN(pipeline), "source"));
  GstFlowReturn flow = GST_FLOW_OK;
  for (const char* format : formats) {
    const BufferRef frame = frame_of(format, 64, 48, 128);
    const CapsRef caps(gst_caps_from_string(caps_of(format, 64, 48).c_str()));
    GstSample* sample = gst_sample_new(frame.get(), caps.get(), nullptr, nullptr);
    g_signal_emit_by_name(source.get(), "push-sample", sample, &flow);
    gst_sample_unref(sample);
  }
  g_signal_emit_by_name(source.get(), "end-of-stream", &flow);
}

void feed_two_formats(GstElement* pipeline) {
  feed(pipeline, {"I420", "Y444"});
}

// A queue asks whether the caps are taken, and drops their event where they are not.
TEST(Upstream, AQueueGetsTheReasonOfARefusalInMidStream) {
  for (const char* queue : {"queue", "queue ! queue2"}) {
    const std::string told =
        told_behind("appsrc name=source format=time ! " + std::string(queue), feed_two_formats);
    EXPECT_TRUE(has(told, "frames of Y444 cannot be read: put videoconvert in front")) << told;
  }
}

// They ask in place of the event with caps, too.
TEST(Upstream, AnElementThatKeepsPicturesGetsTheReasonOfARefusal) {
  for (const char* between : {"identity", "videorate", "queue ! videorate ! progressreport",
                              "videobalance", "capsfilter caps=video/x-raw"}) {
    const std::string line = "appsrc name=source format=time ! queue ! " + std::string(between);
    for (const auto& formats : {std::vector{"Y444"}, std::vector{"I420", "Y444"}}) {
      const std::string told =
          told_behind(line, [&](GstElement* pipeline) { feed(pipeline, formats); });
      EXPECT_TRUE(has(told, "frames of Y444 cannot be read: put videoconvert in front"))
          << between << ", " << formats.size() << " formats: " << told;
    }
  }
}

// It only tries whether it may pass the frames on.
TEST(Upstream, AConverterBehindAQueueIsToldOfNoRefusal) {
  for (const char* front : {"queue ! videoconvert ! queue", "videorate ! videoconvert ! videorate",
                            "videorate ! videoscale ! videoconvert ! identity"}) {
    const std::string told =
        told_behind("appsrc name=source format=time ! " + std::string(front), feed_two_formats);
    EXPECT_FALSE(has(told, "cannot be read")) << told;
  }
}

TEST(Upstream, AStreamWithoutObjectsHasNoTensorsAndNoWarning) {
  const TempDir dir;
  const std::string inference =
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=48 ! npuinfer "
      "device=software model=" +
      dir.write("pixels.xml", pixels_ir(8, 8)).string();
  EXPECT_EQ(told_in(inference + " inference-region=roi-list ! nputensordec name=npu ! fakesink"),
            "");
}

}  // namespace
}  // namespace gstnpu::test

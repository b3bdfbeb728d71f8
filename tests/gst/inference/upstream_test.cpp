// Messages of npuinfer about the elements in front of it.
#include <gtest/gtest.h>

#include <string>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

/// Errors and warnings of npuinfer behind `front`, a line of elements, until the stream has ended.
std::string told_behind(const std::string& front) {
  const TempDir dir;
  const std::string line = front + " ! npuinfer name=npu device=software model=" +
                           dir.write("pixels.xml", pixels_ir(8, 8)).string() + " ! fakesink";
  GError* error = nullptr;
  const ObjectRef<GstElement> pipeline(
      GST_ELEMENT(gst_object_ref_sink(gst_parse_launch(line.c_str(), &error))));
  EXPECT_EQ(error, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
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

}  // namespace
}  // namespace gstnpu::test

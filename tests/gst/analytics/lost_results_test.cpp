// Warnings of elements about frames whose results were dropped on the way.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "hand_made_frames.hpp"

namespace {

using gstnpu_test::ElementHarness;
using gstnpu_test::frame_with;
using gstnpu_test::Owned;

const char* const kCaps = "video/x-raw,format=NV12,width=64,height=32,framerate=10/1";

/// As nputensordec leaves it.
Owned<GstBuffer> decoded_frame() {
  Owned<GstBuffer> frame = frame_with({gstnpu_test::yolo_tensor({{8, 8, 4, 4, 0.9F}})});
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(frame.get(), "net.xml");
  meta->is_decoded = TRUE;
  gst_buffer_keep_npu_inference_origin(frame.get(), meta);
  return frame;
}

/// As videocrop passes it on before GStreamer 1.28: what depends on the frame's size is gone.
Owned<GstBuffer> cropped(Owned<GstBuffer> frame) {
  gst_buffer_remove_meta(frame.get(), &gst_buffer_get_npu_inference_meta_id(frame.get(), 0)->meta);
  return frame;
}

class LostResults : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string line = GetParam(), name = line.substr(0, line.find(' '));
    GstElementFactory* factory = gst_element_factory_find(name.c_str());
    if (!factory) {
      GTEST_SKIP() << name << " is not built";
    }
    gst_object_unref(factory);
  }
};

TEST_P(LostResults, AreToldOnce) {
  ElementHarness harness(GetParam(), kCaps);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.push(cropped(decoded_frame())), GST_FLOW_OK);
  }
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_NE(warning.find("Put that element in front of npuinfer"), std::string::npos) << warning;
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_P(LostResults, AreNoneWhereNothingIsFoundOrDecoded) {
  ElementHarness harness(GetParam(), kCaps);
  ASSERT_EQ(harness.push(decoded_frame()), GST_FLOW_OK);
  if (std::string(GetParam()) == "nputensordec") return;  // which must know where they are
  Owned<GstBuffer> raw = decoded_frame();
  gst_buffer_get_npu_inference_meta_id(raw.get(), 0)->is_decoded = FALSE;
  gst_buffer_get_npu_inference_origin(raw.get(), 0)->is_decoded = FALSE;
  ASSERT_EQ(harness.push(cropped(std::move(raw))), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, LostResults,
    testing::Values("nputrack",
                    "npucount places=\"{\\\"lines\\\":[{\\\"name\\\":\\\"a\\\",\\\"points\\\":"
                    "[[0,0],[1,1]]}]}\"",
                    "npupublish location=/dev/null", "npuoverlay", "nputensordec"),
    [](const auto& row) {
      const std::string line = row.param;
      return line.substr(0, line.find(' '));
    });

// ---- Where nputensordec is in front

/// A picture with a tensor in which one object is.
Owned<GstBuffer> picture(guint number) {
  Owned<GstBuffer> frame(gst_buffer_new_allocate(nullptr, 64 * 32 * 3 / 2, nullptr));
  gst_buffer_memset(frame.get(), 0, 128, 64 * 32 * 3 / 2);
  GST_BUFFER_DURATION(frame.get()) = GST_SECOND / 10;
  GST_BUFFER_PTS(frame.get()) = number * GST_SECOND / 10;
  gstnpu_test::attach(frame.get(), gstnpu_test::yolo_tensor({{8, 8, 4, 4, 0.9F}}));
  return frame;
}

/// Drops what nputensordec has attached, as videocrop did before GStreamer 1.28.
GstPadProbeReturn drop_results(GstPad*, GstPadProbeInfo* info, gpointer) {
  auto* frame = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  while (GstMeta* meta = gst_buffer_get_meta(frame, gst_npu_inference_meta_api_get_type())) {
    gst_buffer_remove_meta(frame, meta);
  }
  info->data = frame;
  return GST_PAD_PROBE_OK;
}

/// The warnings of two elements, with results dropped at the element "drop".
std::size_t warnings_behind_drop(const std::string& launch) {
  ElementHarness harness(launch, kCaps);
  const Owned<GstElement> drop(gst_bin_get_by_name(GST_BIN(harness.element()), "drop"));
  GstPad* pad = gst_element_get_static_pad(drop.get(), "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, drop_results, nullptr, nullptr);
  gst_object_unref(pad);
  for (guint i = 0; i < 4; ++i) {
    Owned<GstBuffer> frame = picture(i);
    GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(frame.get(), "net.xml");
    meta->model_width = meta->frame_width = 64;
    meta->model_height = meta->frame_height = 32;
    gst_buffer_keep_npu_inference_origin(frame.get(), meta);
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    EXPECT_TRUE(Owned<GstBuffer>(gst_harness_pull(harness.get())));
  }
  std::size_t count = 0;
  while (!harness.message(GST_MESSAGE_WARNING).empty()) ++count;
  return count;
}

TEST(ResultsDroppedOnTheWay, AreToldOnceHoweverManyElementsMissThem) {
  const std::string line = "nputensordec labels=a model-task=detect ! identity name=drop ! ";
  EXPECT_EQ(warnings_behind_drop(line + "npupublish location=/dev/null"), 1U);
  EXPECT_EQ(warnings_behind_drop(line + "nputrack ! npupublish location=/dev/null"), 1U);
  EXPECT_EQ(warnings_behind_drop(
                line + "tee name=t ! npupublish location=/dev/null ! fakesink async=false t. "
                       "! npupublish location=/dev/null"),
            1U);
}

}  // namespace

// What elements say of frames whose results were dropped on their way.
#include <gtest/gtest.h>

#include <string>

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
  EXPECT_NE(warning.find("Put nputensordec behind that element"), std::string::npos) << warning;
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

}  // namespace

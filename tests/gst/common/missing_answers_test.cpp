// Warnings of elements about frames that lack what nputensordec finds.
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "answers/frame_answer.hpp"

#include "hand_made_frames.hpp"
#include "needs_element.hpp"

namespace missing_answers_test {
namespace {

using gstnpu_test::ElementHarness;
using gstnpu_test::frame_with;
using gstnpu_test::Owned;

const char* const kCaps = "video/x-raw,format=NV12,width=64,height=32,framerate=10/1";

Owned<GstBuffer> changed_frame(bool is_decoded) {
  Owned<GstBuffer> frame = frame_with({gstnpu_test::yolo_tensor({{8, 8, 4, 4, 0.9F}})});
  gstnpu_test::lose_inference(frame.get(), is_decoded);
  return frame;
}

/// An answer for frames of 128x64, from an element that copies metas unchanged.
Owned<GstBuffer> frame_with_another_answer() {
  Owned<GstBuffer> frame = frame_with({});
  gstnpu::put_answer(
      frame.get(), std::make_shared<gstnpu::FrameAnswer>(gstnpu::FrameAnswer{.frame = {128, 64}}));
  return frame;
}

class MissingAnswers : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string line = GetParam(), name = line.substr(0, line.find(' '));
    NEEDS_ELEMENT(name.c_str());
  }
};

TEST_P(MissingAnswers, AreToldOnce) {
  ElementHarness harness(GetParam(), kCaps);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.push(changed_frame(true)), GST_FLOW_OK);
  }
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  EXPECT_NE(warning.find("in front of that element"), std::string::npos) << warning;
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_P(MissingAnswers, AreNoneWhereNothingIsDecoded) {
  ElementHarness harness(GetParam(), kCaps);
  ASSERT_EQ(harness.push(changed_frame(false)), GST_FLOW_OK);
  ASSERT_EQ(harness.push(frame_with({})), GST_FLOW_OK);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_P(MissingAnswers, OfAnotherSizeAreToldOnceWithBothSizes) {
  ElementHarness harness(GetParam(), kCaps);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.push(frame_with_another_answer()), GST_FLOW_OK);
  }
  const std::string warning = harness.message(GST_MESSAGE_WARNING);
  for (const char* part : {"128x64", "64x32", "in front of that element"}) {
    EXPECT_NE(warning.find(part), std::string::npos) << warning;
  }
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

// The answer follows it.
TEST_P(MissingAnswers, OfAFrameWithACropSinceAreNotOfAnotherSize) {
  ElementHarness harness(GetParam(), kCaps);
  Owned<GstBuffer> frame = frame_with_another_answer();
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = 2;
  crop->width = 64;
  crop->height = 32;
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, MissingAnswers,
    testing::Values("nputrack",
                    "npucount places=\"{\\\"lines\\\":[{\\\"name\\\":\\\"a\\\",\\\"points\\\":"
                    "[[0,0],[1,1]]}]}\"",
                    "npuoverlay", "npupublish location=/dev/null"),
    [](const auto& row) {
      const std::string line = row.param;
      return line.substr(0, line.find(' '));
    });

}  // namespace
}  // namespace missing_answers_test

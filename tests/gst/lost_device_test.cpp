// A stream goes on through a lost device: the fifth inference's.
#include <gtest/gtest.h>

#include <cstdlib>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class LostDevice : public testing::TestWithParam<const char*> {
 protected:
  // Read by the driver when it is first used: one process for each row.
  void SetUp() override { ::setenv("SOFTNPU_FAULT", GetParam(), 1); }
  TempDir dir_;
};

TEST_P(LostDevice, GivesOneWarningAndFramesGoOn) {
  const std::string model = dir_.write("model.xml", pixels_ir(8, 8)).string();
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model", model.c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  constexpr guint kFrames = 20;
  guint with_tensors = 0;
  for (guint index = 0; index < kFrames; ++index) {
    ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, static_cast<guint8>(index), index)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    ASSERT_TRUE(out) << "frame " << index;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(index, GST_SECOND, 30));
    const auto values = first_tensor(out.get());
    if (values.empty()) continue;
    ++with_tensors;
    EXPECT_EQ(values.front(), static_cast<float>(index));
  }
  EXPECT_EQ(with_tensors, kFrames - 1);
  guint told = 0;
  for (const auto& text : harness.messages(GST_MESSAGE_WARNING))
    told += text.find("the NPU was lost") != std::string::npos;
  EXPECT_EQ(told, 1u);
}

INSTANTIATE_TEST_SUITE_P(By, LostDevice,
                         testing::Values("zeFenceHostSynchronize:DEVICE_LOST@5",
                                         "zeCommandQueueExecuteCommandLists:POISON@5"),
                         [](const auto& row) {
                           const std::string text = row.param;
                           return text.find("POISON") == std::string::npos ? "ItsFence"
                                                                           : "APoisonedContext";
                         });

}  // namespace
}  // namespace gstnpu::test

// Descriptors that the plugin opens are closed in every program that the application starts.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/system_calls.hpp"

#include "element_harness.hpp"
#include "needs_element.hpp"

namespace gstnpu::test {
namespace {

using Names = std::vector<std::string>;

void run_frames(ElementHarness& harness) {
  harness.set_caps(caps_of("RGB", 8, 8));
  for (guint index = 0; index < 3; ++index) {
    ASSERT_EQ(harness.push(frame_in(make_dmabuf_memory(192, 1))), GST_FLOW_OK);
    ASSERT_TRUE(harness.pull());
    ASSERT_EQ(harness.push(BufferRef(gst_harness_create_buffer(harness.get(), 192))), GST_FLOW_OK);
    ASSERT_TRUE(harness.pull());
  }
}

TEST(Descriptors, OfTheElementsAreNotInherited) {
  NEEDS_ELEMENT("npupublish");
  const TempDir dir;
  const std::string model = dir.write("pixels.xml", pixels_ir(8, 8)).string();
  const std::string lines = (dir.path() / "lines.json").string();
  const std::string cache = (dir.path() / "cache").string();
  const npu::test::InheritedDescriptors inherited({"libnpucore", "libgstnpu", "libnpumeta"});
  {
    ElementHarness infer("npuinfer", [&](GstElement* element) {
      g_object_set(element, "device", "software", "model", model.c_str(), "cache-dir",
                   cache.c_str(), nullptr);
    });
    ASSERT_NO_FATAL_FAILURE(run_frames(infer));
    ElementHarness publish("npupublish", [&](GstElement* element) {
      g_object_set(element, "location", lines.c_str(), nullptr);
    });
    publish.set_caps(caps_of("RGB", 8, 8));
    ASSERT_EQ(publish.push(frame_of("RGB", 8, 8, 0)), GST_FLOW_OK);
    struct stat status = {};
    ASSERT_EQ(::stat(lines.c_str(), &status), 0) << "it is open now";
    Names names = inherited.of_a_child();
    // A GstBus has sockets to be polled by, which GStreamer lets children inherit.
    std::erase_if(names, [](const auto& name) { return name.rfind("socket:", 0) == 0; });
    EXPECT_EQ(names, Names());
  }
  EXPECT_EQ(inherited.closed(), Names());
  EXPECT_GE(inherited.looked_at(), 4u);
}

}  // namespace
}  // namespace gstnpu::test

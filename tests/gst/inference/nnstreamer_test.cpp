// output-format=nnstreamer: the contract of other/tensors, field by field.
#include <gtest/gtest.h>

#include <cstring>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class NnStreamer : public testing::Test {
 protected:
  std::function<void(GstElement*)> with_tensors(guint interval = 1) {
    const std::string path = dir_.write("pixels.xml", pixels_ir(8, 4)).string();
    dir_.write("pixels.bin", "");
    return [path, interval](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", "inference-interval",
                   interval, nullptr);
      gst_util_set_object_arg(G_OBJECT(element), "output-format", "nnstreamer");
    };
  }
  TempDir dir_;
};

const GValue* field(const GstStructure* caps, const char* name, GType type) {
  const GValue* value = gst_structure_get_value(caps, name);
  EXPECT_TRUE(value && G_VALUE_HOLDS(value, type)) << name;
  return value;
}

TEST_F(NnStreamer, CapsAreThoseOfStaticTensors) {
  ElementHarness harness("npuinfer", with_tensors(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  ASSERT_NE(harness.pull(), nullptr);
  const CapsRef caps(gst_pad_get_current_caps(harness.get()->sinkpad));
  ASSERT_EQ(gst_caps_get_size(caps.get()), 1U);
  const GstStructure* told = gst_caps_get_structure(caps.get(), 0);
  EXPECT_TRUE(gst_structure_has_name(told, "other/tensors"));
  EXPECT_EQ(gst_structure_n_fields(told), 5);
  EXPECT_STREQ(g_value_get_string(field(told, "format", G_TYPE_STRING)), "static");
  EXPECT_EQ(g_value_get_int(field(told, "num_tensors", G_TYPE_INT)), 1);
  EXPECT_STREQ(g_value_get_string(field(told, "types", G_TYPE_STRING)), "float32");
  // [1, 3, 8, 4], innermost first.
  EXPECT_STREQ(g_value_get_string(field(told, "dimensions", G_TYPE_STRING)), "4:8:3:1");
  const GValue* rate = field(told, "framerate", GST_TYPE_FRACTION);
  EXPECT_EQ(gst_value_get_fraction_numerator(rate), 30);
  EXPECT_EQ(gst_value_get_fraction_denominator(rate), 1);
}

TEST_F(NnStreamer, ABufferIsTheTensorsAndTheFramesTime) {
  ElementHarness harness("npuinfer", with_tensors(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77, 2)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), GST_BUFFER_PTS(frame_of("RGB", 8, 8, 0, 2).get()));
  ASSERT_EQ(gst_buffer_n_memory(out.get()), 1U);
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
  ASSERT_EQ(map.size, 96 * sizeof(float));
  for (gsize i = 0; i < 96; ++i) {
    float value = 0;
    std::memcpy(&value, map.data + i * sizeof(float), sizeof(float));
    ASSERT_EQ(value, 77) << i;
  }
  gst_buffer_unmap(out.get(), &map);
}

// The NPU's own output is wrapped for reading only; a copy could be written.
TEST_F(NnStreamer, NothingIsCopied) {
  ElementHarness harness("npuinfer", with_tensors(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  ASSERT_NE(out, nullptr);
  EXPECT_TRUE(GST_MEMORY_IS_READONLY(gst_buffer_peek_memory(out.get(), 0)));
}

TEST_F(NnStreamer, CapsComeBeforeTheSegment) {
  ElementHarness harness("npuinfer", with_tensors(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  ASSERT_NE(harness.pull(), nullptr);
  std::vector<GstEventType> types;
  while (GstEvent* event = gst_harness_try_pull_event(harness.get())) {
    types.push_back(GST_EVENT_TYPE(event));
    gst_event_unref(event);
  }
  EXPECT_EQ(types,
            (std::vector<GstEventType>{GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT}));
}

TEST_F(NnStreamer, FramesWithoutInferenceGiveNone) {
  ElementHarness harness("npuinfer", with_tensors(2), caps_of("RGB", 8, 8));
  for (guint i = 0; i < 4; ++i) {
    ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77, i)), GST_FLOW_OK);
  }
  for (const guint index : {0U, 2U}) {
    const BufferRef out = harness.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), GST_BUFFER_PTS(frame_of("RGB", 8, 8, 0, index).get()));
  }
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  EXPECT_EQ(harness.waiting(), 0U);
}

TEST_F(NnStreamer, TakesFramesWhateverTakesTensors) {
  ElementHarness harness("npuinfer", with_tensors());
  gst_harness_set_sink_caps_str(harness.get(), "other/tensors,format=static,num_tensors=1");
  harness.set_caps(caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  EXPECT_NE(harness.pull(), nullptr);
}

TEST_F(NnStreamer, WhatIsSetWhilePlayingIsOfTheNextStream) {
  ElementHarness harness("npuinfer", with_tensors(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  ASSERT_NE(harness.pull(), nullptr);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "output-format", "video");
  const CapsRef caps(gst_pad_peer_query_caps(harness.get()->sinkpad, nullptr));
  EXPECT_TRUE(gst_structure_has_name(gst_caps_get_structure(caps.get(), 0), "other/tensors"));
}

TEST_F(NnStreamer, ObjectsHaveNoTensorsOfTheFrame) {
  const auto configure = with_tensors();
  const auto errors = errors_before_ready("npuinfer", [&](GstElement* element) {
    configure(element);
    gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
  });
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(has(errors[0], "set only one of them"));
}

}  // namespace
}  // namespace gstnpu::test

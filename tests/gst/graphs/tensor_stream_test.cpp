#include "graphs/tensor_stream.hpp"

#include <gtest/gtest.h>

#include <npucore/error.hpp>

#include "support/expect.hpp"

namespace gstnpu {
namespace {

GstNpuTensor output(GstNpuDataType type, std::vector<gsize> dims) {
  GstNpuTensor tensor{.name = "out", .type = type};
  tensor.num_dims = static_cast<guint>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  return tensor;
}

TEST(TensorCaps, NameEveryOutputInItsOrder) {
  const CapsRef caps =
      tensor_caps({output(GST_NPU_DATA_F32, {1, 84, 8400}), output(GST_NPU_DATA_U8, {5}),
                   output(GST_NPU_DATA_I64, {}), output(GST_NPU_DATA_F16, {2, 1}),
                   output(GST_NPU_DATA_BOOLEAN, {3})},
                  25, 2);
  const CapsRef expected(gst_caps_from_string(
      "other/tensors,format=static,num_tensors=5,types=(string)\"float32,uint8,int64,float16,"
      "uint8\",dimensions=(string)\"8400:84:1,5,1,1:2,3\",framerate=25/2"));
  EXPECT_TRUE(gst_caps_is_strictly_equal(caps.get(), expected.get()));
}

TEST(TensorCaps, RefuseWhatABufferHasNoRoomFor) {
  std::vector<GstNpuTensor> outputs(16, output(GST_NPU_DATA_F32, {1}));
  EXPECT_NO_THROW(tensor_caps(outputs, 0, 1));
  outputs.push_back(outputs.front());
  EXPECT_TRUE(has(thrown_by([&] { tensor_caps(outputs, 0, 1); }), "17 outputs"));
}

TEST(TensorCaps, RefuseATypeThatNnStreamerCannotName) {
  EXPECT_THROW(tensor_caps({output(GST_NPU_DATA_BF16, {1})}, 0, 1), npu::Error);
}

// An element of the end: nothing is kept that others wait for.
TEST(TensorStream, LetsHeldEventsGoAtTheEnd) {
  TensorStream stream;
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  EXPECT_EQ(stream.pass(EventRef(gst_event_new_stream_start("s"))).size(), 1U);
  EXPECT_TRUE(stream.pass(EventRef(gst_event_new_segment(&segment))).empty());
  const auto out = stream.pass(EventRef(gst_event_new_eos()));
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(GST_EVENT_TYPE(out[0].get()), GST_EVENT_SEGMENT);
  EXPECT_EQ(GST_EVENT_TYPE(out[1].get()), GST_EVENT_EOS);
}

}  // namespace
}  // namespace gstnpu

// Tensors in caps, from GStreamer 1.28 on. Older versions have none, which is tested too.
#include "frames/tensor_caps.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace gstnpu {
namespace {

constexpr const char* kOfModelSize = "video/x-raw, format=RGB, width=640, height=640";
constexpr const char* kOfOtherSize = "video/x-raw, format=RGB, width=1280, height=720";
constexpr const char* kOfAnySize = "video/x-raw, format=RGB, width=[ 1, 4096 ], height=[ 1, 4096 ]";

CapsRef caps_from(const char* text) {
  return CapsRef(gst_caps_from_string(text));
}

bool says_tensors() {
#if GST_CHECK_VERSION(1, 28, 0)
  return true;
#else
  return false;
#endif
}

TensorGroup group_of(const char* id, std::vector<gsize> dims, bool is_column_major) {
  GstNpuTensor tensor = {};
  tensor.name = "output0";
  tensor.id = g_intern_string(id);
  tensor.type = GST_NPU_DATA_F32;
  tensor.num_dims = static_cast<guint>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.is_column_major = is_column_major;
  return {.id = id, .tensors = {tensor}, .size = std::nullopt};
}

TensorGroup yolo() {
  TensorGroup group = group_of("yolo-v8-out", {1, 84, 8400}, true);
  group.size = {640, 640};
  return group;
}

TensorGroup classes() {
  return group_of("classification-generic-out", {1, 10}, false);
}

bool has_tensors(const GstCaps* caps, guint index = 0) {
  return gst_structure_has_field(gst_caps_get_structure(caps, index), "tensors");
}

TEST(TensorCaps, AreThoseOfFramesOfTheModelsSizeOnly) {
  const CapsRef same = caps_from(kOfModelSize), other = caps_from(kOfOtherSize);
  EXPECT_EQ(has_tensors(with_tensors(same.get(), yolo()).get()), says_tensors());
  EXPECT_FALSE(has_tensors(with_tensors(other.get(), yolo()).get()));
  EXPECT_EQ(has_tensors(with_tensors(other.get(), classes()).get()), says_tensors());
  EXPECT_FALSE(has_tensors(with_tensors(same.get(), TensorGroup{}).get()));
}

TEST(TensorCaps, WithoutAGroupAreAsTheyWere) {
  const CapsRef caps = caps_from(kOfAnySize), any(gst_caps_new_any());
  for (const GstCaps* one : {caps.get(), any.get()}) {
    EXPECT_TRUE(gst_caps_is_equal(with_tensors(one, {}).get(), one));
    EXPECT_TRUE(gst_caps_is_equal(all_with_tensors(one, {}).get(), one));
    EXPECT_TRUE(gst_caps_is_equal(without_tensors(one, {}).get(), one));
    EXPECT_EQ(tensor_refusal(one, one, {}, "m.xml"), "");
  }
  EXPECT_TRUE(gst_caps_is_any(with_tensors(any.get(), yolo()).get()));
  EXPECT_TRUE(gst_caps_is_any(without_tensors(any.get(), yolo()).get()));
}

TEST(TensorCaps, OfAllThatMayLeave) {
  const CapsRef caps = caps_from(kOfAnySize);
  const CapsRef all = all_with_tensors(caps.get(), yolo());
  ASSERT_EQ(gst_caps_get_size(all.get()), says_tensors() ? 2U : 1U);
  EXPECT_EQ(has_tensors(all.get(), 0), says_tensors());
  const CapsRef without = caps_from(kOfOtherSize);
  EXPECT_TRUE(gst_caps_can_intersect(all.get(), without.get()));
}

#if GST_CHECK_VERSION(1, 28, 0)

// As GStreamer's decoders write them.
constexpr const char* kYoloDecoder =
    "video/x-raw, tensors=(structure)[tensorgroups, yolo-v8-out=(/uniquelist){(GstCaps)["
    "tensor/strided, tensor-id=(string)yolo-v8-out, dims=<(int)1, (int)[1, max], (int)[1, max]>, "
    "dims-order=(string)col-major, type=(string)float32]}]";
constexpr const char* kClassDecoder =
    "video/x-raw, tensors=(structure)[tensorgroups, "
    "classification-generic-out=(/uniquelist){(GstCaps)[tensor/strided, "
    "tensor-id=(string)classification-generic-out, dims=<(int)[0, 1], (int)[1, max]>, "
    "dims-order=(string)row-major, type=(string){float32, uint8}]}]";

CapsRef both_decoders() {
  CapsRef both = caps_from(kYoloDecoder);
  gst_caps_append(both.get(), caps_from(kClassDecoder).release());
  return both;
}

/// The decoders' own templates show whose group it is.
TEST(TensorCaps, AreASubsetOfTheirDecoders) {
  const CapsRef caps = caps_from(kOfModelSize);
  const CapsRef yolos = with_tensors(caps.get(), yolo());
  EXPECT_TRUE(gst_caps_is_subset(yolos.get(), caps_from(kYoloDecoder).get()));
  EXPECT_FALSE(gst_caps_is_subset(yolos.get(), caps_from(kClassDecoder).get()));
  EXPECT_FALSE(gst_caps_is_subset(caps.get(), caps_from(kYoloDecoder).get()));
}

TEST(TensorCaps, OfACascadeHaveTheGroupsOfAll) {
  const CapsRef caps = caps_from(kOfModelSize);
  const CapsRef cascade = with_tensors(with_tensors(caps.get(), yolo()).get(), classes());
  EXPECT_TRUE(gst_caps_is_subset(cascade.get(), caps_from(kYoloDecoder).get()));
  EXPECT_TRUE(gst_caps_is_subset(cascade.get(), caps_from(kClassDecoder).get()));
}

TEST(TensorCaps, OfTwoModelsWithOneGroupHaveTheTensorsOfBoth) {
  const CapsRef caps = caps_from(kOfModelSize);
  TensorGroup second = yolo();
  second.tensors.front().dims[1] = 7;
  const CapsRef cascade = with_tensors(with_tensors(caps.get(), yolo()).get(), second);
  const GstStructure* groups = gst_value_get_structure(
      gst_structure_get_value(gst_caps_get_structure(cascade.get(), 0), "tensors"));
  const GValue* group = gst_structure_get_value(groups, "yolo-v8-out");
  EXPECT_EQ(gst_value_unique_list_get_size(group), 2U);
}

TEST(TensorCaps, NeverGoUpstream) {
  const CapsRef wanted = caps_from(kYoloDecoder);
  for (const TensorGroup& group : {yolo(), classes(), TensorGroup{}}) {
    const CapsRef taken = without_tensors(wanted.get(), group);
    ASSERT_EQ(gst_caps_get_size(taken.get()), 1U);
    EXPECT_FALSE(has_tensors(taken.get()));
    EXPECT_TRUE(gst_caps_can_intersect(taken.get(), caps_from(kOfModelSize).get()));
  }
}

TEST(TensorCaps, AskFramesOfTheModelsSizeWhereADecoderAsksForTheTensors) {
  const CapsRef wanted = both_decoders();
  EXPECT_FALSE(gst_caps_can_intersect(without_tensors(wanted.get(), yolo()).get(),
                                      caps_from(kOfOtherSize).get()));
  EXPECT_TRUE(gst_caps_can_intersect(without_tensors(wanted.get(), classes()).get(),
                                     caps_from(kOfOtherSize).get()));
}

TEST(TensorCaps, LeaveOtherDownstreamsAlone) {
  const CapsRef wanted = caps_from(kOfAnySize);
  const CapsRef taken = without_tensors(wanted.get(), yolo());
  EXPECT_TRUE(gst_caps_is_equal(taken.get(), wanted.get()));
  EXPECT_EQ(tensor_refusal(caps_from(kOfOtherSize).get(), wanted.get(), yolo(), "m.xml"), "");
}

TEST(TensorCaps, SayWhichSizeFramesMustHave) {
  const CapsRef wanted = both_decoders(), offered = caps_from(kOfOtherSize);
  const std::string refusal = tensor_refusal(offered.get(), wanted.get(), yolo(), "m.xml");
  EXPECT_TRUE(has(refusal, "frames must have its size, 640x640"));
  EXPECT_EQ(tensor_refusal(caps_from(kOfModelSize).get(), wanted.get(), yolo(), "m.xml"), "");
  EXPECT_EQ(tensor_refusal(offered.get(), wanted.get(), classes(), "m.xml"), "");
}

TEST(TensorCaps, OfHalvesAreRefusedByDecodersOfFloats) {
  TensorGroup halves = yolo();
  halves.tensors.front().type = GST_NPU_DATA_F16;
  const CapsRef wanted = caps_from(kYoloDecoder), offered = caps_from(kOfModelSize);
  EXPECT_TRUE(gst_caps_is_empty(without_tensors(wanted.get(), halves).get()));
  const std::string refusal = tensor_refusal(offered.get(), wanted.get(), halves, "m.xml");
  EXPECT_TRUE(has(refusal, "float16"));
  EXPECT_TRUE(has(refusal, "export the model with float32 outputs"));
}

#endif

}  // namespace
}  // namespace gstnpu

#include "meta/npumeta.h"

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "support/expect.hpp"

#ifdef GST_NPU_HAVE_TENSOR_META
#include <gst/analytics/analytics.h>
#endif

namespace {

struct BufferUnref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using Buffer = std::unique_ptr<GstBuffer, BufferUnref>;

int freed_memories = 0;

GstMemory* counted_memory(gsize size) {
  gpointer bytes = g_malloc0(size);
  return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), bytes, size, 0, size, bytes,
                                [](gpointer data) {
                                  ++freed_memories;
                                  g_free(data);
                                });
}

GstNpuTensor tensor_of(const char* name, GstNpuDataType type, GstMemory* memory) {
  GstNpuTensor tensor = {};
  tensor.name = name;
  tensor.type = type;
  tensor.num_dims = 3;
  tensor.dims[0] = 1;
  tensor.dims[1] = 6;
  tensor.dims[2] = 10;
  tensor.memory = memory;
  return tensor;
}

Buffer buffer_with_tensor(GstNpuDataType type) {
  Buffer buffer(gst_buffer_new());
  GstMemory* memory = counted_memory(480);
  const GstNpuTensor tensor = tensor_of("boxes", type, memory);
  gst_npu_buffer_add_tensors(buffer.get(), &tensor, 1);
  gst_memory_unref(memory);
  return buffer;
}

class NpuMeta : public testing::Test {
 protected:
  void SetUp() override { freed_memories = 0; }
};

TEST_F(NpuMeta, ReadsBackWhatWasAttached) {
  const Buffer buffer = buffer_with_tensor(GST_NPU_DATA_F32);
  ASSERT_EQ(gst_npu_buffer_get_num_tensors(buffer.get()), 1u);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_STREQ(tensor.name, "boxes");
  EXPECT_EQ(tensor.type, GST_NPU_DATA_F32);
  ASSERT_EQ(tensor.num_dims, 3u);
  EXPECT_EQ(tensor.dims[1], 6u);
  EXPECT_EQ(tensor.strides[0], 240u);
  EXPECT_EQ(tensor.strides[1], 40u);
  EXPECT_EQ(tensor.strides[2], 4u);
}

// Some elements look for the name, GStreamer's for the id.
TEST_F(NpuMeta, KeepsTheNameBesideTheRegistrysId) {
  const Buffer buffer(gst_buffer_new());
  GstMemory* memory = counted_memory(480);
  GstNpuTensor tensors[2] = {tensor_of("output0", GST_NPU_DATA_F32, memory),
                             tensor_of("output1", GST_NPU_DATA_F32, memory)};
  tensors[0].id = "yolo-v8-out";
  tensors[0].is_column_major = TRUE;
  gst_npu_buffer_add_tensors(buffer.get(), tensors, 2);
  gst_memory_unref(memory);
  const Buffer copy(gst_buffer_copy(buffer.get()));
  for (GstBuffer* one : {buffer.get(), copy.get()}) {
    GstNpuTensor tensor = {};
    ASSERT_TRUE(gst_npu_buffer_get_tensor(one, 0, &tensor));
    EXPECT_STREQ(tensor.name, "output0");
    EXPECT_STREQ(tensor.id, "yolo-v8-out");
    EXPECT_TRUE(tensor.is_column_major);
    EXPECT_EQ(tensor.strides[1], 40u);  // as it lies
    ASSERT_TRUE(gst_npu_buffer_get_tensor(one, 1, &tensor));
    EXPECT_STREQ(tensor.name, "output1");
    EXPECT_FALSE(tensor.is_column_major);
  }
}

TEST_F(NpuMeta, HasNoTensorPastTheLast) {
  const Buffer buffer = buffer_with_tensor(GST_NPU_DATA_F32);
  GstNpuTensor tensor = {};
  EXPECT_FALSE(gst_npu_buffer_get_tensor(buffer.get(), 1, &tensor));
}

TEST_F(NpuMeta, KeepsTheMemoryUntilTheBufferGoes) {
  Buffer buffer = buffer_with_tensor(GST_NPU_DATA_F32);
  EXPECT_EQ(freed_memories, 0);
  buffer.reset();
  EXPECT_EQ(freed_memories, 1);
}

TEST_F(NpuMeta, CopyOfTheBufferSharesTheMemory) {
  Buffer buffer = buffer_with_tensor(GST_NPU_DATA_F32);
  const Buffer copy(gst_buffer_copy(buffer.get()));
  buffer.reset();
  EXPECT_EQ(freed_memories, 0);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(copy.get(), 0, &tensor));
  EXPECT_EQ(gst_memory_get_sizes(tensor.memory, nullptr, nullptr), 480u);
}

TEST_F(NpuMeta, CarriesTypesThatGStreamerDoesNotName) {
  const Buffer buffer = buffer_with_tensor(GST_NPU_DATA_BOOLEAN);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_EQ(tensor.type, GST_NPU_DATA_BOOLEAN);
}

TEST_F(NpuMeta, CountsTensorsOfTwoInferences) {
  Buffer buffer = buffer_with_tensor(GST_NPU_DATA_F32);
  GstMemory* memory = counted_memory(60);
  const GstNpuTensor second = tensor_of("classes", GST_NPU_DATA_U8, memory);
  gst_npu_buffer_add_tensors(buffer.get(), &second, 1);
  gst_memory_unref(memory);
  ASSERT_EQ(gst_npu_buffer_get_num_tensors(buffer.get()), 2u);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 1, &tensor));
  EXPECT_STREQ(tensor.name, "classes");
}

TEST_F(NpuMeta, KeepsStridesThatAreNotDense) {
  const Buffer buffer(gst_buffer_new());
  GstMemory* memory = counted_memory(1024);
  GstNpuTensor padded = tensor_of("padded", GST_NPU_DATA_F32, memory);
  padded.strides[0] = 384;
  padded.strides[1] = 64;
  padded.strides[2] = 4;
  gst_npu_buffer_add_tensors(buffer.get(), &padded, 1);
  gst_memory_unref(memory);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_EQ(tensor.strides[1], 64u);
}

#ifdef GST_NPU_HAVE_TENSOR_META
TEST_F(NpuMeta, ReadsTheTensorsOfGStreamersOwnElements) {
  const Buffer buffer(gst_buffer_new());
  GstTensor* made = gst_tensor_alloc(2);
  made->id = g_quark_from_static_string("scores");
  made->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  made->data_type = GST_TENSOR_DATA_TYPE_FLOAT16;
  made->data = gst_buffer_new();
  gst_buffer_append_memory(made->data, counted_memory(40));
  made->dims_order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  made->num_dims = 2;
  made->dims[0] = 4;
  made->dims[1] = 5;
  GstTensor** list = g_new(GstTensor*, 1);
  list[0] = made;
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer.get()), 1, list);
  ASSERT_EQ(gst_npu_buffer_get_num_tensors(buffer.get()), 1u);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_STREQ(tensor.name, "scores");
  EXPECT_EQ(tensor.type, GST_NPU_DATA_F16);
  EXPECT_EQ(tensor.strides[0], 10u);
  EXPECT_EQ(gst_memory_get_sizes(tensor.memory, nullptr, nullptr), 40u);
  EXPECT_EQ(gst_npu_buffer_get_tensor_inference(buffer.get(), 0), GST_NPU_NO_INFERENCE);
  EXPECT_EQ(gst_npu_buffer_next_inference_id(buffer.get()), 0u);
}

// As no element should make them.
TEST_F(NpuMeta, ReadsNoDataWhereThereIsNone) {
  const GLogLevelFlags before = g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL);
  const Buffer buffer(gst_buffer_new());
  GstTensor** list = g_new(GstTensor*, 1);
  list[0] = gst_tensor_alloc(1);
  list[0]->data_type = GST_TENSOR_DATA_TYPE_FLOAT32;
  list[0]->data = nullptr;
  list[0]->num_dims = 1;
  list[0]->dims[0] = 3;
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer.get()), 1, list);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_EQ(tensor.memory, nullptr);
  g_log_set_always_fatal(before);
}

TEST_F(NpuMeta, TakesNoPartOfATensorForTheWhole) {
  const Buffer buffer(gst_buffer_new());
  GstTensor** list = g_new(GstTensor*, 1);
  list[0] = gst_tensor_alloc(GST_NPU_MAX_DIMS + 1);
  list[0]->data_type = GST_TENSOR_DATA_TYPE_FLOAT32;
  list[0]->data = gst_buffer_new();
  gst_buffer_append_memory(list[0]->data, counted_memory(40));
  list[0]->num_dims = GST_NPU_MAX_DIMS + 1;
  std::fill_n(list[0]->dims, GST_NPU_MAX_DIMS + 1, 1);
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer.get()), 1, list);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(buffer.get(), 0, &tensor));
  EXPECT_EQ(tensor.type, GST_NPU_DATA_UNKNOWN);
}
#endif

TEST(InferenceMeta, CopiesEveryField) {
  const Buffer buffer(gst_buffer_new());
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer.get(), "m.xml");
  meta->model_width = 320;
  meta->offset_y = 12;
  meta->scale_x = 2.5;
  meta->inference_ns = 77;
  meta->labels = g_strdup("cat dog");
  const Buffer copy(gst_buffer_copy(buffer.get()));
  const GstNpuInferenceMeta* copied = gst_buffer_get_npu_inference_meta(copy.get());
  ASSERT_NE(copied, nullptr);
  EXPECT_STREQ(copied->model, "m.xml");
  EXPECT_EQ(copied->model_width, 320u);
  EXPECT_EQ(copied->offset_y, 12);
  EXPECT_EQ(copied->scale_x, 2.5);
  EXPECT_EQ(copied->inference_ns, 77u);
  EXPECT_STREQ(copied->labels, "cat dog");
}

TEST(InferenceMeta, FollowsAScaledFrame) {
  const Buffer buffer(gst_buffer_new());
  const Buffer scaled(gst_buffer_new());
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer.get(), "m.xml");
  meta->scale_x = 4;
  meta->scale_y = 2;
  GstVideoInfo in, out;
  gst_video_info_set_format(&in, GST_VIDEO_FORMAT_RGB, 640, 480);
  gst_video_info_set_format(&out, GST_VIDEO_FORMAT_RGB, 320, 480);
  out.par_n = 2;  // the same shape
  GstVideoMetaTransform scale = {&in, &out};
  meta->meta.info->transform_func(scaled.get(), &meta->meta, buffer.get(),
                                  gst_video_meta_transform_scale_get_quark(), &scale);
  const GstNpuInferenceMeta* followed = gst_buffer_get_npu_inference_meta(scaled.get());
  ASSERT_NE(followed, nullptr);
  EXPECT_EQ(followed->scale_x, 2);
  EXPECT_EQ(followed->scale_y, 2);
}

struct TypeRow {
  GstNpuDataType type;
  gsize size;
  const char* name;
};

class DataTypes : public testing::TestWithParam<TypeRow> {};

TEST_P(DataTypes, HaveSizeAndName) {
  EXPECT_EQ(gst_npu_data_type_size(GetParam().type), GetParam().size);
  EXPECT_STREQ(gst_npu_data_type_name(GetParam().type), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, DataTypes,
                         testing::Values(TypeRow{GST_NPU_DATA_UNKNOWN, 0, "unknown"},
                                         TypeRow{GST_NPU_DATA_F16, 2, "float16"},
                                         TypeRow{GST_NPU_DATA_F32, 4, "float32"},
                                         TypeRow{GST_NPU_DATA_I64, 8, "int64"},
                                         TypeRow{GST_NPU_DATA_U8, 1, "uint8"}),
                         by_name);

// ---- Several inferences on one buffer

void add_inference(GstBuffer* buffer, guint id, const char* tensor_name, bool is_region) {
  GstMemory* memory = counted_memory(480);
  const GstNpuTensor tensor = tensor_of(tensor_name, GST_NPU_DATA_F32, memory);
  gst_npu_buffer_add_inference_tensors(buffer, id, &tensor, 1);
  gst_memory_unref(memory);
  GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(buffer, tensor_name);
  meta->inference_id = id;
  meta->is_region = is_region;
  meta->object_id = static_cast<gint>(100 + id);
  meta->region_x = 10;
  meta->region_y = 20;
  meta->region_w = 30;
  meta->region_h = 40;
  meta->scale_x = id + 1;
}

TEST_F(NpuMeta, KeepsSeveralInferencesApart) {
  const Buffer buffer(gst_buffer_new());
  EXPECT_EQ(gst_npu_buffer_next_inference_id(buffer.get()), 0u);
  add_inference(buffer.get(), 0, "frame", false);
  add_inference(buffer.get(), 1, "first object", true);
  add_inference(buffer.get(), 7, "second object", true);
  EXPECT_EQ(gst_npu_buffer_next_inference_id(buffer.get()), 8u);
  const Buffer copy(gst_buffer_copy(buffer.get()));
  for (GstBuffer* one : {buffer.get(), copy.get()}) {
    ASSERT_EQ(gst_npu_buffer_get_num_tensors(one), 3u);
    const guint ids[] = {0, 1, 7};
    for (guint i = 0; i < 3; ++i) {
      GstNpuTensor tensor = {};
      ASSERT_TRUE(gst_npu_buffer_get_tensor(one, i, &tensor));
      EXPECT_EQ(gst_npu_buffer_get_tensor_inference(one, i), ids[i]);
      const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta_id(one, ids[i]);
      ASSERT_NE(meta, nullptr);
      EXPECT_STREQ(meta->model, tensor.name);
      EXPECT_EQ(meta->scale_x, ids[i] + 1);
      EXPECT_EQ(meta->is_region, i > 0);
      EXPECT_EQ(meta->object_id, static_cast<gint>(100 + ids[i]));
      EXPECT_EQ(meta->region_w, 30u);
    }
    EXPECT_EQ(gst_buffer_get_npu_inference_meta_id(one, 2), nullptr);
  }
}

TEST_F(NpuMeta, CallsWithoutAnIdPairTensorsAndMetas) {
  const Buffer buffer(gst_buffer_new());
  for (guint i = 0; i < 3; ++i) {
    GstMemory* memory = counted_memory(480);
    const GstNpuTensor tensor = tensor_of("output", GST_NPU_DATA_F32, memory);
    gst_npu_buffer_add_tensors(buffer.get(), &tensor, 1);
    gst_memory_unref(memory);
    EXPECT_EQ(gst_buffer_add_npu_inference_meta(buffer.get(), "model")->inference_id, i);
    EXPECT_EQ(gst_npu_buffer_get_tensor_inference(buffer.get(), i), i);
  }
}

TEST_F(NpuMeta, TheFramesMetaIsNotAnObjects) {
  const Buffer buffer(gst_buffer_new());
  EXPECT_EQ(gst_buffer_get_npu_frame_inference_meta(buffer.get()), nullptr);
  add_inference(buffer.get(), 0, "object", true);
  EXPECT_STREQ(gst_buffer_get_npu_frame_inference_meta(buffer.get())->model, "object");
  add_inference(buffer.get(), 1, "frame", false);
  EXPECT_STREQ(gst_buffer_get_npu_frame_inference_meta(buffer.get())->model, "frame");
}

TEST_F(NpuMeta, ARegionIsScaledWithItsFrame) {
  const Buffer buffer(gst_buffer_new()), scaled(gst_buffer_new());
  add_inference(buffer.get(), 3, "object", true);
  GstMeta* meta = reinterpret_cast<GstMeta*>(gst_buffer_get_npu_inference_meta(buffer.get()));
  GstVideoInfo in, out;
  gst_video_info_set_format(&in, GST_VIDEO_FORMAT_NV12, 100, 100);
  gst_video_info_set_format(&out, GST_VIDEO_FORMAT_NV12, 200, 50);
  in.par_n = 4;  // the same shape
  GstVideoMetaTransform transform = {&in, &out};
  ASSERT_TRUE(meta->info->transform_func(scaled.get(), meta, buffer.get(),
                                         gst_video_meta_transform_scale_get_quark(), &transform));
  const GstNpuInferenceMeta* copy = gst_buffer_get_npu_inference_meta_id(scaled.get(), 3);
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->region_x, 20u);
  EXPECT_EQ(copy->region_y, 10u);
  EXPECT_EQ(copy->region_w, 60u);
  EXPECT_EQ(copy->region_h, 20u);
  EXPECT_EQ(copy->object_id, 103);
}

}  // namespace

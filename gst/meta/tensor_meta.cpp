#include "meta/npumeta.h"

#ifdef GST_NPU_HAVE_TENSOR_META
#include <gst/analytics/analytics.h>
#endif

namespace {

struct DataType {
  GstNpuDataType type;
  gsize size_bytes;
  const gchar* name;
};

constexpr DataType kDataTypes[] = {
    {GST_NPU_DATA_UNKNOWN, 0, "unknown"}, {GST_NPU_DATA_BOOLEAN, 1, "boolean"},
    {GST_NPU_DATA_F16, 2, "float16"},     {GST_NPU_DATA_BF16, 2, "bfloat16"},
    {GST_NPU_DATA_F32, 4, "float32"},     {GST_NPU_DATA_F64, 8, "float64"},
    {GST_NPU_DATA_I8, 1, "int8"},         {GST_NPU_DATA_I16, 2, "int16"},
    {GST_NPU_DATA_I32, 4, "int32"},       {GST_NPU_DATA_I64, 8, "int64"},
    {GST_NPU_DATA_U8, 1, "uint8"},        {GST_NPU_DATA_U16, 2, "uint16"},
    {GST_NPU_DATA_U32, 4, "uint32"},      {GST_NPU_DATA_U64, 8, "uint64"},
};

const DataType& find_data_type(GstNpuDataType type) {
  for (const DataType& row : kDataTypes) {
    if (row.type == type) return row;
  }
  return kDataTypes[0];
}

void fill_dense_strides(GstNpuTensor* tensor) {
  gsize stride = gst_npu_data_type_size(tensor->type);
  for (guint i = tensor->num_dims; i-- > 0;) {
    tensor->strides[i] = stride;
    stride *= tensor->dims[i];
  }
}

bool has_strides(const GstNpuTensor& tensor) {
  return tensor.num_dims > 0 && tensor.strides[tensor.num_dims - 1] != 0;
}

// ---- Our own meta: carries what GstTensorMeta carries, and strides.

struct GstNpuTensorMeta {
  GstMeta meta;
  guint inference_id;
  guint num_tensors;
  GstNpuTensor* tensors;  // each holds a reference of its memory
};

void set_tensors(GstNpuTensorMeta* meta, const GstNpuTensor* tensors, guint num) {
  meta->tensors = g_new(GstNpuTensor, num);
  meta->num_tensors = num;
  for (guint i = 0; i < num; ++i) {
    GstNpuTensor& tensor = meta->tensors[i];
    tensor = tensors[i];
    tensor.name = g_intern_string(tensor.name);
    tensor.id = g_intern_string(tensor.id);
    gst_memory_ref(tensor.memory);
    if (!has_strides(tensor)) {
      fill_dense_strides(&tensor);
    }
  }
}

gboolean init_meta(GstMeta* base, gpointer, GstBuffer*) {
  auto* meta = reinterpret_cast<GstNpuTensorMeta*>(base);
  meta->inference_id = 0;
  meta->num_tensors = 0;
  meta->tensors = nullptr;
  return TRUE;
}

void free_meta(GstMeta* base, GstBuffer*) {
  auto* meta = reinterpret_cast<GstNpuTensorMeta*>(base);
  for (guint i = 0; i < meta->num_tensors; ++i) gst_memory_unref(meta->tensors[i].memory);
  g_free(meta->tensors);
}

const GstMetaInfo* tensor_meta_info();

gboolean transform_meta(GstBuffer* to, GstMeta* base, GstBuffer*, GQuark type, gpointer) {
  if (!GST_META_TRANSFORM_IS_COPY(type)) return FALSE;
  auto* meta = reinterpret_cast<GstNpuTensorMeta*>(base);
  auto* copy =
      reinterpret_cast<GstNpuTensorMeta*>(gst_buffer_add_meta(to, tensor_meta_info(), nullptr));
  if (!copy) return FALSE;
  copy->inference_id = meta->inference_id;
  set_tensors(copy, meta->tensors, meta->num_tensors);
  return TRUE;
}

GType tensor_meta_api() {
  static const GType type = [] {
    // No tags: tensors stay valid whatever happens to the frame's pixels.
    static const gchar* tags[] = {nullptr};
    return gst_meta_api_type_register("GstNpuTensorMetaAPI", tags);
  }();
  return type;
}

const GstMetaInfo* tensor_meta_info() {
  static const GstMetaInfo* info =
      gst_meta_register(tensor_meta_api(), "GstNpuTensorMeta", sizeof(GstNpuTensorMeta), init_meta,
                        free_meta, transform_meta);
  return info;
}

void add_own_meta(GstBuffer* buffer, guint inference_id, const GstNpuTensor* tensors, guint num) {
  auto* meta =
      reinterpret_cast<GstNpuTensorMeta*>(gst_buffer_add_meta(buffer, tensor_meta_info(), nullptr));
  meta->inference_id = inference_id;
  set_tensors(meta, tensors, num);
}

// ---- GStreamer's own meta.

#ifdef GST_NPU_HAVE_TENSOR_META
struct TypePair {
  GstNpuDataType npu;
  GstTensorDataType gst;
};

constexpr TypePair kTypePairs[] = {
    {GST_NPU_DATA_F16, GST_TENSOR_DATA_TYPE_FLOAT16},
    {GST_NPU_DATA_BF16, GST_TENSOR_DATA_TYPE_BFLOAT16},
    {GST_NPU_DATA_F32, GST_TENSOR_DATA_TYPE_FLOAT32},
    {GST_NPU_DATA_F64, GST_TENSOR_DATA_TYPE_FLOAT64},
    {GST_NPU_DATA_I8, GST_TENSOR_DATA_TYPE_INT8},
    {GST_NPU_DATA_I16, GST_TENSOR_DATA_TYPE_INT16},
    {GST_NPU_DATA_I32, GST_TENSOR_DATA_TYPE_INT32},
    {GST_NPU_DATA_I64, GST_TENSOR_DATA_TYPE_INT64},
    {GST_NPU_DATA_U8, GST_TENSOR_DATA_TYPE_UINT8},
    {GST_NPU_DATA_U16, GST_TENSOR_DATA_TYPE_UINT16},
    {GST_NPU_DATA_U32, GST_TENSOR_DATA_TYPE_UINT32},
    {GST_NPU_DATA_U64, GST_TENSOR_DATA_TYPE_UINT64},
};

const TypePair* find_pair(GstNpuDataType type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.npu == type) return &pair;
  }
  return nullptr;
}

GstNpuDataType from_gst(GstTensorDataType type) {
  for (const TypePair& pair : kTypePairs) {
    if (pair.gst == type) return pair.npu;
  }
  return GST_NPU_DATA_UNKNOWN;
}

bool is_dense(const GstNpuTensor& tensor) {
  if (!has_strides(tensor)) return true;
  GstNpuTensor dense = tensor;
  fill_dense_strides(&dense);
  for (guint i = 0; i < tensor.num_dims; ++i) {
    if (dense.strides[i] != tensor.strides[i]) return false;
  }
  return true;
}

// GstTensorMeta carries only dense tensors of some types. In GStreamer 1.26 copies of a buffer lose
// it, and a decoder behind a tee would find no tensors.
bool gst_meta_can_carry(const GstNpuTensor* tensors, guint num) {
  if (!gst_tensor_meta_get_info()->transform_func) return false;
  for (guint i = 0; i < num; ++i) {
    if (!find_pair(tensors[i].type) || !is_dense(tensors[i])) return false;
  }
  return true;
}

// GstTensorMeta has no room for an inference's id, nor for a tensor's name beside its id. Both are
// kept with the buffer of the tensor's data, which all copies of the meta share; the id is stored
// plus one. Without them, the element knows no ids, and the tensor's id is its name.
GQuark id_quark() {
  static const GQuark quark = g_quark_from_static_string("gst-npu-inference-id");
  return quark;
}

GQuark name_quark() {
  static const GQuark quark = g_quark_from_static_string("gst-npu-tensor-name");
  return quark;
}

void set_id(GstBuffer* data, guint inference_id) {
  gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(data), id_quark(),
                            GUINT_TO_POINTER(inference_id + 1), nullptr);
}

guint id_of(const GstTensorMeta& meta) {
  if (meta.num_tensors == 0 || !meta.tensors[0]->data) return GST_NPU_NO_INFERENCE;
  const guint kept = GPOINTER_TO_UINT(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(meta.tensors[0]->data), id_quark()));
  return kept == 0 ? GST_NPU_NO_INFERENCE : kept - 1;
}

GstTensor* make_gst_tensor(const GstNpuTensor& tensor, guint inference_id) {
  GstTensor* made = gst_tensor_alloc(tensor.num_dims);
  made->id = g_quark_from_string(tensor.id ? tensor.id : tensor.name);
  made->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
  made->data_type = find_pair(tensor.type)->gst;
  made->data = gst_buffer_new();
  gst_buffer_append_memory(made->data, gst_memory_ref(tensor.memory));
  set_id(made->data, inference_id);
  if (tensor.id) {
    gst_mini_object_set_qdata(GST_MINI_OBJECT_CAST(made->data), name_quark(),
                              const_cast<gchar*>(g_intern_string(tensor.name)), nullptr);
  }
  made->dims_order =
      tensor.is_column_major ? GST_TENSOR_DIM_ORDER_COL_MAJOR : GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  made->num_dims = tensor.num_dims;
  for (guint i = 0; i < tensor.num_dims; ++i) made->dims[i] = tensor.dims[i];
  return made;
}

void add_gst_meta(GstBuffer* buffer, guint inference_id, const GstNpuTensor* tensors, guint num) {
  // Not gst_buffer_add_tensor_meta(): 1.26 returns the meta that is there already.
  auto* meta = reinterpret_cast<GstTensorMeta*>(
      gst_buffer_add_meta(buffer, gst_tensor_meta_get_info(), nullptr));
  GstTensor** list = g_new(GstTensor*, num);
  for (guint i = 0; i < num; ++i) {
    list[i] = make_gst_tensor(tensors[i], inference_id);
  }
  gst_tensor_meta_set(meta, num, list);
}

const gchar* name_in(GstBuffer* data) {
  return static_cast<const gchar*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(data), name_quark()));
}

// Other elements may leave the data out or use more dimensions than fit: such a tensor has no type.
void read_gst_tensor(const GstTensor& from, GstNpuTensor* tensor) {
  const gchar* name = from.data ? name_in(from.data) : nullptr;
  tensor->id = g_quark_to_string(from.id);
  tensor->name = name ? name : tensor->id;
  tensor->is_column_major = from.dims_order == GST_TENSOR_DIM_ORDER_COL_MAJOR;
  tensor->type = from.num_dims > GST_NPU_MAX_DIMS ? GST_NPU_DATA_UNKNOWN : from_gst(from.data_type);
  tensor->num_dims = static_cast<guint>(MIN(from.num_dims, GST_NPU_MAX_DIMS));
  for (guint i = 0; i < tensor->num_dims; ++i) tensor->dims[i] = from.dims[i];
  const bool has_memory = from.data && gst_buffer_n_memory(from.data) > 0;
  tensor->memory = has_memory ? gst_buffer_peek_memory(from.data, 0) : nullptr;
  fill_dense_strides(tensor);
}
#endif

// Number of tensors in a meta of either kind; 0 for other metas.
guint count_tensors(const GstMeta* meta) {
  if (meta->info->api == tensor_meta_api()) {
    return reinterpret_cast<const GstNpuTensorMeta*>(meta)->num_tensors;
  }
#ifdef GST_NPU_HAVE_TENSOR_META
  if (meta->info->api == gst_tensor_meta_api_get_type()) {
    return static_cast<guint>(reinterpret_cast<const GstTensorMeta*>(meta)->num_tensors);
  }
#endif
  return 0;
}

// Inference of a meta that has tensors.
guint inference_of(const GstMeta* meta) {
  if (meta->info->api == tensor_meta_api()) {
    return reinterpret_cast<const GstNpuTensorMeta*>(meta)->inference_id;
  }
#ifdef GST_NPU_HAVE_TENSOR_META
  return id_of(*reinterpret_cast<const GstTensorMeta*>(meta));
#else
  return GST_NPU_NO_INFERENCE;
#endif
}

guint next_inference_id(GstBuffer* buffer) {
  guint next = 0;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    if (count_tensors(meta) > 0 && inference_of(meta) != GST_NPU_NO_INFERENCE) {
      next = MAX(next, inference_of(meta) + 1);
    }
  }
  return next;
}

void read_tensor(const GstMeta* meta, guint index, GstNpuTensor* tensor) {
  if (meta->info->api == tensor_meta_api()) {
    *tensor = reinterpret_cast<const GstNpuTensorMeta*>(meta)->tensors[index];
    return;
  }
#ifdef GST_NPU_HAVE_TENSOR_META
  *tensor = GstNpuTensor{};
  read_gst_tensor(*reinterpret_cast<const GstTensorMeta*>(meta)->tensors[index], tensor);
#endif
}

}  // namespace

gsize gst_npu_data_type_size(GstNpuDataType type) {
  return find_data_type(type).size_bytes;
}

const gchar* gst_npu_data_type_name(GstNpuDataType type) {
  return find_data_type(type).name;
}

void gst_npu_buffer_add_tensors(GstBuffer* buffer, const GstNpuTensor* tensors, guint num) {
  g_return_if_fail(GST_IS_BUFFER(buffer));
  gst_npu_buffer_add_inference_tensors(buffer, next_inference_id(buffer), tensors, num);
}

void gst_npu_buffer_add_inference_tensors(GstBuffer* buffer, guint inference_id,
                                          const GstNpuTensor* tensors, guint num) {
  g_return_if_fail(GST_IS_BUFFER(buffer) && gst_buffer_is_writable(buffer));
  g_return_if_fail(tensors != nullptr || num == 0);
  for (guint i = 0; i < num; ++i) {
    g_return_if_fail(tensors[i].name && tensors[i].memory);
    g_return_if_fail(tensors[i].num_dims <= GST_NPU_MAX_DIMS);
  }
#ifdef GST_NPU_HAVE_TENSOR_META
  if (gst_meta_can_carry(tensors, num)) {
    add_gst_meta(buffer, inference_id, tensors, num);
    return;
  }
#endif
  add_own_meta(buffer, inference_id, tensors, num);
}

guint gst_npu_buffer_get_num_tensors(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), 0);
  guint count = 0;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) count += count_tensors(meta);
  return count;
}

gboolean gst_npu_buffer_get_tensor(GstBuffer* buffer, guint index, GstNpuTensor* tensor) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer) && tensor, FALSE);
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    const guint count = count_tensors(meta);
    if (index < count) {
      read_tensor(meta, index, tensor);
      return TRUE;
    }
    index -= count;
  }
  return FALSE;
}

guint gst_npu_buffer_get_tensor_inference(GstBuffer* buffer, guint index) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), GST_NPU_NO_INFERENCE);
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    const guint count = count_tensors(meta);
    if (index < count) return inference_of(meta);
    index -= count;
  }
  return GST_NPU_NO_INFERENCE;
}

guint gst_npu_buffer_next_inference_id(GstBuffer* buffer) {
  g_return_val_if_fail(GST_IS_BUFFER(buffer), 0);
  guint next = next_inference_id(buffer);
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, gst_npu_inference_meta_api_get_type())) {
    next = MAX(next, reinterpret_cast<const GstNpuInferenceMeta*>(meta)->inference_id + 1);
  }
  return next;
}

const gsize* gst_npu_tensor_get_dims(const GstNpuTensor* tensor, guint* num) {
  *num = tensor->num_dims;
  return tensor->dims;
}

const gsize* gst_npu_tensor_get_strides(const GstNpuTensor* tensor, guint* num) {
  *num = tensor->num_dims;
  return tensor->strides;
}

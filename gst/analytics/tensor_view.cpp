#include "tensor_view.hpp"

#include <algorithm>

#include <npucore/error.hpp>

#include "common/data_types.hpp"

namespace gstnpu {

using npu::vision::TensorView;
namespace {

bool has_tensors(GstBuffer* buffer, const GstNpuInferenceMeta& meta) {
  const guint count = gst_npu_buffer_get_num_tensors(buffer);
  for (guint i = 0; i < count; ++i) {
    if (gst_npu_buffer_get_tensor_inference(buffer, i) == meta.inference_id) return true;
  }
  return false;
}

/// As tensor metas and inference metas are added one after the other.
InferredTensor with_meta(GstBuffer* buffer, const GstNpuTensor& tensor, guint inference_id) {
  if (auto* own = gst_buffer_get_npu_inference_meta_id(buffer, inference_id)) {
    return {tensor, own, nullptr};
  }
  if (auto* origin = gst_buffer_get_npu_inference_origin(buffer, inference_id)) {
    return {tensor, nullptr, origin};
  }
  return {tensor, meta_of_others(buffer), nullptr};
}

}  // namespace

TensorView view_of(const GstNpuTensor& tensor) {
  static_assert(TensorView::kMaxRank >= GST_NPU_MAX_DIMS);
  TensorView view;
  view.name = tensor.name != nullptr ? tensor.name : "";
  view.type = element_type_of(tensor.type);
  view.rank = tensor.num_dims;
  std::copy_n(tensor.dims, GST_NPU_MAX_DIMS, view.dims.begin());
  std::copy_n(tensor.strides, GST_NPU_MAX_DIMS, view.strides_bytes.begin());
  return view;
}

TensorMapping::TensorMapping(const GstNpuTensor& tensor)
    : memory_(tensor.memory), view_(view_of(tensor)) {
  if (memory_ == nullptr || !gst_memory_map(memory_, &info_, GST_MAP_READ)) {
    throw npu::Error(npu::ErrorCode::kIo, "the memory of the tensor cannot be mapped for reading");
  }
  view_.data = reinterpret_cast<const std::byte*>(info_.data);
  view_.size_bytes = info_.size;
}

std::string text_or_empty(const gchar* text) {
  return text != nullptr ? text : "";
}

GstNpuInferenceMeta* meta_of_frame(GstBuffer* buffer) {
  GstNpuInferenceMeta* first = gst_buffer_get_npu_frame_inference_meta(buffer);
  return first && !first->is_region ? first : nullptr;
}

GstNpuInferenceMeta* meta_of_others(GstBuffer* buffer) {
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
    if (!meta->is_region && !has_tensors(buffer, *meta)) return meta;
  }
  return nullptr;
}

std::vector<InferredTensor> tensors_of(GstBuffer* buffer) {
  std::vector<InferredTensor> tensors;
  GstNpuTensor tensor;
  for (guint i = 0; gst_npu_buffer_get_tensor(buffer, i, &tensor); ++i) {
    const guint inference = gst_npu_buffer_get_tensor_inference(buffer, i);
    const bool is_same =
        !tensors.empty() && tensors.back().meta && tensors.back().meta->inference_id == inference;
    tensors.push_back(is_same ? InferredTensor{tensor, tensors.back().meta, nullptr}
                              : with_meta(buffer, tensor, inference));
  }
  return tensors;
}

}  // namespace gstnpu

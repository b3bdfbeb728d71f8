#include "tensor_view.hpp"

#include <algorithm>
#include <optional>
#include <utility>

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

GstNpuInferenceMeta* meta_of_others(GstBuffer* buffer) {
  gpointer state = nullptr;
  while (GstMeta* base = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                          gst_npu_inference_meta_api_get_type())) {
    auto* meta = reinterpret_cast<GstNpuInferenceMeta*>(base);
    if (!meta->is_region && !has_tensors(buffer, *meta)) return meta;
  }
  return nullptr;
}

InferenceOutputs without_tensors(GstBuffer* buffer, guint inference_id) {
  if (auto* own = gst_buffer_get_npu_inference_meta_id(buffer, inference_id)) return {own, {}};
  if (auto* origin = gst_buffer_get_npu_inference_origin(buffer, inference_id)) {
    return {nullptr, {}, origin};
  }
  return {meta_of_others(buffer), {}};
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

std::vector<InferenceOutputs> inferences_of(GstBuffer* buffer) {
  std::vector<InferenceOutputs> inferences;
  std::optional<guint> id;
  GstNpuTensor tensor;
  for (guint i = 0; gst_npu_buffer_get_tensor(buffer, i, &tensor); ++i) {
    const guint next = gst_npu_buffer_get_tensor_inference(buffer, i);
    if (std::exchange(id, next) != next) {
      InferenceOutputs one = without_tensors(buffer, next);
      if (inferences.empty() || inferences.back().known() != one.known()) {
        inferences.push_back(std::move(one));
      }
    }
    inferences.back().tensors.push_back(tensor);
  }
  return inferences;
}

}  // namespace gstnpu

#include "tensor_ids.hpp"

#include <algorithm>

#include <npucore/error.hpp>
#include <npuvision/decoder.hpp>

#include "common/data_types.hpp"

namespace gstnpu {
namespace {

npu::vision::TensorView view_of(const npu::Port& port, const GstNpuTensor& tensor) {
  npu::vision::TensorView view;
  view.name = tensor.name;
  view.type = port.type;
  view.rank = tensor.num_dims;
  std::copy_n(tensor.dims, tensor.num_dims, view.dims.begin());
  std::copy_n(tensor.strides, tensor.num_dims, view.strides_bytes.begin());
  return view;
}

std::vector<npu::vision::TensorView> views_of(const std::vector<npu::Port>& outputs) {
  std::vector<npu::vision::TensorView> views;
  views.reserve(outputs.size());
  for (const npu::Port& port : outputs) views.push_back(view_of(port, describe_output(port)));
  return views;
}

bool has_open_dim(const GstNpuTensor& tensor) {
  return std::find(tensor.dims, tensor.dims + tensor.num_dims, 0U) != tensor.dims + tensor.num_dims;
}

}  // namespace

GstNpuTensor describe_output(const npu::Port& port) {
  if (port.shape.size() > GST_NPU_MAX_DIMS) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "the model's output " + port.name + " has " +
                         std::to_string(port.shape.size()) + " dimensions, but a buffer carries " +
                         std::to_string(GST_NPU_MAX_DIMS) + " at most; reshape it in the model");
  }
  GstNpuTensor tensor = {};
  tensor.name =
      g_intern_string((port.tensor_names.empty() ? port.name : port.tensor_names.front()).c_str());
  tensor.type = data_type_of(port.type);
  tensor.num_dims = static_cast<guint>(port.shape.size());
  gsize stride = gst_npu_data_type_size(tensor.type);
  for (std::size_t i = port.shape.size(); i-- > 0;) {
    tensor.dims[i] = static_cast<gsize>(std::max<std::int64_t>(port.shape[i], 0));
    tensor.strides[i] = stride;
    stride *= tensor.dims[i];
  }
  return tensor;
}

npu::vision::TensorGroup ids_of(const std::string& file, const npu::vision::ModelCard& card,
                                const std::vector<npu::Port>& outputs,
                                npu::vision::InputSize input) {
  const std::vector<npu::vision::TensorView> views = views_of(outputs);
  // The model's .modelinfo describes the outputs that it had before its end was cut off.
  if (!card.host_postprocess.empty()) return npu::vision::tensor_group_of(card, views, input);
  npu::vision::TensorGroup written = npu::vision::read_tensor_group(file, views);
  return written.id.empty() ? npu::vision::tensor_group_of(card, views, input) : written;
}

std::string pixel_doubt_of(const npu::vision::ModelCard& card,
                           const std::vector<npu::Port>& outputs, npu::vision::InputSize input) {
  return npu::vision::doubt_about_pixels(card, views_of(outputs), input);
}

void set_ids(const npu::vision::TensorGroup& ids, std::vector<GstNpuTensor>* outputs) {
  const std::size_t count = std::min(ids.outputs.size(), outputs->size());
  for (std::size_t i = 0; i < count; ++i) {
    const npu::vision::RegisteredTensor& registered = ids.outputs[i];
    if (registered.id.empty()) continue;
    (*outputs)[i].id = g_intern_string(registered.id.c_str());
    (*outputs)[i].is_column_major = registered.is_column_major;
  }
}

TensorGroup caps_group_of(const npu::vision::TensorGroup& ids,
                          const std::vector<npu::Port>& outputs, npu::vision::InputSize input) {
  std::vector<GstNpuTensor> tensors;
  tensors.reserve(outputs.size());
  for (const npu::Port& port : outputs) tensors.push_back(describe_output(port));
  set_ids(ids, &tensors);
  std::erase_if(tensors, [](const GstNpuTensor& tensor) { return tensor.id == nullptr; });
  const bool has_size = input.width > 0 && input.height > 0;
  if (std::any_of(tensors.begin(), tensors.end(), has_open_dim) ||
      (ids.is_in_model_pixels && !has_size)) {
    return {};
  }
  TensorGroup group{.id = ids.id, .tensors = std::move(tensors), .size = std::nullopt};
  if (ids.is_in_model_pixels) {
    group.size.emplace(input.width, input.height);
  }
  return group;
}

}  // namespace gstnpu

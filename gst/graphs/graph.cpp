#include "graph.hpp"

#include <algorithm>

#include <npucore/error.hpp>

#include "frames/frame_description.hpp"

namespace gstnpu {
namespace {

GstNpuDataType to_data_type(npu::ElementType type) {
  switch (type) {
    case npu::ElementType::kBoolean:
      return GST_NPU_DATA_BOOLEAN;
    case npu::ElementType::kF16:
      return GST_NPU_DATA_F16;
    case npu::ElementType::kBF16:
      return GST_NPU_DATA_BF16;
    case npu::ElementType::kF32:
      return GST_NPU_DATA_F32;
    case npu::ElementType::kF64:
      return GST_NPU_DATA_F64;
    case npu::ElementType::kI8:
      return GST_NPU_DATA_I8;
    case npu::ElementType::kI16:
      return GST_NPU_DATA_I16;
    case npu::ElementType::kI32:
      return GST_NPU_DATA_I32;
    case npu::ElementType::kI64:
      return GST_NPU_DATA_I64;
    case npu::ElementType::kU8:
      return GST_NPU_DATA_U8;
    case npu::ElementType::kU16:
      return GST_NPU_DATA_U16;
    case npu::ElementType::kU32:
      return GST_NPU_DATA_U32;
    case npu::ElementType::kU64:
      return GST_NPU_DATA_U64;
    default:
      return GST_NPU_DATA_UNKNOWN;
  }
}

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
  tensor.type = to_data_type(port.type);
  tensor.num_dims = static_cast<guint>(port.shape.size());
  gsize stride = gst_npu_data_type_size(tensor.type);
  for (std::size_t i = port.shape.size(); i-- > 0;) {
    tensor.dims[i] = static_cast<gsize>(port.shape[i]);
    tensor.strides[i] = stride;
    stride *= tensor.dims[i];
  }
  return tensor;
}

}  // namespace

Graph::Graph(npu::CompiledModel model, npu::FrameInput frame, std::string file,
             const std::string& card)
    : model_(std::move(model)),
      frame_(std::move(frame)),
      file_(std::move(file)),
      card_(g_ref_string_new(card.c_str()), g_ref_string_release) {
  const auto& info = model_.model_info();
  if (const auto labels = info.find("labels"); labels != info.end()) {
    labels_ = labels->second;
  }
  for (const std::string& name : frame_.plane_inputs) {
    plane_inputs_.push_back(model_.input_index(name));
  }
  if (model_.inputs().size() != plane_inputs_.size()) {
    throw npu::Error(npu::ErrorCode::kUnsupported,
                     "the model has " + std::to_string(model_.inputs().size()) +
                         " inputs, but a frame fills only " + std::to_string(plane_inputs_.size()) +
                         " of them; use a model whose only input is the image");
  }
  takes_any_strides_ =
      layout() == without_padding(layout()) &&
      std::all_of(plane_inputs_.begin(), plane_inputs_.end(),
                  [this](std::size_t index) { return model_.input_takes_strides(index); });
  for (const npu::Port& port : model_.outputs()) {
    outputs_.push_back(describe_output(port));
    output_bytes_.push_back(port.size_bytes());
  }
}

Graph::RequestRef Graph::take_request(const MemoryKey& memory) {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto found = std::find_if(idle_.begin(), idle_.end(),
                                [&](const IdleRequest& idle) { return idle.memory == memory; });
      if (found == idle_.end()) {
        found = idle_.begin();
      }
      RequestRef request = std::move(found->request);
      idle_.erase(found);
      return request;
    }
  }
  return std::make_unique<TimedRequest>(model_.create_request());
}

void Graph::give_back(RequestRef request, const MemoryKey& memory) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back({std::move(request), memory});
}

void Graph::drop_idle_requests() {
  std::vector<IdleRequest> dropped;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  dropped.swap(idle_);
}

}  // namespace gstnpu

#include <algorithm>

#include <npucore/error.hpp>
#include <npuvision/tensor_view.hpp>

namespace npu::vision {

std::string TensorView::describe() const {
  std::string text = "\"" + std::string(name) + "\" " + npu::to_string(type) + " [";
  for (std::size_t i = 0; i < rank; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(dims[i]);
  }
  return text + "]";
}

TensorView view_of(const npu::Port& port, const npu::Tensor& tensor) {
  TensorView view;
  view.name = port.tensor_names.empty() ? port.name : port.tensor_names.front();
  view.type = port.type;
  view.rank = port.shape.size();
  if (view.rank > TensorView::kMaxRank) {
    throw Error(ErrorCode::kUnsupported, "the model's output " + std::string(view.name) + " has " +
                                             std::to_string(view.rank) +
                                             " dimensions, but decoders take at most " +
                                             std::to_string(TensorView::kMaxRank));
  }
  std::size_t stride = bit_width(port.type) / 8;
  for (std::size_t i = view.rank; i-- > 0;) {
    view.dims[i] = static_cast<std::size_t>(std::max<std::int64_t>(port.shape[i], 0));
    view.strides_bytes[i] = stride;
    stride *= view.dims[i];
  }
  view.data = tensor ? tensor.data() : nullptr;
  view.size_bytes = tensor.size_bytes();
  return view;
}

}  // namespace npu::vision

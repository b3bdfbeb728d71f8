#include <npuvision/tensor_view.hpp>

namespace npu::vision {

std::string TensorView::describe() const {
  std::string text = "\"" + std::string(name) + "\" " + npu::to_string(type) + " [";
  for (std::size_t i = 0; i < rank; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace npu::vision

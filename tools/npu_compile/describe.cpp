#include "describe.hpp"

void print_ports(std::ostream& out, const char* kind, const std::vector<npu::Port>& ports) {
  for (const auto& port : ports) {
    const auto& name = port.tensor_names.empty() ? port.name : port.tensor_names.front();
    out << "  " << kind << "  " << name << "  " << npu::to_string(port.type)
        << npu::to_string(port.shape) << '\n';
  }
}

void print_frame(std::ostream& out, const npu::FrameInput& input) {
  const auto& geometry = input.geometry;
  out << "  frame   " << input.preprocess.frame.describe() << " -> " << geometry.model_width << 'x'
      << geometry.model_height << ' ' << npu::to_string(input.preprocess.resize) << ' '
      << npu::to_string(input.preprocess.channels) << '\n';
}

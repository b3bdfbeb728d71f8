// Runs a model of one input and one output on the software NPU, for comparison with a peer:
//   run-model <model.xml> <inputs> <outputs>
// Both files hold whole tensors, one after another.

#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include <npucore/npucore.hpp>

namespace {

void run(const char* model_path, const char* inputs_path, const char* outputs_path) {
  const npu::Device device = npu::Device::open(npu::DeviceKind::kSoftware);
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(model_path));
  npu::Request request = compiled.create_request();
  const npu::Tensor input = request.input(0);
  const npu::Tensor output = request.output(0);
  const std::size_t input_bytes = compiled.inputs().at(0).size_bytes();
  const std::size_t output_bytes = compiled.outputs().at(0).size_bytes();

  std::ifstream inputs(inputs_path, std::ios::binary);
  std::ofstream outputs(outputs_path, std::ios::binary);
  while (inputs.read(reinterpret_cast<char*>(input.data()),
                     static_cast<std::streamsize>(input_bytes))) {
    request.infer();
    outputs.write(reinterpret_cast<const char*>(output.data()),
                  static_cast<std::streamsize>(output_bytes));
  }
  if (inputs.gcount() != 0) throw std::runtime_error("the inputs end inside a tensor");
  if (!outputs.flush()) throw std::runtime_error("the outputs could not be written");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: run-model <model.xml> <inputs> <outputs>\n";
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "run-model: " << error.what() << '\n';
    return 1;
  }
  return 0;
}

// Runs a model with one input and one output once, from a file to a file, as Python's package does.
//
// usage: infer_bytes MODEL IN OUT
#include <algorithm>
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 4) return 2;
  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  const npu::Tensor input = request.input(0);
  const std::string bytes = npu::read_input(arguments[2], input.size_bytes());
  std::transform(bytes.begin(), bytes.end(), input.data(),
                 [](char byte) { return std::byte(byte); });
  request.infer();
  const npu::Tensor output = request.output(0);
  npu::write_output(arguments[3], {output.data(), compiled.outputs()[0].size_bytes()});
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

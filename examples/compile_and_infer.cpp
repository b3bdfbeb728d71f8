// Compiles an IR and runs it once: y = x * x.
//
// usage: compile_and_infer models/square.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: compile_and_infer models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();  // a real NPU, else the software NPU
  const npu::Model model = npu::Model::read(arguments[1]);
  const npu::CompiledModel compiled = npu::CompiledModel::compile(device, model);
  for (const npu::Port& port : compiled.inputs()) {
    std::printf("input %s %s%s\n", port.name.c_str(), npu::to_string(port.type),
                npu::to_string(port.shape).c_str());
  }

  npu::Request request = compiled.create_request();
  npu::Tensor input = request.input("x");  // the device's own memory
  float next = 0;
  for (float& x : input.as<float>()) x = next++;
  request.infer();

  const npu::Tensor output = request.output("y");
  for (const float y : output.as<float>()) std::printf("%g ", y);
  std::printf("\n");
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // what failed, and what to do next
  return 1;
}

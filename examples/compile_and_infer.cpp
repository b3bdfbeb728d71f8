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
  float next = 0;
  for (float& x : request.input("x").as<float>()) x = next++;  // the device's own memory
  request.infer();

  for (const float y : request.output("y").as<float>()) std::printf("%g ", y);
  std::printf("\n");
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());  // what failed, and what to do next
  return 1;
}

// Gives a model with dynamic dimensions the size to run with.
//
// usage: reshape models/any_size.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: reshape models/any_size.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  npu::Model model = npu::Model::read(arguments[1]);
  std::printf("as it is: %s\n", npu::to_string(model.inputs()[0].shape).c_str());
  try {
    npu::CompiledModel::compile(device, model);
  } catch (const npu::Error& error) {
    std::printf("%s\n", error.what());  // names the input and the dimension
  }
  for (const std::int64_t side : {32, 64}) {
    model.reshape({{"x", {1, 3, side, side}}});
    const auto compiled = npu::CompiledModel::compile(device, model);
    std::printf("compiled: %s\n", npu::to_string(compiled.outputs()[0].shape).c_str());
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

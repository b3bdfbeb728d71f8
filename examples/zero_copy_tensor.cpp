// One request's output is the next one's input: both bind the same tensor, nothing is copied.
//
// usage: zero_copy_tensor models/square.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: zero_copy_tensor models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const auto square = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  const std::size_t size = square.outputs()[0].size_bytes();
  const auto between = npu::Tensor::allocate(device, size, npu::MemoryUse::kOutput);

  npu::Request first = square.create_request();
  npu::Request second = square.create_request();
  first.set_output(0, between);
  second.set_input(0, between);
  first.input(0).as<float>()[0] = 3;
  first.infer();
  second.infer();
  std::printf("(3 * 3) * (3 * 3) = %g with %llu copies\n", second.output(0).as<float>()[0],
              static_cast<unsigned long long>(first.copies() + second.copies()));
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

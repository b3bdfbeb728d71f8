// Runs on memory that the application has already: in place where the driver can import it, else
// with a copy that is counted.
//
// usage: host_memory models/square.xml
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <npucore/npucore.hpp>

int main(int, char** arguments) try {
  constexpr std::size_t kPage = 4096;
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(kPage, kPage), std::free);
  auto* x = static_cast<float*>(memory.get());
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(i);

  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  request.set_input(0, npu::HostMemory{x, compiled.inputs()[0].size_bytes()});
  request.infer();
  const auto* y = reinterpret_cast<const float*>(request.output(0).data());
  std::printf("7 * 7 = %g, %s\n", y[7], request.copies() == 0 ? "in place" : "copied");
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

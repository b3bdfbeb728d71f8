// Runs on the application's own memory: in place if the driver can import it, else with a copy,
// which is counted.
//
// usage: host_memory models/square.xml
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: host_memory models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  const std::size_t size = compiled.inputs()[0].size_bytes();

  constexpr std::size_t kPage = 4096;  // host memory must begin on a page
  const std::size_t whole_pages = (size + kPage - 1) / kPage * kPage;
  const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(kPage, whole_pages),
                                                      std::free);
  auto* x = static_cast<float*>(memory.get());
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(i);

  npu::Request request = compiled.create_request();
  request.set_input(0, npu::HostMemory{x, size});
  request.infer();
  const auto y = request.output("y").as<float>();
  std::printf("7 * 7 = %g, %s\n", y[7], request.copies() == 0 ? "in place" : "copied");
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

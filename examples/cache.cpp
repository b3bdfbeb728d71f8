// Lets npucore keep what it compiles in a folder: the second compilation is a load.
//
// usage: cache models/square.xml FOLDER
#include <cstdio>
#include <npucore/npucore.hpp>

int main(int, char** arguments) try {
  npu::Device device = npu::Device::open();
  device.set_property(npu::property::cache_dir, arguments[2]);  // for all models from now on
  const npu::Model model = npu::Model::read(arguments[1]);
  for (int round = 0; round < 2; ++round) {
    const auto compiled = npu::CompiledModel::compile(device, model);
    npu::Request request = compiled.create_request();
    request.infer();
    const npu::LoadStats stats = compiled.load_stats();
    std::printf("from %s: %.1f ms to the first result\n", npu::to_string(stats.from),
                static_cast<double>(stats.first_latency_ns()) / 1e6);
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Keeps compiled models in a folder: the second compilation only loads.
//
// usage: cache models/square.xml FOLDER
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fprintf(stderr, "usage: cache models/square.xml FOLDER\n");
    return 2;
  }
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

// Shows where an inference spends its time, layer by layer.
//
// usage: profiling models/square.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: profiling models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  npu::CompileOptions options;
  options.properties.set(npu::property::profiling, true);
  const auto model = npu::Model::read(arguments[1]);
  const auto compiled = npu::CompiledModel::compile(device, model, options);
  npu::Request request = compiled.create_request();
  request.infer();
  std::printf("inference: %.1f us\n", static_cast<double>(request.inference_time_ns()) / 1e3);
  for (const npu::LayerProfile& layer : request.profile()) {
    if (layer.status != npu::LayerStatus::kExecuted) continue;
    std::printf("layer %-16s %-12s %8.1f us\n", layer.name.c_str(), layer.type.c_str(),
                static_cast<double>(layer.duration_ns) / 1e3);
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

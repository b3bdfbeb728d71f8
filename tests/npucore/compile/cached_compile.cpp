// Compiles a model with a cache and tells where the graph came from, on one line.
//
// usage: cached_compile MODEL.xml FOLDER [CACHE_ID]
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) return 2;
  const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
  npu::CompileOptions options;
  options.properties.set(npu::property::cache_dir, std::string(argv[2]));
  if (argc == 4) {
    options.properties.set(npu::property::cache_id, std::string(argv[3]));
  }
  const auto model = npu::CompiledModel::compile(device, npu::Model::read(argv[1]), options);
  model.create_request().infer();
  std::puts(npu::to_string(model.load_stats().from));
  return 0;
}

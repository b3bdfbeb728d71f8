// Compiles once and keeps the blob; every later start only loads it. The blob runs on machines
// that have no compiler.
//
// usage: import_blob models/square.xml square.blob
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 3) {
    std::fprintf(stderr, "usage: import_blob models/square.xml square.blob\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const npu::Model model = npu::Model::read(arguments[1]);
  npu::CompiledModel::compile(device, model).export_blob(arguments[2]);

  // Given the model too, import compiles it again if another driver made the blob.
  const auto loaded = npu::CompiledModel::import(device, arguments[2], model);
  const npu::LoadStats stats = loaded.load_stats();
  std::printf("loaded from a %s\n", npu::to_string(stats.from));

  npu::Request request = loaded.create_request();
  request.input(0).as<float>()[0] = 3;
  request.infer();
  std::printf("3 * 3 = %g\n", request.output(0).as<float>()[0]);
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

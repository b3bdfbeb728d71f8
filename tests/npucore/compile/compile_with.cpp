// Compiles a model with properties and prints "ok" and where it came from, or the error.
//
// usage: compile_with MODEL.xml "KEY=VALUE ..." [OPTION=VALUE for the compiler as it is [BLOB]]
#include <cstdio>
#include <cstdlib>
#include <string>

#include <npucore/npucore.hpp>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    npu::CompileOptions options;
    options.properties = npu::Properties::parse(argv[2]);
    if (argc > 3 && *argv[3]) {
      const std::string option = argv[3];
      const auto equals = option.find('=');
      options.config[option.substr(0, equals)] = option.substr(equals + 1);
    }
    const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
    const auto model = npu::CompiledModel::compile(device, npu::Model::read(argv[1]), options);
    if (argc > 4) {
      model.export_blob(argv[4]);
    }
    if (std::getenv("COMPILE_WITH_REQUEST")) {
      model.native_binary();  // marks in the driver's trace that the model is loaded
      model.create_request().infer();
    }
    std::printf("ok, from %s\n", npu::to_string(model.load_stats().from));
  } catch (const npu::Error& error) {
    std::puts(error.what());
  }
}

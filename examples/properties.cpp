// Reads and sets properties, by OpenVINO's names, typed and as text.
//
// usage: properties models/square.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: properties models/square.xml\n");
    return 2;
  }
  npu::Device device = npu::Device::open();
  std::printf("%s\n", device.get_property(npu::property::full_device_name).c_str());
  device.set_property(npu::property::priority, npu::Priority::kHigh);  // for all models from now on

  npu::CompileOptions options;  // for this model
  options.properties = npu::Properties::parse("PERFORMANCE_HINT=LATENCY NPU_TURBO=YES");
  const auto model = npu::Model::read(arguments[1]);
  const auto compiled = npu::CompiledModel::compile(device, model, options);
  for (const char* name : {"MODEL_PRIORITY", "PERFORMANCE_HINT", "NPU_TURBO"}) {
    std::printf("%s is %s\n", name, compiled.get_property(name).c_str());
  }
  try {
    device.set_property("NPU_TURBOO", "YES");
  } catch (const npu::Error& error) {
    std::printf("%s\n", error.what());  // lists similar names
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

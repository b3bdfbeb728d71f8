// The device hangs and is reset: the inference in flight is lost and gives one error; the next one
// runs on a new context. On the software NPU SOFTNPU_FAULT causes the hang, for example
// SOFTNPU_FAULT=zeFenceHostSynchronize:DEVICE_LOST@5
//
// usage: lost_device models/square.xml
#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: lost_device models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  int right = 0;
  for (int frame = 1; frame <= 10; ++frame) {
    request.input(0).as<float>()[0] = static_cast<float>(frame);
    try {
      request.infer();
    } catch (const npu::Error& error) {
      if (error.code() != npu::ErrorCode::kDeviceLost) throw;
      std::printf("frame %d is lost: %s\n", frame, error.what());
      continue;
    }
    const float y = request.output(0).as<float>()[0];
    right += y == static_cast<float>(frame * frame);
  }
  std::printf("%d of 10 results are right\n", right);
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

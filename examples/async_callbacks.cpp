// Starts an inference, does other work meanwhile, and gets a callback when it is done.
//
// usage: async_callbacks models/square.xml
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: async_callbacks models/square.xml\n");
    return 2;
  }
  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  std::atomic<int> done = 0;
  request.set_callback([&](std::exception_ptr error) {  // runs in one of the model's threads
    if (!error) {
      ++done;
    }
  });
  for (int frame = 0; frame < 10; ++frame) {
    request.input(0).as<float>()[0] = static_cast<float>(frame);
    request.submit();  // returns at once
    while (!request.wait(std::chrono::milliseconds(5))) std::printf("still working\n");
  }
  std::printf("%d of 10 inferences done, the last gave %g\n", done.load(),
              request.output(0).as<float>()[0]);
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

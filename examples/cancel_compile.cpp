// Compiles on a thread, shows how far it is, and gives up after a second: cancel() returns at once.
//
// usage: cancel_compile MODEL.xml [milliseconds]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  const std::chrono::milliseconds patience(count > 2 ? std::atoi(arguments[2]) : 1000);
  const npu::Device device = npu::Device::open();
  npu::CompileJob job = npu::compile_async(device, npu::Model::read(arguments[1]));
  if (job.wait(patience)) {
    std::printf("%s\n", npu::to_string(job.progress().phase));
    return 0;
  }
  const npu::CompileProgress progress = job.progress();
  std::printf("%s for %.0f ms\n", npu::to_string(progress.phase),
              std::chrono::duration<double, std::milli>(progress.elapsed).count());
  job.cancel();
  try {
    job.get();
  } catch (const npu::Error& error) {
    std::printf("%s\n", npu::to_string(error.code()));
  }
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

// Compiles on a thread, shows its progress, and gives up after a second: cancel() returns at once.
//
// usage: cancel_compile MODEL.xml [milliseconds]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  char* end = nullptr;
  const long milliseconds = count == 3 ? std::strtol(arguments[2], &end, 10) : 1000;
  const bool is_number = count != 3 || (end != arguments[2] && *end == '\0' && milliseconds >= 0);
  if (count < 2 || count > 3 || !is_number) {
    std::fprintf(stderr, "usage: cancel_compile MODEL.xml [milliseconds]\n");
    return 2;
  }
  const std::chrono::milliseconds patience(milliseconds);
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

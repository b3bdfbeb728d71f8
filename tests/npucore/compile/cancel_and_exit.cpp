// Starts a compilation, waits, and exits with code 7 while the driver may still be compiling.
//
// usage: cancel_and_exit MODEL.xml MICROSECONDS cancel|forget|busy|other-thread
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <npucore/npucore.hpp>

namespace {

int start_and_leave(const char* model, int wait_us, bool cancel, bool busy = false) {
  const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
  npu::CompileOptions options;
  if (busy) {
    options.progress = [](const auto&) {
      std::this_thread::sleep_for(std::chrono::minutes(1));
      std::fputs("waited for", stdout);
    };
  }
  npu::CompileJob job = npu::compile_async(device, npu::Model::read(model), options);
  std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
  if (cancel) {
    job.cancel();
  }
  std::fputs("bye", stdout);  // without a line end: nobody flushes it but exit
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string how = argv[3];
  const int wait_us = std::stoi(argv[2]);
  if (how != "other-thread") {
    return start_and_leave(argv[1], wait_us, how == "cancel", how == "busy");
  }
  std::thread([&] { std::exit(start_and_leave(argv[1], wait_us, true)); }).join();
}

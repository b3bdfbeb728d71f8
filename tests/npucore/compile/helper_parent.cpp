// Starts a compilation, prints "compiling" once the compiler runs, and ends in one way or another.
//
// usage: helper_parent MODEL.xml wait|exit|exit-other-thread|exit-while-reading
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <npucore/npucore.hpp>

namespace {

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}

struct Static {
  ~Static() { say("static destructor"); }
};
const Static told_at_the_end;

npu::CompileJob start(const char* model) {
  const auto device = npu::Device::open(npu::DeviceKind::kSoftware);
  static std::atomic<bool> compiles = false;
  npu::CompileOptions options;
  options.progress = [](const npu::CompileProgress& progress) {
    if (progress.phase == npu::CompilePhase::kCompiling) {
      compiles = true;
    }
  };
  npu::CompileJob job = npu::compile_async(device, npu::Model::read(model), options);
  while (!compiles) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return job;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string how = argv[2];
  std::atexit([] { say("exit handler"); });
  const npu::CompileJob job = start(argv[1]);
  if (how == "exit-while-reading") {
    std::thread([] { std::getchar(); }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // into the compiler
  say("compiling");
  if (how == "wait") {
    for (;;) ::pause();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for who looks
  if (how == "exit-other-thread") {
    std::thread([] { std::exit(7); }).join();
  }
  std::exit(7);
}

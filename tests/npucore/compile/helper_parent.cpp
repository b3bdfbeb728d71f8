// Starts a compilation, prints "compiling" once the compiler runs, and ends in one way or another;
// to exit it is asked by a line; or compiles and prints this process's anonymous memory in kB while
// it has the model.
//
// usage: helper_parent MODEL.xml wait|exit|exit-other-thread|exit-while-reading|memory
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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

std::string anonymous_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "RssAnon:" && status >> word) return word;
  }
  return "0";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string how = argv[2];
  if (how == "memory") {
    const npu::CompiledModel model = start(argv[1]).get();
    say(anonymous_kb().c_str());
    return 0;
  }
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
  if (how != "exit-while-reading") {
    char line = 0;
    if (::read(STDIN_FILENO, &line, 1) != 1) return 3;  // once who looks has looked
  }
  if (how == "exit-other-thread") {
    std::thread([] { std::exit(7); }).join();
  }
  std::exit(7);
}

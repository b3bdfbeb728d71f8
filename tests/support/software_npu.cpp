#include "software_npu.hpp"

#include <dlfcn.h>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace npu::test {
namespace {

constexpr int kSuccess = 0;

void* driver_function(const char* name) {
  using DriverGet = int (*)(std::uint32_t*, void**);
  using FunctionAddress = int (*)(void*, const char*, void**);
  void* loader = ::dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!loader) throw std::runtime_error("the loader is not loaded");
  const auto driver_get = reinterpret_cast<DriverGet>(::dlsym(loader, "zeDriverGet"));
  const auto address =
      reinterpret_cast<FunctionAddress>(::dlsym(loader, "zeDriverGetExtensionFunctionAddress"));
  ::dlclose(loader);
  // Asked once: a fault may hit these calls too.
  static void* const driver = [&] {
    std::uint32_t count = 1;
    void* first = nullptr;
    return driver_get(&count, &first) == kSuccess ? first : nullptr;
  }();
  void* function = nullptr;
  if (!driver || address(driver, name, &function) != kSuccess) {
    throw std::runtime_error(std::string("the driver has no ") + name);
  }
  return function;
}

}  // namespace

void set_fault(const std::string& specification) {
  using SetFault = int (*)(const char*);
  static const auto set = reinterpret_cast<SetFault>(driver_function("softnpuSetFault"));
  if (set(specification.c_str()) != kSuccess) {
    throw std::runtime_error("the software NPU does not take the fault " + specification);
  }
}

std::map<std::string, std::uint64_t> driver_call_counts() {
  using CallCounts = int (*)(const char**);
  static const auto counts = reinterpret_cast<CallCounts>(driver_function("softnpuGetCallCounts"));
  const char* text = "";
  counts(&text);
  std::istringstream words(text);
  std::map<std::string, std::uint64_t> found;
  std::string call;
  std::uint64_t count = 0;
  while (words >> call >> count) found[call] = count;
  return found;
}

namespace {

struct LiveObjects {
  std::uint32_t count = 0;
  const char* text = nullptr;
};

LiveObjects live_objects() {
  using Get = int (*)(std::uint32_t*, const char**);
  static const auto get = reinterpret_cast<Get>(driver_function("softnpuGetLiveObjects"));
  LiveObjects live;
  if (get(&live.count, &live.text) != kSuccess) {
    throw std::runtime_error("softnpuGetLiveObjects failed");
  }
  return live;
}

}  // namespace

std::uint32_t live_driver_objects() {
  return live_objects().count;
}

bool driver_objects_settle_at(std::uint32_t objects) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (live_driver_objects() != objects && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return live_driver_objects() == objects;
}

std::string describe_live_objects() {
  const char* text = live_objects().text;
  return text ? text : "";
}

}  // namespace npu::test

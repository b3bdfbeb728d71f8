#include "late_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string_view>
#include <thread>

namespace {

using std::chrono::milliseconds;
using Function = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Function, void*);

std::atomic<milliseconds> lateness{milliseconds(0)};
std::atomic<int> late_threads{0};
std::atomic<bool> has_threads{true};

struct Start {
  Function function;
  void* argument;
  milliseconds late;
};

void* begin_late(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  std::this_thread::sleep_for(owned->late);
  return owned->function(owned->argument);
}

bool is_of(const char* library, const void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::string_view(info.dli_fname).find(library) != std::string_view::npos;
}

}  // namespace

/// In place of the system's, for all that this program loads.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              Function function, void* argument) noexcept {
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  const void* caller = __builtin_return_address(0);
  if (!has_threads && is_of("libstdc++", caller)) return EAGAIN;
  const milliseconds late = lateness;
  if (late == milliseconds(0) || !is_of("paho", caller)) {
    return create(thread, attributes, function, argument);
  }
  ++late_threads;
  auto start = std::make_unique<Start>(Start{function, argument, late});
  const int result = create(thread, attributes, begin_late, start.get());
  if (result == 0) {
    static_cast<void>(start.release());
  }
  return result;
}

namespace gstnpu_test {

LateThreads::LateThreads(milliseconds late) {
  late_threads = 0;
  lateness = late;
}

LateThreads::~LateThreads() {
  lateness = milliseconds(0);
}

int LateThreads::count() {
  return late_threads;
}

NoThreads::NoThreads() {
  has_threads = false;
}

NoThreads::~NoThreads() {
  has_threads = true;
}

}  // namespace gstnpu_test

// LD_PRELOAD: counts what is asked of the heap, by the module on whose behalf that is: the first
// above the call that only passes on what others ask for. From audit_heap(true) to
// audit_heap(false), which writes a line "COUNT MODULE" for each module to the file that HEAP_AUDIT
// names.
#include "heap_audit.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

// glibc's own, behind the names that are defined here.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* memory, std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

constexpr int kMostFrames = 24;

struct Module {
  const char* path;  // the linker's own copy
  std::uint64_t count;
};
std::array<Module, 64> modules;
std::mutex modules_mutex;  // guards modules
std::atomic<bool> counting{false};
thread_local bool inside = false;  // what the count itself asks for is not counted

std::string_view name_of(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool passes_on(const char* path) {
  const std::string_view name = name_of(path);
  for (const char* start :
       {"libheap-audit", "libc.so", "libstdc++", "libgcc_s", "ld-linux", "libglib-"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

const char* asker() {
  std::array<void*, kMostFrames> frames{};
  const int depth = backtrace(frames.data(), kMostFrames);
  for (int i = 0; i < depth; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0 || !info.dli_fname) continue;
    if (!passes_on(info.dli_fname)) return info.dli_fname;
  }
  return "unknown";
}

void note() {
  if (!counting || inside) return;
  inside = true;
  const char* path = asker();
  {
    const std::scoped_lock lock(modules_mutex);
    const auto found = std::find_if(modules.begin(), modules.end(), [&](const Module& module) {
      return !module.path || module.path == path;
    });
    if (found != modules.end()) {
      found->path = path;
      ++found->count;
    }
  }
  inside = false;
}

void report() {
  const char* path = std::getenv("HEAP_AUDIT");
  std::FILE* file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  for (const Module& module : modules) {
    if (!module.path) break;
    std::fprintf(file, "%llu %s\n", static_cast<unsigned long long>(module.count),
                 name_of(module.path).data());
  }
  std::fclose(file);
}

}  // namespace

extern "C" {

void audit_heap(bool begins) {
  if (!begins) {
    counting = false;
    return report();
  }
  std::array<void*, kMostFrames> frames{};
  backtrace(frames.data(), kMostFrames);  // the first one loads a library
  counting = true;
}

void* malloc(std::size_t size) {
  note();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  note();
  return __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
  note();
  return __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  note();
  void* const made = __libc_memalign(alignment, size);
  if (!made) return ENOMEM;
  *memory = made;
  return 0;
}
}

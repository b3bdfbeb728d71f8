// LD_PRELOAD: counts copies of 4 KiB or more that are made with memcpy, memmove and their siblings,
// by the module that called and the module on whose behalf that was. Frames are often copied row by
// row: calls from one place that go on near where the last one ended are one copy.
//
// Compiled with -fno-builtin: a loop here must not become a call of what it stands in for.
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "copy_count.hpp"

namespace {

using npu::test::CopyCount;
using Copy = void* (*)(void*, const void*, std::size_t);

constexpr std::size_t kCountedBytes = 4096;
constexpr std::size_t kMostEntries = 128;
constexpr int kMostFrames = 32;
// Most bytes between two rows of one copy: padding, or the rest of a wider picture.
constexpr std::uintptr_t kMostGapBytes = 64 * 1024;

class SpinLock {
 public:
  void lock() {
    while (taken_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

SpinLock entries_lock;  // guards the two below
std::array<CopyCount, kMostEntries> entries;
std::size_t num_entries = 0;
std::atomic<unsigned> generation{0};  // of `entries`: one more with every reset

/// Calls of one thread that make one copy.
struct Run {
  const void* caller;
  std::uintptr_t to_end, from_end;
  std::uint64_t bytes;
  CopyCount* entry;  // null while the copy is small
  unsigned generation;
};

std::atomic<bool> counting{false};
std::atomic<Copy> real_memmove{nullptr};
thread_local bool inside = false;  // what the counter itself causes is not counted
thread_local Run run{};

/// Until the real one is known: dlsym() may copy too.
void* move_bytes(void* to, const void* from, std::size_t size) {
  auto* out = static_cast<volatile unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  if (out <= in) {
    for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
  } else {
    while (size-- > 0) out[size] = in[size];
  }
  return to;
}

void* move(void* to, const void* from, std::size_t size) {
  Copy copy = real_memmove.load(std::memory_order_relaxed);
  if (copy == nullptr) {
    if (inside) return move_bytes(to, from, size);
    inside = true;
    copy = reinterpret_cast<Copy>(dlsym(RTLD_NEXT, "memmove"));
    inside = false;
    real_memmove.store(copy, std::memory_order_relaxed);
  }
  return copy(to, from, size);
}

std::string_view path_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "unknown";
  return info.dli_fname;
}

std::string_view name_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Libraries that copy because somebody asked them to.
bool is_go_between(std::string_view path) {
  const std::string_view name = name_of(path);
  if (path.find("/gstreamer-1.0/") != std::string_view::npos) return false;  // a plugin
  if (name.find("gstnpu") != std::string_view::npos) return false;
  for (const char* start : {"libc.so", "libc-", "libm.so", "libstdc++", "libgcc_s", "ld-linux",
                            "libglib-", "libgobject-", "libgst", "liborc"}) {
    if (name.substr(0, std::string_view(start).size()) == start) return true;
  }
  return false;
}

/// The first module above the call that is no go-between; the caller itself where there is none.
std::string_view asked_by(const void* caller, std::string_view caller_path) {
  if (!is_go_between(caller_path)) return caller_path;
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  const auto end = frames.begin() + count;
  for (auto frame = std::find(frames.begin(), end, caller); frame != end; ++frame) {
    const std::string_view path = path_of(*frame);
    if (!is_go_between(path)) return path;
  }
  return caller_path;
}

void put(char (&to)[CopyCount::kNameBytes], std::string_view name) {
  const std::size_t size = std::min(name.size(), CopyCount::kNameBytes - 1);
  move_bytes(to, name.data(), size);
  to[size] = '\0';
}

CopyCount* find_entry(std::string_view caller, std::string_view asker) {
  CopyCount* end = entries.data() + num_entries;
  CopyCount* entry = std::find_if(entries.data(), end, [&](auto& known) {
    return caller == known.caller && asker == known.asked_by;
  });
  if (entry != end) return entry;
  if (num_entries == kMostEntries) return &entries.back();
  ++num_entries;
  *entry = {};
  put(entry->caller, caller);
  put(entry->asked_by, asker);
  return entry;
}

void begin_count() {
  inside = true;
  const std::string_view path = path_of(run.caller);
  const std::string_view asker = name_of(asked_by(run.caller, path));
  {
    const std::scoped_lock lock(entries_lock);
    run.entry = find_entry(name_of(path), asker);
    run.generation = generation;
    ++run.entry->calls;
    run.entry->bytes += run.bytes;
    run.entry->largest_bytes = std::max(run.entry->largest_bytes, run.bytes);
  }
  inside = false;
}

void go_on_counting(std::size_t size) {
  const std::scoped_lock lock(entries_lock);
  if (run.generation != generation) return;
  run.entry->bytes += size;
  run.entry->largest_bytes = std::max(run.entry->largest_bytes, run.bytes);
}

bool is_near(std::uintptr_t end, std::uintptr_t next) {
  return next - end <= kMostGapBytes;
}

void note(const void* caller, const void* to_memory, const void* from_memory, std::size_t size) {
  if (!counting.load(std::memory_order_relaxed) || inside) return;
  const auto to = reinterpret_cast<std::uintptr_t>(to_memory);
  const auto from = reinterpret_cast<std::uintptr_t>(from_memory);
  const bool goes_on =
      run.caller == caller && is_near(run.to_end, to) && is_near(run.from_end, from);
  if (!goes_on) {
    run = {caller, 0, 0, 0, nullptr, 0};
  }
  run.to_end = to + size;
  run.from_end = from + size;
  run.bytes += size;
  if (run.entry != nullptr) return go_on_counting(size);
  if (run.bytes >= kCountedBytes) {
    begin_count();
  }
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, std::size_t size) noexcept {
  note(__builtin_return_address(0), to, from, size);
  return move(to, from, size);
}

void* memmove(void* to, const void* from, std::size_t size) noexcept {
  note(__builtin_return_address(0), to, from, size);
  return move(to, from, size);
}

void* mempcpy(void* to, const void* from, std::size_t size) noexcept {
  note(__builtin_return_address(0), to, from, size);
  return static_cast<char*>(move(to, from, size)) + size;
}

void bcopy(const void* from, void* to, std::size_t size) noexcept {
  note(__builtin_return_address(0), to, from, size);
  move(to, from, size);
}

// _FORTIFY_SOURCE turns calls into these. The real ones end the process on an overflow.
void* __memcpy_chk(void* to, const void* from, std::size_t size, std::size_t room) noexcept {
  if (size > room) {
    __builtin_trap();
  }
  note(__builtin_return_address(0), to, from, size);
  return move(to, from, size);
}

void* __memmove_chk(void* to, const void* from, std::size_t size, std::size_t room) noexcept {
  if (size > room) {
    __builtin_trap();
  }
  note(__builtin_return_address(0), to, from, size);
  return move(to, from, size);
}

void* __mempcpy_chk(void* to, const void* from, std::size_t size, std::size_t room) noexcept {
  if (size > room) {
    __builtin_trap();
  }
  note(__builtin_return_address(0), to, from, size);
  return static_cast<char*>(move(to, from, size)) + size;
}

void npu_copy_counter_count(bool on) {
  if (on) {  // loads what backtrace() needs before anything is counted
    std::array<void*, 1> frame{};
    inside = true;
    (void)backtrace(frame.data(), 1);
    inside = false;
  }
  counting = on;
}

void npu_copy_counter_reset() {
  const std::scoped_lock lock(entries_lock);
  num_entries = 0;
  ++generation;
}

std::size_t npu_copy_counter_read(CopyCount* to, std::size_t most) {
  const std::scoped_lock lock(entries_lock);
  const std::size_t count = std::min(num_entries, most);
  move_bytes(to, entries.data(), count * sizeof(CopyCount));
  return count;
}

}  // extern "C"

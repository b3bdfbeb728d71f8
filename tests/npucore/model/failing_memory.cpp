#include "failing_memory.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

// glibc's own, which the definitions below stand in front of.
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);
extern "C" void* __libc_realloc(void* memory, std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);
extern "C" void __libc_free(void* memory);

namespace npu::test {
namespace {

enum class Owner : unsigned char { kNobody, kNpucore, kOther };

struct Code {
  std::uintptr_t begin = 0, end = 0;
  Owner owner = Owner::kNobody;
};

/// The code that tells whose an allocation is; no other library allocates for itself.
class Modules {
 public:
  void find() {
    used_ = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* self) {
          static_cast<Modules*>(self)->add(*info);
          return 0;
        },
        this);
  }
  Owner owner_of(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (std::size_t i = 0; i < used_; ++i) {
      if (at >= all_[i].begin && at < all_[i].end) return all_[i].owner;
    }
    return Owner::kNobody;
  }

 private:
  static Owner owner_named(const char* name) {
    if (*name == '\0') return Owner::kOther;  // this program
    if (std::strstr(name, "libnpucore")) return Owner::kNpucore;
    for (const char* other : {"libze_", "libopenvino", "libtbb", "ld-linux"}) {
      if (std::strstr(name, other)) return Owner::kOther;
    }
    return Owner::kNobody;
  }
  void add(const dl_phdr_info& info) {
    const Owner owner = owner_named(info.dlpi_name);
    for (int i = 0; i < info.dlpi_phnum && owner != Owner::kNobody; ++i) {
      const auto& header = info.dlpi_phdr[i];
      const bool is_code = header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0;
      if (!is_code || used_ == all_.size()) continue;
      const auto begin = info.dlpi_addr + header.p_vaddr;
      all_[used_++] = {begin, begin + header.p_memsz, owner};
    }
  }

  std::array<Code, 256> all_{};
  std::size_t used_ = 0;
};

constinit char gone = 0;

/// Addresses in memory of its own.
class Live {
 public:
  void add(const void* memory) {
    std::scoped_lock lock(mutex_);
    auto at = slot(memory);
    while (places_[at] != nullptr && places_[at] != &gone) at = (at + 1) % places_.size();
    places_[at] = memory;
    ++count_;
  }
  void remove(const void* memory) {
    if (count_ == 0) return;
    std::scoped_lock lock(mutex_);
    for (auto at = slot(memory); places_[at] != nullptr; at = (at + 1) % places_.size()) {
      if (places_[at] != memory) continue;
      places_[at] = &gone;
      --count_;
      return;
    }
  }
  std::int64_t count() const { return count_; }

 private:
  std::size_t slot(const void* memory) const {
    return (reinterpret_cast<std::uintptr_t>(memory) >> 4) * 0x9e3779b97f4a7c15 % places_.size();
  }

  std::mutex mutex_;  // guards all
  std::array<const void*, 1 << 20> places_{};
  std::atomic<std::int64_t> count_ = 0;
};

constinit Modules modules;
constinit Live live;
std::atomic<bool> counting = false, lasting = false;
std::atomic<std::uint64_t> counted = 0, failing = 0;
thread_local bool inside = false;

/// The innermost code that tells; no further, as OpenVINO allocates a lot.
bool is_npucores() {
  struct Walk {
    int here = 3;  // this, judge() and malloc()
    Owner owner = Owner::kNobody;
  } walk;
  _Unwind_Backtrace(
      [](_Unwind_Context* frame, void* data) {
        auto& found = *static_cast<Walk*>(data);
        if (found.here-- > 0) return _URC_NO_REASON;
        found.owner = modules.owner_of(reinterpret_cast<const void*>(_Unwind_GetIP(frame)));
        return found.owner == Owner::kNobody ? _URC_NO_REASON : _URC_END_OF_STACK;
      },
      &walk);
  return walk.owner == Owner::kNpucore;
}

enum class Verdict { kOthers, kCounted, kRefused };

/// `caller` allocates; where that tells, nothing is looked for on the stack.
[[gnu::noinline]] Verdict judge(const void* caller) {
  if (!counting.load(std::memory_order_relaxed) || inside) return Verdict::kOthers;
  if (modules.owner_of(caller) == Owner::kOther) return Verdict::kOthers;
  inside = true;
  const bool ours = is_npucores();
  inside = false;
  if (!ours) return Verdict::kOthers;
  const std::uint64_t number = ++counted;
  const bool beyond = lasting && failing != 0 && number > failing;
  return number == failing || beyond ? Verdict::kRefused : Verdict::kCounted;
}

template <class Allocate>
[[gnu::always_inline]] inline void* allocate(const Allocate& from_libc) {
  const auto verdict = judge(__builtin_return_address(0));
  if (verdict == Verdict::kRefused) {
    errno = ENOMEM;
    return nullptr;
  }
  void* memory = from_libc();
  if (verdict == Verdict::kCounted && memory) {
    live.add(memory);
  }
  return memory;
}

}  // namespace

void fail_allocation(std::uint64_t nth, Refused refused) {
  counting = false;
  modules.find();
  counted = 0;
  failing = nth;
  lasting = refused == Refused::kFromThere;
  counting = true;
}

std::uint64_t allocations() {
  return counted;
}

std::int64_t live_allocations() {
  return live.count();
}

}  // namespace npu::test

extern "C" {

void* malloc(std::size_t size) {
  return npu::test::allocate([&] { return __libc_malloc(size); });
}
void* calloc(std::size_t count, std::size_t size) {
  return npu::test::allocate([&] { return __libc_calloc(count, size); });
}
void* memalign(std::size_t alignment, std::size_t size) {
  return npu::test::allocate([&] { return __libc_memalign(alignment, size); });
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return npu::test::allocate([&] { return __libc_memalign(alignment, size); });
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  *memory = npu::test::allocate([&] { return __libc_memalign(alignment, size); });
  return *memory ? 0 : ENOMEM;
}
void* realloc(void* memory, std::size_t size) {
  // The old memory stays where this fails.
  void* moved = npu::test::allocate([&] { return __libc_realloc(memory, size); });
  if (moved && moved != memory) {
    npu::test::live.remove(memory);
  }
  return moved;
}
void free(void* memory) {
  npu::test::live.remove(memory);
  __libc_free(memory);
}

}  // extern "C"

// The C++ library's own would be malloc's caller.
void* operator new(std::size_t size) {
  void* memory = npu::test::allocate([&] { return __libc_malloc(size > 0 ? size : 1); });
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size_bytes*/) noexcept {
  std::free(memory);
}

// The activity of this process's software NPU, in a page that other processes can read: a sealed
// memfd, found as /proc/<pid>/fd/<n> by those with the right to look there. It exists while a
// context exists, and ends with the process, however that ends. README.md has its layout.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "unique_fd.hpp"

namespace softnpu {

/// Values in the machine's byte order. The engine writes each with one atomic store or add.
struct StatusPage {
  char magic[8];                           ///< "SOFTNPU" and the version
  uint64_t process;                        ///< its own process id, as it sees it
  std::atomic<uint64_t> busy_ns;           ///< of commands that ended
  std::atomic<uint64_t> running_since_ns;  ///< CLOCK_MONOTONIC; 0: no command runs
  std::atomic<uint64_t> inferences;
  std::atomic<uint64_t> memory_bytes;  ///< of allocations and imports
};
static_assert(sizeof(StatusPage) == 48 && offsetof(StatusPage, busy_ns) == 16);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

class Status {
 public:
  /// Lives until the process ends.
  static Status& of_process();

  /// A context begins or ends: others see the page while there is one. If the kernel refuses,
  /// nobody sees it.
  void enter();
  void leave();

  void command_begins(uint64_t now_ns) { page().running_since_ns.store(now_ns, kRelaxed); }
  void command_ends(uint64_t ran_ns) {
    page().running_since_ns.store(0, kRelaxed);
    page().busy_ns.fetch_add(ran_ns, kRelaxed);
  }
  void count_inference() { page().inferences.fetch_add(1, kRelaxed); }
  void add_memory(uint64_t bytes) { page().memory_bytes.fetch_add(bytes, kRelaxed); }
  void remove_memory(uint64_t bytes) { page().memory_bytes.fetch_sub(bytes, kRelaxed); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  Status() = default;
  StatusPage& page() { return *page_.load(kRelaxed); }
  bool publish();
  static void lock();
  static void unlock();
  static void forget_parent();

  StatusPage private_{};  // holds the counts until a page is published
  std::atomic<StatusPage*> page_{&private_};
  std::mutex mutex_;  // guards all below
  uint32_t contexts_ = 0;
  UniqueFd file_;
};

/// Makes this process visible while one lives.
class Seen {
 public:
  Seen() { Status::of_process().enter(); }
  ~Seen() { Status::of_process().leave(); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;
};

}  // namespace softnpu

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace bench {

// Bytes of this process that no file backs (RssAnon of /proc/self/status). Memory of the software
// NPU's device is shared memory and not counted.
std::uint64_t anonymous_bytes();
// Peak of the resident bytes, files included (VmHWM).
std::uint64_t peak_resident_bytes();

// Samples anonymous_bytes() every millisecond and keeps the largest.
class AnonymousPeak {
 public:
  AnonymousPeak();
  ~AnonymousPeak();
  AnonymousPeak(const AnonymousPeak&) = delete;
  AnonymousPeak& operator=(const AnonymousPeak&) = delete;
  std::uint64_t bytes() const { return most_; }

 private:
  std::atomic<bool> ended_ = false;
  std::atomic<std::uint64_t> most_ = 0;
  std::thread thread_;
};

}  // namespace bench

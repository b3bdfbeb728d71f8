#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "binding.hpp"

namespace pynpu {

/// Numbers of finished inferences, and a file descriptor that can be read while there are some: an
/// eventfd, for asyncio or select(). Threads of npucore's write it, without Python.
class Completions {
 public:
  Completions();
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  int fd() const { return fd_; }
  void add(std::int64_t number) noexcept;
  /// Those that finished since the last call, in order.
  std::vector<std::int64_t> take();

 private:
  int fd_;
  std::mutex mutex_;  ///< guards finished_
  std::deque<std::int64_t> finished_;
};

}  // namespace pynpu

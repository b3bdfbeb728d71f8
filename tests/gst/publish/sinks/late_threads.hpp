#pragma once

#include <chrono>

namespace gstnpu_test {

/// As long as it is there, the threads that the MQTT library starts begin later, as on a machine
/// that has no time.
class LateThreads {
 public:
  explicit LateThreads(std::chrono::milliseconds late);
  ~LateThreads();
  LateThreads(const LateThreads&) = delete;
  LateThreads& operator=(const LateThreads&) = delete;

  /// That were late.
  static int count();
};

/// As long as it is there, no std::thread can be started, as where a user has as many as he may
/// have.
class NoThreads {
 public:
  NoThreads();
  ~NoThreads();
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
};

}  // namespace gstnpu_test

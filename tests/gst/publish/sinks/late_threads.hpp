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

}  // namespace gstnpu_test

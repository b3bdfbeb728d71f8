#pragma once

#include <chrono>
#include <string>

namespace gstnpu {

/// How long brokers have confirmed none of the lines that are on their way to them.
class Silence {
 public:
  /// It begins now: a line is on its way where none was, or one was confirmed.
  void begin() { since_ = Clock::now(); }
  bool is_long() const { return Clock::now() - since_ >= kLong; }
  /// The reason for a warning.
  static std::string reason() {
    return "none has confirmed a line for " + std::to_string(kLong.count()) + " s";
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kLong{5};

  Clock::time_point since_ = Clock::now();
};

/// The warning while lines wait for brokers.
inline std::string no_broker_takes_lines(const std::string& location, const std::string& reason) {
  return "no broker takes lines at " + location + " (" + reason + "): trying again until one does";
}

}  // namespace gstnpu

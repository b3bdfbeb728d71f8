#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <npucore/error.hpp>
#include <npucore/properties.hpp>

#include "cancellation.hpp"
#include "helper_message.hpp"
#include "helper_process.hpp"

namespace npu::internal {

/// The reason why there is no helper process; the caller compiles by itself.
class HelperUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A helper process to start, and what it does.
struct HelperProgram {
  std::filesystem::path path;
  std::vector<std::string> arguments;
  std::string opens;  ///< the thing it opens before it is ready, for messages
  std::chrono::milliseconds start_limit = std::chrono::minutes(1);
  std::uint64_t most_message_bytes = std::uint64_t{64} << 20;
  bool echoes = true;  ///< print its output here too
};

/// The line to a helper process: sends and receives messages, prints the process's output, and ends
/// it when it is late, cancelled, or this object is destroyed.
class HelperLink {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  /// Throws HelperUnavailable. `cancellation` may be null.
  HelperLink(HelperProgram program, Cancellation* cancellation, Deadline deadline);

  /// If the process is gone, the next message tells how it ended. Throws Error(kTimeout) after the
  /// deadline. `task`: as in next().
  void send(const Message& message, const std::string& task);
  /// The next message that is no log; the first is "ready". `task`: the thing to compile, for
  /// messages. Throws HelperUnavailable until the process is ready, then Error(kCancelled),
  /// Error(kTimeout), or Error(kCompileFailed) if it ended.
  Message next(const std::string& task);
  /// Ends the process, which has nothing left to do.
  void end() { process_.kill(); }
  /// All of its output, if that is not echoed.
  const std::string& printed();

 private:
  Message next_of_any_kind(const std::string& task);
  void wait_for_something(const std::string& task);
  void wait_for_room(const std::string& task);
  int milliseconds_left(const std::string& task);
  void read_errors();
  void keep(std::string_view words);
  std::string last_words() const;
  std::string complaint() const;
  void forward(const Message& message) const;
  [[noreturn]] void fail_ended(const std::string& task);
  [[noreturn]] void fail_late(const std::string& task);

  const HelperProgram program_;
  Cancellation* const cancellation_;
  const Deadline deadline_;
  const std::chrono::steady_clock::time_point ready_before_;
  HelperProcess process_;
  const Cancellation::Ends ends_;
  MessageReader reader_;
  std::string printed_;  ///< only the end, if it is echoed
  bool ready_ = false;
  bool ended_ = false;
  bool errors_ended_ = false;  ///< nobody can print any more
};

/// The time by which a compilation that starts now must be done.
HelperLink::Deadline compile_deadline(const Properties& properties);

/// The error that an "error" message carries.
Error error_in(const Message& message);

}  // namespace npu::internal

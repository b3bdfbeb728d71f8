#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <npucore/properties.hpp>

#include "cancellation.hpp"
#include "helper_message.hpp"
#include "helper_process.hpp"

namespace npu::internal {

/// Why no helper process can be had here: whoever asked for one compiles by itself.
class HelperUnavailable : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A helper process to start, and what it does.
struct HelperProgram {
  std::filesystem::path path;
  std::vector<std::string> arguments;
  std::string opens;  ///< what it has to open before it is ready, for messages
  std::chrono::milliseconds start_limit = std::chrono::minutes(1);
  std::uint64_t most_message_bytes = std::uint64_t{64} << 20;
  bool echoes = true;  ///< what it prints is printed here too
};

/// The line to a helper process: sends and gets messages, prints what the process prints, and ends
/// it when it is too late, cancelled, or this object goes.
class HelperLink {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  /// Throws HelperUnavailable. `cancellation` may be null.
  HelperLink(HelperProgram program, Cancellation* cancellation, Deadline deadline);

  /// Where the process is gone, the next message tells how it ended. Throws Error(kTimeout) once it
  /// is too late. `task`: as in next().
  void send(const Message& message, const std::string& task);
  /// The next message that is no log; the first is "ready". `task`: what is being compiled, for
  /// messages. Throws HelperUnavailable until the process is ready, then Error(kCancelled),
  /// Error(kTimeout), or Error(kCompileFailed) where it ended.
  Message next(const std::string& task);
  /// Ends the process, which has nothing left to do.
  void end() { process_.kill(); }
  /// All that it has printed, where it is not echoed.
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
  std::string printed_;  ///< where it is echoed, only the end of it
  bool ready_ = false;
  bool ended_ = false;
  bool errors_ended_ = false;  ///< nobody can print any more
};

/// When a process that starts to compile now must be done.
HelperLink::Deadline compile_deadline(const Properties& properties);

/// Throws what an "error" message tells.
[[noreturn]] void throw_what_it_said(const Message& message);

}  // namespace npu::internal

#pragma once

#include <mutex>

#include "base/unique_fd.hpp"

#include "helper_message.hpp"

namespace npu::internal {

/// The helper process's line to the program that started it. Never destroyed: the process just
/// ends.
class HelperLine {
 public:
  /// Moves the socket off the standard streams, where a compiler may print.
  HelperLine();

  void send(const Message& message);
  /// Waits for a message; ends the process if nobody will send one.
  Message receive();
  /// Ends this process when its parent is gone, so that no compiler runs for nobody.
  void end_with_parent() const;

 private:
  void wait_for(short what) const;

  const base::UniqueFd socket_;
  std::mutex mutex_;  // guards sending
  MessageReader reader_;
};

/// Limits this process's memory (RLIMIT_DATA) from now on; 0: no limit.
void limit_memory(std::uint64_t bytes);

}  // namespace npu::internal

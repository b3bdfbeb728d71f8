#pragma once

#include <mutex>

#include "base/unique_fd.hpp"

#include "helper_message.hpp"

namespace npu::internal {

/// The helper process's way to the program that has started it. Never destroyed: the process just
/// ends.
class HelperLine {
 public:
  /// Takes the socket away from the standard streams, where a compiler may print.
  HelperLine();

  void send(const Message& message);
  /// Waits for it; ends the process where nobody will send one.
  Message receive();
  /// No compiler goes on for a program that is gone.
  void end_with_parent() const;

 private:
  void wait_for(short what) const;

  const base::UniqueFd socket_;
  std::mutex mutex_;  // guards sending
  MessageReader reader_;
};

/// Most memory (RLIMIT_DATA) that this process may have from now on; 0: no limit.
void limit_memory(std::uint64_t bytes);

}  // namespace npu::internal

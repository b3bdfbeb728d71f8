// System calls that the libraries make, as a test sees and spoils them. A program that links this
// has its own write(), pread(), fsync(), renameat(), flock(), poll(), ioctl() and close() in front
// of libc's; without hooks they only pass the call on.
#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace npu::test {

/// While it lives its functions are called, from whatever thread makes the call; one at a time.
class CallHooks {
 public:
  /// Called before the call, with its name and the file that it is about.
  using Before = std::function<void(const std::string& call, const std::string& file)>;
  /// Answers a poll() of one descriptor; nothing: the real one does.
  using Poll = std::function<std::optional<int>(pollfd& entry)>;

  /// A fault instead of the call: it fails with this errno, or transfers at most so many bytes.
  struct Fault {
    int error = 0;
    std::size_t most_bytes = SIZE_MAX;
  };
  using Spoil = std::function<std::optional<Fault>(const std::string& call, const std::string&)>;

  /// Answers DMA_BUF_IOCTL_SYNC with an errno or 0: any file may then pass for a DMA-BUF.
  using Sync = std::function<std::optional<int>(int fd, std::uint64_t flags)>;

  explicit CallHooks(Before before_call, Poll answer_poll = {}, Spoil spoil_call = {},
                     Sync answer_sync = {});
  ~CallHooks();
  CallHooks(const CallHooks&) = delete;
  CallHooks& operator=(const CallHooks&) = delete;

  const Before before;
  const Poll poll;
  const Spoil spoil;
  const Sync sync;
};

/// "write f", "fsync f", ... of files in one folder, in the order of the calls.
class CallLog {
 public:
  explicit CallLog(std::string folder);
  /// Names are relative to the folder, "." is the folder itself; repeated calls are told once.
  std::vector<std::string> calls() const;

 private:
  void add(const std::string& call, const std::string& file);
  const std::string folder_;
  mutable std::mutex mutex_;  // guards calls_
  std::vector<std::string> calls_;
  const CallHooks hooks_;  // last: calls add()
};

/// Finds descriptors of a library that a child process would inherit.
class InheritedDescriptors {
 public:
  /// Looks at what the library named so closes from now on, so that none escapes by its short life.
  explicit InheritedDescriptors(std::vector<std::string> libraries);
  ~InheritedDescriptors();
  InheritedDescriptors(const InheritedDescriptors&) = delete;
  InheritedDescriptors& operator=(const InheritedDescriptors&) = delete;

  /// The files whose descriptors were inheritable when they were closed.
  std::vector<std::string> closed() const;
  /// How many descriptors the libraries have closed.
  std::size_t looked_at() const;
  /// Descriptors that a child, started by exec, has open and that this process had not when this
  /// object was made.
  std::vector<std::string> of_a_child() const;

 private:
  std::vector<std::string> before_;
};

}  // namespace npu::test

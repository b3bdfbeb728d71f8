#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "folder.hpp"
#include "unique_fd.hpp"

namespace npu::base {

/// A lock between processes, and between threads of one: a file of its own. The kernel releases it
/// when its owner dies, however it dies. The file is removed with the lock.
class FileLock {
 public:
  struct Patience {
    std::chrono::nanoseconds limit;
    std::function<bool()> gives_up;  ///< polled; may be empty
  };
  /// Waits while somebody else has it, until `patience` ends. Returns nothing then, and where the
  /// file system has no locks. `folder` must outlive the lock.
  static std::optional<FileLock> acquire(const Folder& folder, const std::string& name,
                                         const Patience& patience);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(const Folder& folder, std::string name, UniqueFd fd);
  const Folder& folder_;
  std::string name_;
  UniqueFd fd_;
};

}  // namespace npu::base

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "folder.hpp"
#include "unique_fd.hpp"

namespace npu::base {

/// A lock between processes, and between threads of one, that a file of its own stands for. The
/// kernel releases it when its owner dies, however it dies. The file goes with the lock.
class FileLock {
 public:
  struct Patience {
    std::chrono::nanoseconds limit;
    std::function<bool()> gives_up;  ///< asked again and again; may be empty
  };
  /// Waits while somebody else has it, as long as `patience` lasts. Nothing after that, and where
  /// the file system gives no lock. `folder` must outlive the lock.
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

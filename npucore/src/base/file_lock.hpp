#pragma once

#include <filesystem>
#include <optional>

#include "unique_fd.hpp"

namespace npu::base {

/// A lock between processes, and between threads of one, that a file of its own stands for. The
/// kernel releases it when its owner dies, however it dies. The file goes with the lock.
class FileLock {
 public:
  /// Waits for as long as somebody else has it. Nothing where the file system gives no lock.
  static std::optional<FileLock> acquire(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  FileLock(std::filesystem::path path, UniqueFd fd);
  std::filesystem::path path_;
  UniqueFd fd_;
};

}  // namespace npu::base

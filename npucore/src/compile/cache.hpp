#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/file_lock.hpp"
#include "base/folder.hpp"
#include "base/mapped_file.hpp"

#include "cache_entry.hpp"

namespace npu::internal {

/// A folder of compiled models, which any number of processes share. Nothing here throws but for
/// lack of memory: a cache that cannot be used is a warning.
///
/// Files are written beside their place and moved there, so that a reader sees a whole file or
/// none. Whoever is about to compile takes the entry's lock first and looks again: of many
/// processes one compiles. A lock whose owner died is free.
///
/// An entry is code that the device runs, so folder and entry count only where nobody but this user
/// and root can have written them.
class ModelCache {
 public:
  /// Compilers that take longer than this are few; a process that was stopped takes for ever.
  static constexpr std::chrono::seconds kLongestWait{60};

  /// Makes the folder, for the user alone, where it is not there.
  ModelCache(const std::filesystem::path& folder, std::uint64_t size_limit_bytes,
             std::chrono::nanoseconds longest_wait = kLongestWait);

  /// A whole entry, mapped: what the cache drops meanwhile stays readable.
  struct Hit {
    base::MappedFile file;
    Bytes blob;  ///< in `file`
  };
  /// The entry of this key, whole and unchanged; it counts as used now. One that is not goes.
  std::optional<Hit> find(const std::string& key) const;
  /// Waits until nobody else has it, the longest wait is over or `cancelled`, which may be null, is
  /// set. Nothing in the last two cases, and where the folder cannot be written. The cache must
  /// outlive the lock.
  std::optional<base::FileLock> lock(const std::string& key,
                                     const std::atomic<bool>* cancelled) const;
  /// Keeps a blob, then takes away what was used longest ago until the folder is within its limit.
  void store(const std::string& key, std::span<const Bytes> blob) const;
  void remove(const std::string& key, const std::string& why) const;

 private:
  std::optional<base::MappedFile> open_entry(const std::string& key) const;
  void shrink() const;

  std::optional<base::Folder> folder_;  ///< none: nothing is cached
  const std::uint64_t size_limit_bytes_;
  const std::chrono::nanoseconds longest_wait_;
};

}  // namespace npu::internal

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

/// A folder of compiled models, shared by any number of processes. Throws only for lack of memory:
/// a cache that cannot be used is a warning.
///
/// Files are written beside their place and moved there, so that a reader sees a whole file or
/// none. Before it compiles, a process takes the entry's lock and looks again: one of many
/// processes compiles. A lock whose owner died is free.
///
/// An entry is code that the device runs, so folder and entry count only where nobody but this user
/// and root can have written them.
class ModelCache {
 public:
  /// Few compilers take longer than this; a stopped process would take for ever.
  static constexpr std::chrono::seconds kLongestWait{60};

  /// Makes the folder, for the user alone, where it is not there.
  ModelCache(const std::filesystem::path& folder, std::uint64_t size_limit_bytes,
             std::chrono::nanoseconds longest_wait = kLongestWait);

  /// A whole entry, mapped: it stays readable when the cache drops it.
  struct Hit {
    base::MappedFile file;
    Bytes blob;  ///< in `file`
  };
  /// The entry of this key, whole and unchanged; it counts as used now. Removes a damaged one.
  std::optional<Hit> find(const std::string& key) const;
  /// Waits until nobody else has it, the longest wait is over, or `cancelled` (may be null) is set.
  /// Returns nothing in the last two cases, and where the folder cannot be written. The cache must
  /// outlive the lock.
  std::optional<base::FileLock> lock(const std::string& key,
                                     const std::atomic<bool>* cancelled) const;
  /// Keeps a blob, then removes the least recently used until the folder is within its limit. False
  /// if it was not kept; what the key named before is then still there.
  bool store(const std::string& key, std::span<const Bytes> blob) const;
  /// Removes an entry that was to be replaced, if there is one.
  void forget(const std::string& key) const;
  void remove(const std::string& key, const std::string& why) const;

 private:
  std::optional<base::MappedFile> open_entry(const std::string& key) const;
  void shrink(const std::string& stored) const;

  std::optional<base::Folder> folder_;  ///< empty: nothing is cached
  const std::uint64_t size_limit_bytes_;
  const std::chrono::nanoseconds longest_wait_;
};

}  // namespace npu::internal

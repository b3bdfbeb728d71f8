#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/mapping.hpp"

namespace softnpu {

/// The key of a series of texts and ranges; their concatenation has another key.
class CacheKey {
 public:
  CacheKey();
  ~CacheKey();
  CacheKey(const CacheKey&) = delete;
  CacheKey& operator=(const CacheKey&) = delete;

  CacheKey& add(std::span<const std::byte> bytes);
  CacheKey& add(const std::string& text);
  CacheKey& add(uint64_t number);
  /// 32 hexadecimal digits.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The driver's own cache: native binaries in a folder, so that no IR is compiled twice. Safe for
/// many processes at once: files appear whole, and a mapped file stays readable when it is removed.
///
/// A file's name is its key. Its content is a native binary and, behind it, 32 hexadecimal digits:
/// the binary's XXH3 digest of 128 bits.
class DiskCache {
 public:
  /// Makes the folder when the first file is stored.
  DiskCache(std::filesystem::path folder, uint64_t limit_bytes);

  struct File {
    Mapping mapping;
    size_t size_bytes;  ///< of the native binary
  };
  /// Nothing if there is none; removes a file with a wrong digest.
  std::optional<File> load(const std::string& key);
  /// Removes the files unused for longest until the new one fits. False if it does not fit at all
  /// or cannot be written.
  bool store(const std::string& key, std::span<const std::byte> binary);
  void remove(const std::string& key);

  uint64_t used_bytes() const;
  uint64_t limit_bytes() const { return limit_bytes_; }

 private:
  std::filesystem::path folder_;
  uint64_t limit_bytes_;
  std::mutex mutex_;  // one eviction at a time
  void make_room(uint64_t size_bytes);
};

/// The cache that the environment asks for; null if it asks for none.
DiskCache* driver_cache();

}  // namespace softnpu

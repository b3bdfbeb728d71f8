#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace npu::internal {

// A file of the cache:
//
//     a blob as npucore exports it: ELF, zeros up to a multiple of 4096, description, footer
//     the key, a text that says everything the blob depends on
//     u64 size of the key, u64 size of the blob, u64 XXH3 of all before this number, "NPUCACH1"
//
// Integers are little-endian and unaligned. The blob comes first: a driver can use the mapped file
// as it is, and a file cut at the blob's end is one that any importer takes.

using Bytes = std::span<const std::byte>;

/// The part of an entry's file that follows the blob.
std::vector<std::byte> cache_entry_tail(std::span<const Bytes> blob, const std::string& key);

/// The contents of an entry.
struct CacheEntry {
  Bytes blob;
  std::string key;
};
/// Nothing if the file is no whole entry, or was changed since it was written. Reads all of it
/// once: some tens of milliseconds for 200 MB, which take seconds to compile and whose pages the
/// device needs next.
std::optional<CacheEntry> read_cache_entry(Bytes file);

}  // namespace npu::internal

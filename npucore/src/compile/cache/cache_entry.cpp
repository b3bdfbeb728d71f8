#include "cache_entry.hpp"

#include <cstdint>
#include <string_view>

#include "base/hash.hpp"

namespace npu::internal {
namespace {

constexpr std::string_view kMagic = "NPUCACH1";
constexpr std::size_t kNumber = sizeof(std::uint64_t);
constexpr std::size_t kTailSize = 3 * kNumber + kMagic.size();

void append(std::vector<std::byte>& bytes, Bytes more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void append(std::vector<std::byte>& bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < kNumber; ++i) {
    bytes.push_back(static_cast<std::byte>(number >> (8 * i) & 0xff));
  }
}

std::uint64_t number_at(Bytes bytes, std::size_t offset) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kNumber; ++i) {
    number |= std::to_integer<std::uint64_t>(bytes[offset + i]) << (8 * i);
  }
  return number;
}

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::vector<std::byte> cache_entry_tail(std::span<const Bytes> blob, const std::string& key) {
  std::uint64_t blob_size = 0;
  base::Hasher hasher;
  for (const auto part : blob) {
    blob_size += part.size();
    hasher.add(part);
  }
  std::vector<std::byte> tail;
  append(tail, bytes_of(key));
  append(tail, std::uint64_t{key.size()});
  append(tail, blob_size);
  hasher.add(tail);
  append(tail, hasher.value());
  append(tail, bytes_of(kMagic));
  return tail;
}

std::optional<CacheEntry> read_cache_entry(Bytes file) {
  if (file.size() < kTailSize) return std::nullopt;
  const std::size_t tail = file.size() - kTailSize;
  const std::string_view words(reinterpret_cast<const char*>(file.data()), file.size());
  if (!words.ends_with(kMagic)) return std::nullopt;
  const std::uint64_t key_size = number_at(file, tail);
  const std::uint64_t blob_size = number_at(file, tail + kNumber);
  if (key_size > tail || blob_size != tail - key_size) return std::nullopt;
  const std::size_t hashed = tail + 2 * kNumber;
  if (base::hash_of(file.first(hashed)) != number_at(file, hashed)) return std::nullopt;
  return CacheEntry{file.first(blob_size), std::string(words.substr(blob_size, key_size))};
}

}  // namespace npu::internal

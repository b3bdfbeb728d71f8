#include "disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// Compiles xxhash's functions into this file: no library is needed at run time.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/config.hpp"
#include "base/unique_fd.hpp"

namespace softnpu {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDigestBytes = 32;

std::string hexadecimal(XXH128_hash_t hash) {
  char text[kDigestBytes + 1];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return text;
}

std::string digest_of(std::span<const std::byte> bytes) {
  return hexadecimal(XXH3_128bits(bytes.data(), bytes.size()));
}

bool write_all(int fd, const void* bytes, size_t size_bytes) {
  const auto* rest = static_cast<const char*>(bytes);
  while (size_bytes != 0) {
    const ssize_t written = ::write(fd, rest, size_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    rest += written;
    size_bytes -= static_cast<size_t>(written);
  }
  return true;
}

struct Entry {
  fs::path path;
  uint64_t size_bytes;
  timespec used;
};

bool is_key(const std::string& name) {
  return name.size() == kDigestBytes &&
         name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Does not count files that other processes remove meanwhile.
std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    struct stat status {};
    if (!is_key(file->path().filename()) || ::stat(file->path().c_str(), &status) != 0) continue;
    entries.push_back({file->path(), static_cast<uint64_t>(status.st_size), status.st_mtim});
  }
  return entries;
}

bool used_before(const Entry& a, const Entry& b) {
  return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                        : a.used.tv_nsec < b.used.tv_nsec;
}

}  // namespace

struct CacheKey::Impl {
  XXH3_state_t xxh3;
};

CacheKey::CacheKey() : impl_(std::make_unique<Impl>()) {
  XXH3_128bits_reset(&impl_->xxh3);
}

CacheKey::~CacheKey() = default;

CacheKey& CacheKey::add(std::span<const std::byte> bytes) {
  add(uint64_t{bytes.size()});
  XXH3_128bits_update(&impl_->xxh3, bytes.data(), bytes.size());
  return *this;
}

CacheKey& CacheKey::add(const std::string& text) {
  return add(std::as_bytes(std::span(text)));
}

CacheKey& CacheKey::add(uint64_t number) {
  XXH3_128bits_update(&impl_->xxh3, &number, sizeof number);
  return *this;
}

std::string CacheKey::text() const {
  return hexadecimal(XXH3_128bits_digest(&impl_->xxh3));
}

DiskCache::DiskCache(fs::path folder, uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

std::optional<DiskCache::File> DiskCache::load(const std::string& key) {
  const UniqueFd file(::open((folder_ / key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return std::nullopt;
  const auto size_bytes = static_cast<size_t>(status.st_size);
  Mapping mapping;
  if (size_bytes > kDigestBytes) {
    mapping = Mapping::map_read_only(size_bytes, file.get());
  }
  if (mapping) {
    const std::span<const std::byte> binary(mapping.base(), size_bytes - kDigestBytes);
    if (std::memcmp(mapping.base() + binary.size(), digest_of(binary).data(), kDigestBytes) == 0) {
      ::futimens(file.get(), nullptr);  // notes the use
      return File{std::move(mapping), binary.size()};
    }
  }
  remove(key);
  return std::nullopt;
}

bool DiskCache::store(const std::string& key, std::span<const std::byte> binary) {
  const uint64_t size_bytes = binary.size() + kDigestBytes;
  if (size_bytes > limit_bytes_) return false;
  std::error_code error;
  if (fs::create_directories(folder_, error)) {
    ::chmod(folder_.c_str(), 0700);
  }
  const std::scoped_lock lock(mutex_);
  make_room(size_bytes);
  std::string temporary = folder_ / "new-XXXXXX";
  const UniqueFd file(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!file) return false;
  const bool written = write_all(file.get(), binary.data(), binary.size()) &&
                       write_all(file.get(), digest_of(binary).data(), kDigestBytes) &&
                       ::rename(temporary.c_str(), (folder_ / key).c_str()) == 0;
  if (!written) {
    ::unlink(temporary.c_str());
  }
  return written;
}

void DiskCache::remove(const std::string& key) {
  ::unlink((folder_ / key).c_str());
}

void DiskCache::make_room(uint64_t size_bytes) {
  std::vector<Entry> entries = entries_of(folder_);
  uint64_t used = 0;
  for (const Entry& entry : entries) used += entry.size_bytes;
  std::sort(entries.begin(), entries.end(), used_before);
  for (const Entry& entry : entries) {
    if (used + size_bytes <= limit_bytes_) return;
    ::unlink(entry.path.c_str());
    used -= entry.size_bytes;
  }
}

uint64_t DiskCache::used_bytes() const {
  uint64_t used = 0;
  for (const Entry& entry : entries_of(folder_)) used += entry.size_bytes;
  return used;
}

DiskCache* driver_cache() {
  static DiskCache* const cache =
      config().cache_folder.empty()
          ? nullptr
          : new DiskCache(config().cache_folder, config().cache_limit_bytes);
  return cache;
}

}  // namespace softnpu

#include "cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include <npucore/error.hpp>

#include "base/atomic_file.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

constexpr const char* kSuffix = ".npucache";

void warn(const std::string& message) {
  base::log(LogLevel::kWarning, "the cache CACHE_DIR: " + message);
}

std::string name_of(const std::string& key) {
  char digits[17] = {};
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(base::hash_of(std::as_bytes(std::span(key)))));
  return digits;
}

struct KeptFile {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t size_bytes = 0;
};

std::vector<KeptFile> kept_files(const fs::path& folder) {
  std::vector<KeptFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != kSuffix) continue;
    const auto used = entry.last_write_time(error);
    const auto size = entry.file_size(error);
    if (!error) {
      files.push_back({entry.path(), used, size});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.used < b.used; });
  return files;
}

/// What a process left that was killed while it wrote; only the owner of the lock may.
void remove_temporaries(const fs::path& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    std::error_code ignored;
    if (file.rfind('.' + name, 0) == 0) {
      fs::remove(entry.path(), ignored);
    }
  }
}

}  // namespace

ModelCache::ModelCache(fs::path folder, std::uint64_t size_limit_bytes)
    : folder_(std::move(folder)), size_limit_bytes_(size_limit_bytes) {
  std::error_code error;
  if (fs::is_directory(folder_, error)) return;
  if (folder_.has_parent_path()) {
    fs::create_directories(folder_.parent_path(), error);
  }
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    warn(text("the folder ", folder_.string(), " cannot be created: ", base::errno_text(errno),
              "; nothing is cached"));
  }
}

fs::path ModelCache::path_of(const std::string& key) const {
  return folder_ / (name_of(key) + kSuffix);
}

std::optional<ModelCache::Hit> ModelCache::find(const std::string& key) const {
  const fs::path path = path_of(key);
  Hit hit;
  try {
    hit.file = base::MappedFile::open(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) {
      warn(error.what());
    }
    return std::nullopt;
  }
  const auto entry = read_cache_entry(hit.file.bytes());
  if (!entry) {
    remove(key, "it was truncated or changed");
    return std::nullopt;
  }
  if (entry->key != key) return std::nullopt;  // of a key with the same hash
  hit.blob = entry->blob;
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return hit;
}

std::optional<base::FileLock> ModelCache::lock(const std::string& key) const {
  const std::string name = name_of(key);
  auto lock = base::FileLock::acquire(folder_ / (name + ".lock"));
  if (lock) {
    remove_temporaries(folder_, name);
  }
  return lock;
}

void ModelCache::store(const std::string& key, std::span<const Bytes> blob) const {
  const auto tail = cache_entry_tail(blob, key);
  std::vector<Bytes> parts(blob.begin(), blob.end());
  parts.emplace_back(tail);
  std::uint64_t size = 0;
  for (const auto part : parts) size += part.size();
  if (size > size_limit_bytes_) {
    warn(text("a model of ", size, " bytes is not cached: CACHE_SIZE is ", size_limit_bytes_));
    return;
  }
  try {
    base::write_file_atomically(path_of(key), parts, base::FileAccess::kOwner);
  } catch (const Error& error) {
    warn(text(error.what(), "; the model is not cached"));
    return;
  }
  shrink();
}

void ModelCache::remove(const std::string& key, const std::string& why) const {
  const fs::path path = path_of(key);
  warn(text("the entry ", path.string(), " is deleted: ", why));
  std::error_code ignored;
  fs::remove(path, ignored);
}

/// Other processes may do the same: what is gone already is fine.
void ModelCache::shrink() const {
  const auto files = kept_files(folder_);
  std::uint64_t total = 0;
  for (const auto& file : files) total += file.size_bytes;
  for (const auto& file : files) {
    if (total <= size_limit_bytes_) return;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.size_bytes;
  }
}

}  // namespace npu::internal

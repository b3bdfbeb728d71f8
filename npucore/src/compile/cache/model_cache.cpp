#include "model_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include <npucore/error.hpp>

#include "base/atomic_file.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/open_input.hpp"
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

std::string entry_of(const std::string& key) {
  return name_of(key) + kSuffix;
}

struct KeptFile {
  std::string name;
  struct timespec used = {};
  std::uint64_t size_bytes = 0;
};

bool is_older(const struct timespec& a, const struct timespec& b) {
  return std::pair(a.tv_sec, a.tv_nsec) < std::pair(b.tv_sec, b.tv_nsec);
}

/// A temporary file that nobody has touched for ten minutes: writers touch theirs all the time.
bool is_abandoned(const KeptFile& temporary) {
  constexpr time_t kSeconds = 600;
  return temporary.used.tv_sec < ::time(nullptr) - kSeconds;
}

/// Entries and files being written, by their last use. Removes the files of killed writers.
std::vector<KeptFile> kept_files(const base::Folder& folder) {
  std::vector<KeptFile> files;
  for (const std::string& name : folder.names()) {
    const bool temporary = base::is_temporary_name(name);
    if (!temporary && !name.ends_with(kSuffix)) continue;
    const auto status = folder.status_of(name);
    if (!status || !S_ISREG(status->st_mode)) continue;
    const auto used = std::max(status->st_atim, status->st_mtim, is_older);
    const KeptFile file{name, used, static_cast<std::uint64_t>(status->st_size)};
    if (temporary && is_abandoned(file) && folder.remove(name)) continue;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return is_older(a.used, b.used); });
  return files;
}

/// Removes the files of a writer that was killed. Call it with the entry's lock only.
void remove_temporaries(const base::Folder& folder, const std::string& name) {
  for (const std::string& file : folder.names()) {
    if (file.starts_with('.' + name)) {
      folder.remove(file);
    }
  }
}

}  // namespace

ModelCache::ModelCache(const fs::path& folder, std::uint64_t size_limit_bytes,
                       std::chrono::nanoseconds longest_wait)
    : size_limit_bytes_(size_limit_bytes), longest_wait_(longest_wait) {
  try {
    folder_ = base::Folder::open_private(folder);
  } catch (const Error& error) {
    warn(text(error.what(), "; nothing is cached"));
  }
}

/// Nothing for a missing entry. Removes an entry that somebody else may have written.
std::optional<base::MappedFile> ModelCache::open_entry(const std::string& key) const {
  const std::string name = entry_of(key);
  base::UniqueFd fd(::openat(folder_->fd(), name.c_str(), base::kInputFlags | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd && errno == ELOOP) {
    remove(key, "it is a symbolic link");
    return std::nullopt;
  }
  if (!fd) {
    warn(text("the entry ", folder_->path_of(name).string(),
              " is not used: open: ", base::errno_text(errno)));
    return std::nullopt;
  }
  try {
    auto file = base::checked_input(std::move(fd), folder_->path_of(name));
    const std::string why = base::why_not_private(file.status);
    if (why.empty()) return base::MappedFile::of(std::move(file));
    remove(key, "it " + why);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kOutOfMemory) throw;
    remove(key, error.what());
  }
  return std::nullopt;
}

std::optional<ModelCache::Hit> ModelCache::find(const std::string& key) const {
  if (!folder_) return std::nullopt;
  auto file = open_entry(key);
  if (!file) return std::nullopt;
  const auto entry = read_cache_entry(file->bytes());
  if (!entry) {
    remove(key, "it was truncated or changed");
    return std::nullopt;
  }
  if (entry->key != key) return std::nullopt;  // another key with the same hash
  // Keeps the time of change, which tells whether somebody wrote into the entry.
  constexpr struct timespec kUsedNow[] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  ::utimensat(folder_->fd(), entry_of(key).c_str(), kUsedNow, AT_SYMLINK_NOFOLLOW);
  return Hit{std::move(*file), entry->blob};
}

std::optional<base::FileLock> ModelCache::lock(const std::string& key,
                                               const std::atomic<bool>* cancelled) const {
  if (!folder_) return std::nullopt;
  const std::string name = name_of(key);
  const auto start = std::chrono::steady_clock::now();
  const auto gives_up = [&] { return cancelled && cancelled->load(); };
  auto lock = base::FileLock::acquire(*folder_, name + ".lock", {longest_wait_, gives_up});
  if (lock) {
    remove_temporaries(*folder_, name);
  } else if (std::chrono::steady_clock::now() - start >= longest_wait_) {
    warn(text("the process that has locked ", folder_->path_of(name + ".lock").string(),
              " is not done after ",
              std::chrono::duration_cast<std::chrono::seconds>(longest_wait_).count(),
              " s; the model is compiled without waiting for it"));
  }
  return lock;
}

bool ModelCache::store(const std::string& key, std::span<const Bytes> blob) const {
  if (!folder_) return false;
  const auto tail = cache_entry_tail(blob, key);
  std::vector<Bytes> parts(blob.begin(), blob.end());
  parts.emplace_back(tail);
  std::uint64_t size = 0;
  for (const auto part : parts) size += part.size();
  if (size > size_limit_bytes_) {
    warn(text("a model of ", size, " bytes is not cached: CACHE_SIZE is ", size_limit_bytes_));
    return false;
  }
  try {
    base::write_file_atomically(*folder_, entry_of(key), parts, base::FileAccess::kOwner);
  } catch (const Error& error) {
    warn(text(error.what(), "; the model is not cached"));
    return false;
  }
  shrink(entry_of(key));
  return true;
}

void ModelCache::forget(const std::string& key) const {
  if (folder_ && folder_->status_of(entry_of(key))) {
    remove(key, "the model that replaces it was not kept");
  }
}

void ModelCache::remove(const std::string& key, const std::string& why) const {
  const std::string name = entry_of(key);
  const bool gone = folder_->remove(name);
  warn(text("the entry ", folder_->path_of(name).string(),
            gone ? " is deleted: " : " is not used: ", why));
}

/// Other processes may do the same: an entry that is gone already is fine. Files being written
/// stay, and what was stored now, though the clock was wrong when others were used.
void ModelCache::shrink(const std::string& stored) const {
  const auto files = kept_files(*folder_);
  std::uint64_t total = 0;
  for (const auto& file : files) total += file.size_bytes;
  for (const auto& file : files) {
    if (total <= size_limit_bytes_) return;
    if (base::is_temporary_name(file.name) || file.name == stored) continue;
    folder_->remove(file.name);
    total -= file.size_bytes;
  }
}

}  // namespace npu::internal

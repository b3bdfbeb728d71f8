#include "folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include <npucore/error.hpp>

#include "text.hpp"

namespace npu::base {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_DIRECTORY | O_CLOEXEC;

[[noreturn]] void fail(const fs::path& path, const std::string& why, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, text("the folder ", path.string(), ' ', why));
}

/// Strips slashes and dots from the end, with which open() would follow a link.
fs::path without_end(fs::path path) {
  while (path.has_parent_path() && path != path.parent_path() &&
         (path.filename().empty() || path.filename() == ".")) {
    path = path.parent_path();
  }
  return path;
}

void make(const fs::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) {
    fs::create_directories(path.parent_path(), ignored);
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    fail(path, text("cannot be created: ", errno_text(errno)), errno);
  }
}

std::string octal(mode_t mode) {
  std::string digits;
  for (int shift = 9; shift >= 0; shift -= 3)
    digits += static_cast<char>('0' + (mode >> shift & 7));
  return digits;
}

}  // namespace

std::string why_not_private(const struct stat& status) {
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return text("belongs to user ", status.st_uid, ", not to user ", ::geteuid(), " or root");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return text("may be written by others than its owner (mode ", octal(status.st_mode), ')');
  }
  return "";
}

Folder::Folder(fs::path path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

Folder Folder::open(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | kFlags));
  if (!fd && errno == EACCES) {
    fd = UniqueFd(::open(path.c_str(), O_PATH | kFlags));  // files can be made, but not listed
  }
  if (!fd) {
    fail(path, text("cannot be opened: open: ", errno_text(errno)), errno);
  }
  return {path, std::move(fd)};
}

Folder Folder::open_private(const fs::path& named) {
  const fs::path path = without_end(named);
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) {
    make(path);
  } else if (S_ISLNK(status.st_mode)) {
    throw Error(ErrorCode::kIo, text("the folder ", path.string(),
                                     " is a symbolic link: name the folder that it leads to"));
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | kFlags));
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    fail(path, text("cannot be opened: ", errno_text(errno)), errno);
  }
  if (const auto why = why_not_private(status); !why.empty()) {
    throw Error(ErrorCode::kIo, text("the folder ", path.string(), ' ', why,
                                     ": name one that only you can write, with mode 0700"));
  }
  return {path, std::move(fd)};
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  UniqueFd own(::openat(fd(), ".", O_RDONLY | kFlags));  // with its own position
  const std::unique_ptr<DIR, int (*)(DIR*)> all(own ? ::fdopendir(own.get()) : nullptr, ::closedir);
  if (!all) return names;
  own.release();
  while (const dirent* entry = ::readdir(all.get())) names.emplace_back(entry->d_name);
  return names;
}

std::optional<struct stat> Folder::status_of(const std::string& name) const {
  struct stat status = {};
  if (::fstatat(fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return status;
}

bool Folder::remove(const std::string& name) const {
  return ::unlinkat(fd(), name.c_str(), 0) == 0;
}

/// Makes a rename survive a power cut. Some file systems cannot; the file itself is whole then.
void Folder::sync() const {
  static_cast<void>(::fsync(fd()));
}

}  // namespace npu::base

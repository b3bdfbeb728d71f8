#include "file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace npu::base {
namespace {

bool lock(int fd) {
  while (::flock(fd, LOCK_EX) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

/// Whoever had the lock has removed the file while we waited: then the lock is of a file that
/// nobody else can find.
bool is_still_there(int fd, const std::filesystem::path& path) {
  struct stat ours = {}, there = {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

std::optional<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd || !lock(fd.get())) return std::nullopt;
    if (is_still_there(fd.get(), path)) return FileLock(path, std::move(fd));
  }
}

FileLock::FileLock(std::filesystem::path path, UniqueFd fd)
    : path_(std::move(path)), fd_(std::move(fd)) {}

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::move(other.fd_)) {}

FileLock::~FileLock() {
  if (fd_) {
    ::unlink(path_.c_str());  // while it is still locked
  }
}

}  // namespace npu::base

#include "file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "forked.hpp"

namespace npu::base {
namespace {

using Clock = std::chrono::steady_clock;

/// Polls: flock() itself would wait for a stopped process for ever.
bool lock(int fd, Clock::time_point end, const std::function<bool()>& gives_up) {
  constexpr std::chrono::milliseconds kShortest{1}, kLongest{20};
  for (auto pause = kShortest;; pause = std::min(2 * pause, kLongest)) {
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (Clock::now() >= end || (gives_up && gives_up())) return false;
    std::this_thread::sleep_for(pause);
  }
}

/// False if the last owner has removed the file while we waited: nobody else can find that lock.
bool is_still_there(int fd, const Folder& folder, const std::string& name) {
  struct stat ours = {};
  const auto there = folder.status_of(name);
  return there && ::fstat(fd, &ours) == 0 && ours.st_ino == there->st_ino &&
         ours.st_dev == there->st_dev;
}

}  // namespace

std::optional<FileLock> FileLock::acquire(const Folder& folder, const std::string& name,
                                          const Patience& patience) {
  const auto end = Clock::now() + patience.limit;
  for (;;) {
    UniqueFd fd(::openat(folder.fd(), name.c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!fd || !lock(fd.get(), end, patience.gives_up)) return std::nullopt;
    if (is_still_there(fd.get(), folder, name)) return FileLock(folder, name, std::move(fd));
  }
}

FileLock::FileLock(const Folder& folder, std::string name, UniqueFd fd)
    : folder_(folder), name_(std::move(name)), fd_(std::move(fd)) {}

FileLock::FileLock(FileLock&& other) noexcept
    : folder_(other.folder_), name_(std::move(other.name_)), fd_(std::move(other.fd_)) {}

FileLock::~FileLock() {
  if (!fd_ || is_forked_child()) return;
  folder_.remove(name_);  // while it is still locked
  // A child forked meanwhile has the descriptor too, and would keep the lock.
  ::flock(fd_.get(), LOCK_UN);
}

}  // namespace npu::base

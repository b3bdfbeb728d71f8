#include "line_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <system_error>

namespace gstnpu {
namespace {

constexpr std::size_t kMostPending = std::size_t{64} << 10;

std::timed_mutex stdout_mutex;  // lines of several writers stay whole
/// The writer within whose line stdout ends; the address of this where it is gone.
std::atomic<const void*> half_line_of = nullptr;

bool names_stdout(const std::string& path) {
  return path.empty() || path == "-";
}

int open_file(const std::string& path, bool append) {
  if (names_stdout(path)) return STDOUT_FILENO;
  // Without O_NONBLOCK a pipe that nobody reads would block the change of state.
  // O_APPEND leaves no hole before the next line when others empty the file, as logrotate does.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND;
  const int fd = ::open(path.c_str(), kFlags | (append ? 0 : O_TRUNC), 0666);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "open");
  return fd;
}

bool is_regular_file(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

/// As a process that was killed, or a machine, leaves it.
bool ends_within_line(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  char last = '\n';
  const off_t size = ::lseek(fd, 0, SEEK_END);
  const bool is_read = size > 0 && ::pread(fd, &last, 1, size - 1) == 1;
  ::close(fd);
  return is_read && last != '\n';
}

/// While it lives, a pipe without a reader is an error of write() and ends nothing, whatever the
/// application does with SIGPIPE.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&only_);
    sigaddset(&only_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~NoBrokenPipeSignal() {
    constexpr timespec kAtOnce{};
    while (!was_pending_ && sigtimedwait(&only_, nullptr, &kAtOnce) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t only_, before_;
  bool was_pending_ = false;
};

}  // namespace

LineWriter::LineWriter(const std::string& path, const SinkOptions& options)
    : is_stdout_(names_stdout(path)), fd_(open_file(path, options.append)) {
  is_regular_ = is_regular_file(fd_);
  flush_always_ = options.flush_always || is_stdout_ || !is_regular_;
  is_cut_ = options.append && is_regular_ && !is_stdout_ && ends_within_line(path);
}

LineWriter::~LineWriter() {
  if (!is_stdout_) {
    ::close(fd_);
    return;
  }
  const void* self = this;
  half_line_of.compare_exchange_strong(self, &half_line_of);
}

void LineWriter::interrupt() {
  interrupt_.set();
}

void LineWriter::resume() {
  interrupt_.clear();
}

bool LineWriter::write(std::string_view line) {
  pending_ += line;
  ++held_;
  return flush_always_ || pending_.size() >= kMostPending ? flush() : true;
}

/// The writer that has it may wait for a reader.
bool LineWriter::lock_stdout(std::unique_lock<std::timed_mutex>& lock) const {
  pollfd interrupted{.fd = interrupt_.fd(), .events = POLLIN, .revents = 0};
  while (!lock.try_lock_for(std::chrono::milliseconds(50))) {
    if (::poll(&interrupted, 1, 0) > 0) return false;
  }
  return true;
}

/// False: interrupted, and there is none yet. A regular file never waits.
bool LineWriter::wait_for_reader() const {
  std::array<pollfd, 2> either = {{{.fd = fd_, .events = POLLOUT, .revents = 0},
                                   {.fd = interrupt_.fd(), .events = POLLIN, .revents = 0}}};
  while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
  return either[0].revents != 0 || either[1].revents == 0;
}

/// Bytes written; 0 when the call is worth repeating. A pipe with room takes PIPE_BUF bytes at
/// once.
std::size_t LineWriter::write_some(std::string_view text) const {
  const std::size_t most = is_regular_ ? text.size() : PIPE_BUF;
  const ssize_t written = ::write(fd_, text.data(), std::min(text.size(), most));
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EINTR || errno == EAGAIN) return 0;
  throw std::system_error(errno, std::generic_category(), "write");
}

/// Bytes of pending_ that are out; throws with what was out before noted.
std::size_t LineWriter::write_pending() {
  const std::string_view text = pending_;
  std::size_t done = 0;
  try {
    while (is_cut_ && wait_for_reader()) {
      is_cut_ = write_some("\n") == 0;
    }
    while (!is_cut_ && done < text.size() && wait_for_reader()) {
      done += write_some(text.substr(done));
    }
  } catch (const std::system_error&) {
    note_out(done);
    throw;
  }
  return done;
}

void LineWriter::note_out(std::size_t bytes) {
  const std::string_view out = std::string_view(pending_).substr(0, bytes);
  const auto lines = static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  held_ -= lines;
  begun_ = lines == 0 ? begun_ + bytes : bytes - (out.rfind('\n') + 1);
  pending_.erase(0, bytes);
}

void LineWriter::lose_line() {
  if (begun_ != 0) {
    is_cut_ = !take_back(begun_);
  }
  begun_ = 0;
  pending_.erase(0, pending_.find('\n') + 1);
  --held_;
}

/// False where that is not possible, or others have written behind it.
bool LineWriter::take_back(std::size_t bytes) const {
  struct stat status {};
  if (!is_regular_ || is_stdout_ || ::fstat(fd_, &status) != 0) return false;
  const off_t end = ::lseek(fd_, 0, SEEK_CUR);
  const off_t begin = end - static_cast<off_t>(bytes);
  return end == status.st_size && ::ftruncate(fd_, begin) == 0 &&
         ::lseek(fd_, begin, SEEK_SET) == begin;
}

bool LineWriter::flush() {
  if (pending_.empty()) return true;
  std::unique_lock lock(stdout_mutex, std::defer_lock);
  if (!is_stdout_) return write_lines();
  if (!lock_stdout(lock)) return false;
  const void* owner = half_line_of;
  is_cut_ = is_cut_ || (owner != nullptr && owner != this);
  half_line_of = this;
  const bool is_out = write_lines();
  half_line_of = begun_ != 0 || is_cut_ ? this : nullptr;
  return is_out;
}

/// As flush().
bool LineWriter::write_lines() {
  const NoBrokenPipeSignal no_signal;
  try {
    note_out(write_pending());
  } catch (const std::system_error&) {
    lose_line();
    throw;
  }
  return pending_.empty();
}

}  // namespace gstnpu

#include "line_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>

namespace gstnpu {
namespace {

constexpr std::size_t kMostPending = std::size_t{64} << 10;

std::mutex stdout_mutex;  // lines of several writers stay whole

int open_file(const std::string& path, bool append) {
  if (path.empty() || path == "-") return STDOUT_FILENO;
  // Without O_NONBLOCK a pipe that nobody reads would block the change of state.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int fd = ::open(path.c_str(), kFlags | (append ? O_APPEND : O_TRUNC), 0666);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "open");
  ::fcntl(fd, F_SETFL, append ? O_APPEND : 0);
  return fd;
}

bool is_regular_file(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
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

// Bytes written; 0 when the call is worth repeating.
std::size_t write_some(int fd, std::string_view text) {
  const ssize_t written = ::write(fd, text.data(), text.size());
  if (written >= 0) return static_cast<std::size_t>(written);
  if (errno == EAGAIN) {  // somebody made our stdout non-blocking
    pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
    poll(&writable, 1, -1);
  } else if (errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "write");
  }
  return 0;
}

}  // namespace

LineWriter::LineWriter(const std::string& path, const Options& options)
    : fd_(open_file(path, options.append)),
      flush_always_(options.flush_always || is_stdout() || !is_regular_file(fd_)) {}

LineWriter::~LineWriter() {
  try {
    flush();
  } catch (const std::system_error&) {  // the owner was told by the flush() before
  }
  if (!is_stdout()) {
    ::close(fd_);
  }
}

bool LineWriter::is_stdout() const {
  return fd_ == STDOUT_FILENO;
}

void LineWriter::write(std::string_view line) {
  pending_ += line;
  if (flush_always_ || pending_.size() >= kMostPending) {
    flush();
  }
}

void LineWriter::flush() {
  std::unique_lock lock(stdout_mutex, std::defer_lock);
  if (is_stdout()) {
    lock.lock();
  }
  const NoBrokenPipeSignal no_signal;
  std::size_t done = 0;
  try {
    while (done < pending_.size()) done += write_some(fd_, std::string_view(pending_).substr(done));
  } catch (const std::system_error&) {
    pending_.clear();  // said once: a second try would write the lines after a gap
    throw;
  }
  pending_.clear();
}

}  // namespace gstnpu

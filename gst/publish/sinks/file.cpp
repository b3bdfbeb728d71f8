#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <mutex>
#include <system_error>

#include <npucore/error.hpp>

#include "kinds.hpp"

namespace gstnpu {
namespace {

std::timed_mutex inherited_mutex;  // lines of several sinks stay whole
bool inherited_is_cut = false;     // within a line that was lost, or of a sink that was cancelled

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

/// Whether the descriptor is what the process began with, or has chosen for its output: libraries
/// open files for themselves with FD_CLOEXEC.
bool is_output(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  struct stat status {};
  return flags >= 0 && (flags & FD_CLOEXEC) == 0 && ::fstat(fd, &status) == 0 &&
         (status.st_mode & S_IFMT) != 0 && !S_ISDIR(status.st_mode) &&
         (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

/// The standard descriptors when the plugin was loaded. The number of one that was closed goes to
/// the next file that is opened, as filesink does it without FD_CLOEXEC.
const std::array<bool, 3> began_as_output = {is_output(STDIN_FILENO), is_output(STDOUT_FILENO),
                                             is_output(STDERR_FILENO)};

int checked(int fd) {
  const bool is_other_file =
      fd <= STDERR_FILENO && !began_as_output.at(static_cast<std::size_t>(fd));
  if (is_output(fd) && !is_other_file) return fd;
  const std::string number = std::to_string(fd);
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   fd == STDOUT_FILENO
                       ? "the standard output is closed: open it, or set location to a file"
                       : "descriptor " + number +
                             " is not open for writing: begin the process with " + number +
                             ">FILE or " + number + ">&1, or set location to a file");
}

int open_file(const std::string& path, bool append) {
  // Without O_NONBLOCK a pipe that nobody reads would block the change of state.
  // O_APPEND leaves no hole before the next line when others empty the file, as logrotate does.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND;
  const int fd = ::open(path.c_str(), kFlags | (append ? 0 : O_TRUNC), 0666);
  if (fd < 0) {
    fail("open");
  }
  if (fd > STDERR_FILENO) return fd;
  // The number of a closed standard descriptor: others would write into the file.
  const int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(fd);
  if (higher < 0) {
    fail("open");
  }
  return higher;
}

bool is_regular_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
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

class FileSink final : public Sink {
 public:
  FileSink(const Location& location, bool append, SinkPeers peers);
  ~FileSink() override;

  bool write(std::string_view line) override;

 private:
  bool write_line(std::string_view line);
  bool write_all(std::string_view text, std::size_t& done) const;
  bool wait_for_reader() const;
  bool take_back(std::size_t bytes) const;

  const SinkPeers peers_;
  const bool is_inherited_;
  const int fd_, cancel_fd_;
  const bool is_regular_;
  bool is_cut_;  // what is out ends within a line that was lost
};

FileSink::FileSink(const Location& location, bool append, SinkPeers peers)
    : peers_(peers),
      is_inherited_(location.descriptor >= 0),
      fd_(is_inherited_ ? checked(location.descriptor) : open_file(location.path, append)),
      cancel_fd_(g_cancellable_get_fd(peers.cancel)),
      is_regular_(is_regular_file(fd_)),
      is_cut_(append && is_regular_ && !is_inherited_ && ends_within_line(location.path)) {}

FileSink::~FileSink() {
  g_cancellable_release_fd(peers_.cancel);
  if (!is_inherited_) {
    ::close(fd_);
  }
}

bool FileSink::write(std::string_view line) {
  if (!is_inherited_) return write_line(line);
  std::unique_lock lock(inherited_mutex, std::defer_lock);
  while (!lock.try_lock_for(std::chrono::milliseconds(50))) {  // its owner may wait for a reader
    if (g_cancellable_is_cancelled(peers_.cancel)) return false;
  }
  is_cut_ = inherited_is_cut;
  const bool is_out = write_line(line);
  inherited_is_cut = is_cut_;
  return is_out;
}

/// A line that fails is taken back. False: cancelled, within the line perhaps.
bool FileSink::write_line(std::string_view line) {
  std::size_t done = 0;
  try {
    if (is_cut_ && !write_all("\n", done)) return false;
    done = 0;
    is_cut_ = false;
    if (!write_all(line, done)) {
      is_cut_ = done > 0;
      return false;
    }
    peers_.ledger.note_out(1);
  } catch (const std::system_error&) {
    is_cut_ = is_cut_ || (done > 0 && !take_back(done));
    peers_.ledger.note_failed(1, std::current_exception());
  }
  return true;
}

/// Counts the bytes that are out. A pipe with room takes PIPE_BUF bytes at once.
bool FileSink::write_all(std::string_view text, std::size_t& done) const {
  const std::size_t most = is_regular_ ? text.size() : PIPE_BUF;
  while (done < text.size()) {
    if (!is_regular_ && !wait_for_reader()) return false;
    const std::string_view rest = text.substr(done, most);
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      fail("write");
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  return true;
}

/// False: cancelled, and there is none yet.
bool FileSink::wait_for_reader() const {
  std::array<pollfd, 2> either = {{{.fd = fd_, .events = POLLOUT, .revents = 0},
                                   {.fd = cancel_fd_, .events = POLLIN, .revents = 0}}};
  while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
  return either[0].revents != 0 || either[1].revents == 0;
}

/// False where that is not possible, or others have written behind it.
bool FileSink::take_back(std::size_t bytes) const {
  struct stat status {};
  if (!is_regular_ || is_inherited_ || ::fstat(fd_, &status) != 0) return false;
  const off_t end = ::lseek(fd_, 0, SEEK_CUR);
  const off_t begin = end - static_cast<off_t>(bytes);
  return end == status.st_size && ::ftruncate(fd_, begin) == 0 &&
         ::lseek(fd_, begin, SEEK_SET) == begin;
}

}  // namespace

std::unique_ptr<Sink> make_file_sink(const Location& location, bool append, SinkPeers peers) {
  return std::make_unique<FileSink>(location, append, peers);
}

}  // namespace gstnpu

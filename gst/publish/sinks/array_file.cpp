#include "array_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <npucore/error.hpp>

#include "broker_location.hpp"
#include "socket_sink.hpp"

namespace gstnpu {
namespace {

constexpr std::string_view kClosing = "\n]\n";
constexpr std::string_view kBlanks = " \t\r\n";

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

[[noreturn]] void fail_as_no_file(const std::string& path) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the location \"" + path +
                       "\" is no regular file, which file-format=json needs. Set location to "
                       "one, or file-format to json-lines");
}

int open_file(const std::string& path) {
  const bool is_broker = is_mqtt_location(path) || is_kafka_location(path);
  if (is_broker) {
    parse_broker_location(path);  // says what is wrong with one without showing a password
  }
  if (path.empty() || path == "-" || SocketSink::is_location(path) || is_broker) {
    fail_as_no_file(path);
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd < 0) {
    fail("open");
  }
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  ::close(fd);
  fail_as_no_file(path);
}

void write_whole(int fd, std::string_view text, off_t at) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail("write");
    }
    text.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
}

/// The last bytes of a file of `size` bytes.
std::string read_tail(int fd, off_t size) {
  std::string tail(static_cast<std::size_t>(std::min<off_t>(size, 4096)), '\0');
  const ssize_t got = ::pread(fd, tail.data(), tail.size(), size - static_cast<off_t>(tail.size()));
  if (got < 0) {
    fail("read");
  }
  tail.resize(static_cast<std::size_t>(got));
  return tail;
}

void drop_blanks(std::string& text) {
  text.erase(text.find_last_not_of(kBlanks) + 1);
}

}  // namespace

ArrayFile::ArrayFile(const std::string& path, bool append) : fd_(open_file(path)) {
  try {
    if (append) {
      find_end(path);
    } else {
      begin();
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

ArrayFile::~ArrayFile() {
  ::close(fd_);
}

void ArrayFile::begin() {
  if (::ftruncate(fd_, 0) != 0) {
    fail("truncate");
  }
  write_at_end("[");
}

void ArrayFile::find_end(const std::string& path) {
  const off_t size = ::lseek(fd_, 0, SEEK_END);
  if (size == 0) return begin();
  std::string tail = read_tail(fd_, size);
  const off_t first = size - static_cast<off_t>(tail.size());
  drop_blanks(tail);
  const bool is_closed = tail.ends_with(']');
  if (is_closed) {
    tail.pop_back();
    drop_blanks(tail);
  }
  if (!is_closed || tail.empty()) {
    throw npu::Error(npu::ErrorCode::kInvalidArgument,
                     "\"" + path +
                         "\" does not end with a JSON array, to which append=true and "
                         "file-format=json could add. Set location to another file");
  }
  end_ = first + static_cast<off_t>(tail.size());
  has_elements_ = !tail.ends_with('[');
  if (!close_array()) {
    fail("write");
  }
}

/// Behind the last element, and nothing behind it.
bool ArrayFile::close_array() const {
  const std::string_view closing = end_ > 0 ? kClosing : "";
  return ::pwrite(fd_, closing.data(), closing.size(), end_) ==
             static_cast<ssize_t>(closing.size()) &&
         ::ftruncate(fd_, end_ + static_cast<off_t>(closing.size())) == 0;
}

/// Over the closing bracket, with a new one behind it.
void ArrayFile::write_at_end(const std::string& text) {
  try {
    write_whole(fd_, text + std::string(kClosing), end_);
  } catch (const std::system_error&) {
    static_cast<void>(close_array());  // fits again; else the failure before is the one to tell
    throw;
  }
  end_ += static_cast<off_t>(text.size());
}

/// Whether others emptied the file, as logrotate does with copytruncate.
bool ArrayFile::was_emptied() const {
  struct stat status {};
  return ::fstat(fd_, &status) == 0 && status.st_size == 0;
}

bool ArrayFile::write(std::string_view line) {
  if (was_emptied()) {
    end_ = 0;
    has_elements_ = false;
    begin();
  }
  if (line.ends_with('\n')) {
    line.remove_suffix(1);
  }
  std::string text(has_elements_ ? ",\n" : "\n");
  text += line;
  write_at_end(text);
  has_elements_ = true;
  return true;
}

}  // namespace gstnpu

#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <mutex>

#include "sink.hpp"

namespace gstnpu {
namespace {

std::timed_mutex inherited_mutex;  // lines of several sinks stay whole

/// Whether the descriptor is what the process began with, or has chosen for its output: libraries
/// open files for themselves with FD_CLOEXEC.
bool is_output(int fd) {
  const int flags = ::fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0 && (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

/// The standard descriptors when the plugin was loaded. The number of one that was closed goes to
/// whatever is opened next, as elements and GStreamer do it without FD_CLOEXEC.
const std::array<bool, 3> began_as_output = {is_output(STDIN_FILENO), is_output(STDOUT_FILENO),
                                             is_output(STDERR_FILENO)};

int checked(int fd) {
  const bool is_other_file =
      fd <= STDERR_FILENO && !began_as_output.at(static_cast<std::size_t>(fd));
  if (is_output(fd) && !is_other_file) return fd;
  if (fd == STDOUT_FILENO) {
    refuse("the standard output is closed: open it, or set location to a file");
  }
  const std::string number = std::to_string(fd);
  refuse("descriptor " + number + " is not open for writing: begin the process with " + number +
         ">FILE or " + number + ">&1, or set location to a file");
}

int open_file(const Location& location, bool append) {
  // Without O_NONBLOCK a pipe that nobody reads would block the change of state.
  // O_APPEND leaves no hole before the next line when others empty the file, as logrotate does.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_APPEND;
  const int fd = ::open(location.path.c_str(), kFlags | (append ? 0 : O_TRUNC), 0666);
  if (fd >= 0) return fd;
  const std::string why =
      errno == ENXIO ? "nobody reads the pipe. Start its reader before the pipeline."
                     : std::string(g_strerror(errno)) +
                           ". Set location to a file in a folder that exists and is writable.";
  throw PublishError("Cannot open " + describe_location(location.text) + " for writing: " + why,
                     GST_RESOURCE_ERROR_OPEN_WRITE);
}

class FileSink final : public Sink {
 public:
  FileSink(const Location& location, bool append, Ledger& ledger);

  bool write(std::string_view line) override;

 private:
  std::size_t put(std::string_view text, GError** error) const;
  bool take_back(std::size_t bytes) const;
  PublishError error_of(const GError& error) const;

  const std::string name_;
  Ledger& ledger_;
  const bool is_inherited_;
  const int fd_;
  const ObjectRef<GOutputStream> stream_;
  bool is_regular_ = false;
  bool is_cut_ = false;  // what is out ends within a line that was lost
};

FileSink::FileSink(const Location& location, bool append, Ledger& ledger)
    : name_(describe_location(location.text)),
      ledger_(ledger),
      is_inherited_(location.descriptor >= 0),
      fd_(is_inherited_ ? checked(location.descriptor) : open_file(location, append)),
      stream_(g_unix_output_stream_new(fd_, !is_inherited_)) {
  struct stat status {};
  is_regular_ = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

/// Takes a line that fails back.
bool FileSink::write(std::string_view line) {
  std::unique_lock lock(inherited_mutex, std::defer_lock);
  while (is_inherited_ && !lock.try_lock_for(std::chrono::milliseconds(50))) {
    if (ledger_.is_cancelled()) return false;  // its owner may wait for a reader
  }
  g_autoptr(GError) error = nullptr;
  const std::size_t done = is_cut_ ? put("\n" + std::string(line), &error) : put(line, &error);
  if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) return false;
  is_cut_ = error && (is_cut_ || (done > 0 && !take_back(done)));
  if (error) throw error_of(*error);
  ledger_.note_out(1);
  return true;
}

/// Counts the bytes that are out. A pipe with room takes PIPE_BUF bytes at once, and a file takes
/// all.
std::size_t FileSink::put(std::string_view text, GError** error) const {
  std::size_t done = 0;
  while (done < text.size() && *error == nullptr) {
    const std::string_view rest = text.substr(done, is_regular_ ? text.npos : PIPE_BUF);
    gsize written = 0;
    g_output_stream_write_all(stream_.get(), rest.data(), rest.size(), &written,
                              is_regular_ ? nullptr : ledger_.cancel(), error);
    done += written;
  }
  return done;
}

PublishError FileSink::error_of(const GError& error) const {
  const std::string text = "Cannot write detections to " + name_ + ": ";
  if (g_error_matches(&error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE)) {
    return PublishError(text +
                        "nobody reads the pipe any more. Start its reader, then the pipeline.");
  }
  if (g_error_matches(&error, G_IO_ERROR, G_IO_ERROR_NO_SPACE)) {
    return PublishError(text + error.message + ". Free some space and start again.",
                        GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  }
  return PublishError(text + error.message + ".");
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

std::unique_ptr<Sink> make_file_sink(const Location& location, const SinkOptions& options,
                                     Ledger& ledger) {
  return std::make_unique<FileSink>(location, options.append, ledger);
}

}  // namespace gstnpu

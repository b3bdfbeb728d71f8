#include "open_input.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "api.hpp"
#include "text.hpp"

namespace npu::base {
namespace {

[[noreturn]] void fail(const std::string& path, const char* call, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, text("cannot read ", path, ": ", call, ": ", errno_text(error)));
}

template <class Call>
auto until_not_interrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// Kernels before 5.6 and some sandboxes have no openat2(): only a plain name is allowed then.
UniqueFd open_below(const UniqueFd& folder, const std::filesystem::path& name) {
  struct open_how how = {};
  how.flags = static_cast<std::uint64_t>(kInputFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(until_not_interrupted(
      [&] { return ::syscall(SYS_openat2, folder.get(), name.c_str(), &how, sizeof(how)); })));
  if (fd || (errno != ENOSYS && errno != EPERM)) return fd;
  if (name.has_parent_path() || name == "..") {
    errno = EXDEV;
    return {};
  }
  return UniqueFd(until_not_interrupted(
      [&] { return ::openat(folder.get(), name.c_str(), kInputFlags | O_NOFOLLOW); }));
}

/// Tells loops from other links that openat2() and O_NOFOLLOW refuse. Leaves errno as it was.
bool is_loop(const UniqueFd& folder, const std::filesystem::path& name) {
  const int error = errno;
  struct stat status = {};
  const bool loops = ::fstatat(folder.get(), name.c_str(), &status, 0) != 0 && errno == ELOOP;
  errno = error;
  return loops;
}

}  // namespace

// Without O_NONBLOCK a FIFO makes open() wait for a writer.
const int kInputFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

std::string kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "" : "a device";
}

InputFile open_input(const std::filesystem::path& path, std::uint64_t most_bytes) {
  return checked_input(
      UniqueFd(until_not_interrupted([&] { return ::open(path.c_str(), kInputFlags); })), path,
      most_bytes);
}

InputFile open_input_below(const std::filesystem::path& folder, const std::filesystem::path& name,
                           std::uint64_t most_bytes) {
  const std::filesystem::path place = folder.empty() ? "." : folder;
  const UniqueFd open_folder(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!open_folder) {
    fail(place.string(), "open", errno);
  }
  UniqueFd fd = open_below(open_folder, name);
  if (!fd && errno == ELOOP && is_loop(open_folder, name)) {
    throw Error(ErrorCode::kInvalidArgument,
                text("cannot read ", quoted((place / name).string()),
                     ": it is a symbolic link that leads back to itself: put the file there"));
  }
  if (!fd && (errno == EXDEV || errno == ELOOP)) {
    throw Error(ErrorCode::kInvalidArgument,
                text(quoted(name.string()), " leads out of the folder ", quoted(place.string()),
                     ": put the file into that folder and give its name there"));
  }
  return checked_input(std::move(fd), place / name, most_bytes);
}

InputFile checked_input(UniqueFd fd, const std::filesystem::path& path, std::uint64_t most_bytes) {
  InputFile file{std::move(fd), path.string()};
  if (!file.fd) {
    fail(file.path, "open", errno);
  }
  if (::fstat(file.fd.get(), &file.status) != 0) {
    fail(file.path, "fstat", errno);
  }
  if (!S_ISREG(file.status.st_mode)) {
    throw Error(ErrorCode::kIo, text("cannot read ", file.path, ": it is ",
                                     kind_of_file(file.status.st_mode), ", not a regular file"));
  }
  if (file.size_bytes() > most_bytes) {
    throw Error(ErrorCode::kInvalidArgument,
                text("cannot read ", file.path, ": it has ", file.size_bytes(),
                     " bytes, more than the ", most_bytes, " that such a file may have"));
  }
  return file;
}

void read_exactly(const InputFile& file, std::span<std::byte> bytes, std::size_t offset) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = until_not_interrupted([&] {
      return ::pread(file.fd.get(), bytes.data() + done, bytes.size() - done,
                     static_cast<off_t>(offset + done));
    });
    if (got < 0) {
      fail(file.path, "pread", errno);
    }
    if (got == 0) {
      throw Error(ErrorCode::kIo,
                  text("cannot read ", file.path, ": it had ", offset + bytes.size(),
                       " bytes and was shortened to ", offset + done,
                       " meanwhile; replace files by renaming a new one"));
    }
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace npu::base

namespace npu {

std::string read_input(const std::filesystem::path& file, std::size_t most_bytes,
                       const std::filesystem::path& folder) {
  return base::only_errors([&] {
    const base::InputFile input = folder.empty() ? base::open_input(file, most_bytes)
                                                 : base::open_input_below(folder, file, most_bytes);
    std::string bytes(input.size_bytes(), '\0');
    base::read_exactly(input, std::as_writable_bytes(std::span(bytes)));
    return bytes;
  });
}

}  // namespace npu

#include "atomic_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "api.hpp"
#include "file_size_limit.hpp"
#include "forked.hpp"
#include "open_input.hpp"
#include "text.hpp"
#include "unique_fd.hpp"

namespace npu::base {
namespace {

constexpr const char* kTemporarySuffix = ".tmp";

[[noreturn]] void fail(const std::filesystem::path& path, const char* call, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, text("cannot write ", path.string(), ": ", call, ": ", errno_text(error)));
}

/// An unpredictable name, of limited length however long the file's is.
std::string temporary_name(const std::string& name) {
  constexpr std::size_t kMostOfName = 64;
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    number = static_cast<std::uint64_t>(::getpid());  // O_EXCL still holds
  }
  std::array<char, 17> digits = {};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  return '.' + name.substr(0, kMostOfName) + '.' + digits.data() + kTemporarySuffix;
}

/// A new file, removed at the end of the scope unless it was moved to its place.
class TemporaryFile {
 public:
  TemporaryFile(const Folder& folder, const std::string& target, mode_t mode)
      : folder_(folder), path_(folder.path_of(target)) {
    constexpr int kTries = 16;
    for (int i = 0; i < kTries && !fd_ && (i == 0 || errno == EEXIST); ++i) {
      name_ = temporary_name(target);
      fd_ = UniqueFd(::openat(folder.fd(), name_.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    }
    if (!fd_) {
      fail(path_, "open", errno);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ && !is_forked_child()) {
      folder_.remove(name_);
    }
  }

  void write(std::span<const std::byte> bytes) const;
  void sync() const {
    while (::fsync(fd_.get()) != 0) {
      if (errno != EINTR) {
        fail(path_, "fsync", errno);
      }
    }
  }
  void move_to(const std::string& target) {
    if (::renameat(folder_.fd(), name_.c_str(), folder_.fd(), target.c_str()) != 0) {
      fail(path_, "rename", errno);
    }
    fd_.reset();
  }

 private:
  const Folder& folder_;
  const std::filesystem::path path_;  // for messages
  std::string name_;
  UniqueFd fd_;
};

void TemporaryFile::write(std::span<const std::byte> bytes) const {
  constexpr std::size_t kMostPerWrite = std::size_t{1} << 30;
  const FileSizeLimitIsAnError limited;
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_.get(), bytes.data(), std::min(bytes.size(), kMostPerWrite));
    if (done == 0) {
      fail(path_, "write", ENOSPC);
    }
    if (done < 0 && errno != EINTR) {
      fail(path_, "write", errno);
    }
    if (done > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }
}

void check_replaceable(const Folder& folder, const std::string& name) {
  const auto old = folder.status_of(name);
  if (!old || S_ISREG(old->st_mode)) return;
  throw Error(ErrorCode::kIo, text("cannot write ", folder.path_of(name).string(), ": it is ",
                                   kind_of_file(old->st_mode),
                                   ", and only a regular file is replaced; name another file"));
}

Folder folder_of(const std::filesystem::path& path) {
  try {
    return Folder::open(path.has_parent_path() ? path.parent_path() : ".");
  } catch (const Error& error) {
    throw Error(error.code(), text("cannot write ", path.string(), ": ", error.what()));
  }
}

}  // namespace

bool is_temporary_name(const std::string& name) {
  return name.starts_with('.') && name.ends_with(kTemporarySuffix);
}

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> parts, FileAccess access) {
  const auto name = path.has_filename() ? path.filename().string() : ".";
  write_file_atomically(folder_of(path), name, parts, access);
}

void write_file_atomically(const Folder& folder, const std::string& name,
                           std::span<const std::span<const std::byte>> parts, FileAccess access) {
  const mode_t mode = access == FileAccess::kOwner ? 0600 : 0666;
  check_replaceable(folder, name);
  TemporaryFile file(folder, name, mode);
  for (const auto& part : parts) file.write(part);
  file.sync();
  file.move_to(name);
  folder.sync();
}

}  // namespace npu::base

namespace npu {

void write_output(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  base::only_errors([&] { base::write_file_atomically(file, {&bytes, 1}); });
}

}  // namespace npu

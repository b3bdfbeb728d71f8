#include "atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include <npucore/error.hpp>

#include "text.hpp"
#include "unique_fd.hpp"

namespace npu::base {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* call, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, text("cannot write ", path.string(), ": ", call, ": ", errno_text(error)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Removes a file at the end of the scope, unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& path) : path_(path) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!kept_) {
      ::unlink(path_.c_str());
    }
  }
  void keep() { kept_ = true; }

 private:
  const std::filesystem::path& path_;
  bool kept_ = false;
};

/// A name that no other call of this or another process uses.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return folder_of(path) /
         text('.', path.filename().string(), '.', ::getpid(), '.', counter++, ".tmp");
}

void write_all(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  constexpr std::size_t kMostPerWrite = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), std::min(bytes.size(), kMostPerWrite));
    if (done < 0 && errno != EINTR) {
      fail(path, "write", errno);
    }
    if (done > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
  }
}

/// Makes the rename last over a power cut. Some file systems cannot; the file itself is whole then.
void sync_folder(const std::filesystem::path& path) {
  const UniqueFd folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) {
    static_cast<void>(::fsync(folder.get()));
  }
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> parts, FileAccess access) {
  const mode_t mode = access == FileAccess::kOwner ? 0600 : 0666;
  const auto temporary = temporary_name(path);
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!fd) {
    fail(path, "open", errno);
  }
  TemporaryFile file(temporary);
  for (const auto& part : parts) write_all(fd.get(), part, path);
  if (::fsync(fd.get()) != 0) {
    fail(path, "fsync", errno);
  }
  fd.reset();
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    fail(path, "rename", errno);
  }
  file.keep();
  sync_folder(path);
}

}  // namespace npu::base

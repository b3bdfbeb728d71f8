#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <npucore/error.hpp>

#include "text.hpp"
#include "unique_fd.hpp"

namespace npu::base {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* call, int error) {
  const auto code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  throw Error(code, text("cannot read ", path.string(), ": ", call, ": ", errno_text(error)));
}

struct OpenFile {
  UniqueFd fd;
  std::size_t size_bytes = 0;
};

OpenFile open_file(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    fail(path, "open", errno);
  }
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) {
    fail(path, "fstat", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, text("cannot read ", path.string(), ": it is not a regular file"));
  }
  return {std::move(fd), static_cast<std::size_t>(status.st_size)};
}

Mapping map(const std::filesystem::path& path, const UniqueFd& fd, std::size_t offset,
            std::size_t size) {
  Mapping mapping(
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), static_cast<off_t>(offset)), size);
  if (!mapping) {
    fail(path, "mmap", errno);
  }
  return mapping;
}

}  // namespace

std::size_t page_size_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up_to_page(std::size_t size) {
  const std::size_t page = page_size_bytes();
  return (size + page - 1) / page * page;
}

MappedFile MappedFile::open(const std::filesystem::path& path) {
  const OpenFile file = open_file(path);
  if (file.size_bytes == 0) return MappedFile();
  return MappedFile(map(path, file.fd, 0, file.size_bytes));
}

MappedFile MappedFile::open_region(const std::filesystem::path& path, std::size_t offset,
                                   std::size_t size) {
  const OpenFile file = open_file(path);
  if (size == 0 || offset > file.size_bytes || size > file.size_bytes - offset) {
    throw Error(ErrorCode::kInvalidArgument, text(path.string(), " has ", file.size_bytes,
                                                  " bytes, not ", size, " at ", offset));
  }
  const std::size_t lead = offset % page_size_bytes();
  return MappedFile(map(path, file.fd, offset - lead, lead + size));
}

}  // namespace npu::base

#include "base/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "npucore/error.hpp"

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
  if (!fd) fail(path, "open", errno);
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) fail(path, "fstat", errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::kIo, text("cannot read ", path.string(), ": it is no regular file"));
  return {std::move(fd), static_cast<std::size_t>(status.st_size)};
}

std::span<const std::byte> map(const std::filesystem::path& path, const UniqueFd& fd,
                               std::size_t offset, std::size_t size) {
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), static_cast<off_t>(offset));
  if (start == MAP_FAILED) fail(path, "mmap", errno);
  return {static_cast<const std::byte*>(start), size};
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
  if (size == 0 || offset > file.size_bytes || size > file.size_bytes - offset)
    throw Error(ErrorCode::kInvalidArgument, text(path.string(), " has ", file.size_bytes,
                                                  " bytes, not ", size, " at ", offset));
  const std::size_t lead = offset % page_size_bytes();
  return MappedFile(map(path, file.fd, offset - lead, lead + size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace npu::base

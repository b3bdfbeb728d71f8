#include "mapped_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include <npucore/error.hpp>

#include "text.hpp"

namespace npu::base {
namespace {

Mapping map_region(const InputFile& file, std::size_t offset, std::size_t size) {
  Mapping mapping(
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd.get(), static_cast<off_t>(offset)),
      size);
  if (!mapping) {
    throw Error(ErrorCode::kIo,
                text("cannot read ", file.path, ": mmap of ", size, " bytes: ", errno_text(errno)));
  }
  return mapping;
}

Mapping copy_of(const InputFile& file) {
  const std::size_t size = file.size_bytes();
  Mapping pages(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                size);
  if (!pages) {
    throw Error(ErrorCode::kOutOfMemory,
                text("cannot read ", file.path, ": mmap of ", size, " bytes: ", errno_text(errno)));
  }
  read_exactly(file, pages.bytes());
  ::mprotect(pages.bytes().data(), size, PROT_READ);
  return pages;
}

bool same(const struct timespec& a, const struct timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

}  // namespace

std::size_t page_size_bytes() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t round_up_to_page(std::size_t size) {
  const std::size_t page = page_size_bytes();
  if (size > std::numeric_limits<std::size_t>::max() - page) {
    return std::numeric_limits<std::size_t>::max() / page * page;
  }
  return (size + page - 1) / page * page;
}

MappedFile::MappedFile(Mapping mapping, std::optional<InputFile> file)
    : mapping_(std::move(mapping)), file_(std::move(file)) {}

MappedFile MappedFile::open(const std::filesystem::path& path, std::uint64_t most_copied_bytes) {
  return of(open_input(path), most_copied_bytes);
}

MappedFile MappedFile::of(InputFile file, std::uint64_t most_copied_bytes) {
  if (file.size_bytes() == 0) return {};
  if (file.size_bytes() <= most_copied_bytes) return {copy_of(file), std::nullopt};
  Mapping mapping = map_region(file, 0, file.size_bytes());
  return {std::move(mapping), std::move(file)};
}

MappedFile MappedFile::open_region(const std::filesystem::path& path, std::size_t offset,
                                   std::size_t size) {
  InputFile file = open_input(path);
  if (size == 0 || offset > file.size_bytes() || size > file.size_bytes() - offset) {
    throw Error(ErrorCode::kInvalidArgument, text(path.string(), " has ", file.size_bytes(),
                                                  " bytes, not ", size, " at ", offset));
  }
  const std::size_t lead = offset % page_size_bytes();
  Mapping mapping = map_region(file, offset - lead, lead + size);
  return {std::move(mapping), std::move(file)};
}

void MappedFile::check_unchanged() const {
  if (!file_) return;
  struct stat now = {};
  if (::fstat(file_->fd.get(), &now) == 0 && now.st_size == file_->status.st_size &&
      same(now.st_mtim, file_->status.st_mtim)) {
    return;
  }
  throw Error(ErrorCode::kIo, text(file_->path, " was changed while it was in use (it had ",
                                   file_->size_bytes(), " bytes, now ", now.st_size,
                                   "): load it again, and replace files by renaming a new one"));
}

}  // namespace npu::base

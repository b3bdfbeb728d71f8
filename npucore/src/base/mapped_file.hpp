#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "mapping.hpp"
#include "open_input.hpp"

namespace npu::base {

std::size_t page_size_bytes();

/// `size` up to the next whole page.
std::size_t round_up_to_page(std::size_t size);

/// A whole file in read-only pages, with zeros from its end to the end of the last page.
///
/// Shortening a mapped file kills every process that reads the missing pages (SIGBUS). So a file of
/// at most `most_copied_bytes` is copied. A larger one stays mapped: check_unchanged() before each
/// use tells whether it was changed; it misses a change during the use.
class MappedFile {
 public:
  static constexpr std::size_t kMostCopiedBytes = std::size_t{16} << 20;

  /// Throws as open_input() does.
  static MappedFile open(const std::filesystem::path& path,
                         std::uint64_t most_copied_bytes = kMostCopiedBytes);
  static MappedFile of(InputFile file, std::uint64_t most_copied_bytes = kMostCopiedBytes);
  /// The pages that hold `size` bytes at `offset`, which are `offset % page_size_bytes()` bytes
  /// after the mapping's beginning. Throws Error(kInvalidArgument) for bytes that the file lacks.
  static MappedFile open_region(const std::filesystem::path& path, std::size_t offset,
                                std::size_t size);

  MappedFile() = default;

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }
  /// Throws Error(kIo) for a mapped file that was written to, or got another size.
  void check_unchanged() const;
  /// The descriptor of the mapped file; -1 for a copy.
  int fd() const { return file_ ? file_->fd.get() : -1; }

 private:
  MappedFile(Mapping mapping, std::optional<InputFile> file);
  Mapping mapping_;
  std::optional<InputFile> file_;  ///< empty for a copy, which nobody else can change
};

}  // namespace npu::base

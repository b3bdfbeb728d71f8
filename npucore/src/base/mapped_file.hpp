#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <utility>

#include "mapping.hpp"

namespace npu::base {

std::size_t page_size_bytes();

/// `size` up to the next whole page.
std::size_t round_up_to_page(std::size_t size);

/// A whole file, mapped read-only. The mapping starts on a page and reads as zeros from the file's
/// end to the end of its last page.
class MappedFile {
 public:
  /// Throws Error(kNotFound) for a file that is not there, Error(kIo) for one that cannot be read.
  static MappedFile open(const std::filesystem::path& path);
  /// The pages that hold `size` bytes at `offset`, which are `offset % page_size_bytes()` bytes
  /// after the mapping's beginning. Throws Error(kInvalidArgument) for bytes that the file lacks.
  static MappedFile open_region(const std::filesystem::path& path, std::size_t offset,
                                std::size_t size);

  MappedFile() = default;

  std::span<const std::byte> bytes() const { return mapping_.bytes(); }

 private:
  explicit MappedFile(Mapping mapping) : mapping_(std::move(mapping)) {}
  Mapping mapping_;
};

}  // namespace npu::base

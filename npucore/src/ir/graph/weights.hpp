#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/mapped_file.hpp"

namespace npu::ir {

/// The bytes that constants refer to: the mapped .bin, then what was added in memory. Copies share
/// the mapping.
class Weights {
 public:
  Weights() = default;  ///< of an IR without a .bin
  explicit Weights(base::MappedFile file);

  std::uint64_t size_bytes() const { return file_bytes().size() + tail_.size(); }
  /// Adds a constant and tells its offset, a multiple of 64.
  std::uint64_t append(std::span<const std::byte> constant);
  /// Empty when the range is not inside the weights, or crosses the end of the file.
  std::span<const std::byte> view(std::uint64_t offset, std::uint64_t size_bytes) const;
  /// Writes all of size_bytes() to `target`.
  void copy_to(std::byte* target) const;
  /// XXH3 over all of it. The file is read the first time one of the copies asks.
  std::uint64_t hash() const;

 private:
  struct Mapping {
    explicit Mapping(base::MappedFile mapped) : file(std::move(mapped)) {}
    base::MappedFile file;
    std::once_flag hash_once;
    std::uint64_t hash = 0;
  };
  std::span<const std::byte> file_bytes() const;

  std::shared_ptr<Mapping> mapping_;
  std::vector<std::byte> tail_;
};

}  // namespace npu::ir

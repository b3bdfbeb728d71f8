#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/mapped_file.hpp"

namespace npu::ir {

/// The bytes that constants refer to: the .bin, a file or somebody's memory, then constants added
/// here. Copies share the .bin. Reading throws Error(kIo) if somebody wrote to the file
/// (MappedFile).
class Weights {
 public:
  Weights() = default;  ///< an IR without a .bin
  explicit Weights(base::MappedFile file);
  /// Bytes that nobody changes, in memory that the owner keeps.
  Weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// The weights of another process: its file, in memory that outlives this, and its added
  /// constants.
  Weights(std::span<const std::byte> borrowed_file, std::vector<std::byte> tail)
      : borrowed_(borrowed_file), tail_(std::move(tail)) {}

  std::uint64_t size_bytes() const { return all_file_bytes().size() + tail_.size(); }
  /// Adds a constant and returns its offset, a multiple of 64.
  std::uint64_t append(std::span<const std::byte> constant);
  /// Empty if the range is not inside the weights, or crosses the end of the file.
  std::span<const std::byte> view(std::uint64_t offset, std::uint64_t size_bytes) const;
  /// Writes all of size_bytes() to `target`.
  void copy_to(std::byte* target) const;
  /// XXH3 over all of it. The first of the copies that asks reads the file.
  std::uint64_t hash() const;

  std::span<const std::byte> file_bytes() const;
  /// A descriptor of the file, for another process; -1 if the bytes are not, or no longer, a
  /// file's.
  int file_fd() const { return mapping_ ? mapping_->file.fd() : -1; }
  /// The constants added in memory.
  std::span<const std::byte> tail() const { return tail_; }

 private:
  struct Mapping {
    explicit Mapping(base::MappedFile mapped) : file(std::move(mapped)), bytes(file.bytes()) {}
    Mapping(std::span<const std::byte> memory, std::shared_ptr<const void> of)
        : owner(std::move(of)), bytes(memory) {}
    base::MappedFile file;
    std::shared_ptr<const void> owner;  ///< null for a file's bytes
    std::span<const std::byte> bytes;
    std::once_flag hash_once;
    std::uint64_t hash = 0;
  };
  std::span<const std::byte> all_file_bytes() const;

  std::shared_ptr<Mapping> mapping_;
  std::span<const std::byte> borrowed_;
  std::vector<std::byte> tail_;
};

}  // namespace npu::ir

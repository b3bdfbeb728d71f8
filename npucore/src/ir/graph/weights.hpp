#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/mapped_file.hpp"
#include "base/unique_fd.hpp"

namespace npu::ir {

/// Which file was mapped, so that it can be opened once more.
struct FileIdentity {
  std::filesystem::path path;
  std::uint64_t device = 0, inode = 0, size_bytes = 0;
  std::int64_t changed_ns = 0;

  /// Nothing for what is no regular file.
  static std::optional<FileIdentity> of(const std::filesystem::path& path);
  /// The file, for reading; nothing where another is there now, or it was changed.
  base::UniqueFd reopen() const;
  bool operator==(const FileIdentity&) const = default;
};

/// The bytes that constants refer to: those of the .bin, then what was added in memory. Copies
/// share the file. Whatever reads them throws Error(kIo) where somebody wrote to the .bin
/// (MappedFile).
class Weights {
 public:
  Weights() = default;  ///< of an IR without a .bin
  /// `identity`: of the file, where it is known for certain.
  explicit Weights(base::MappedFile file, std::optional<FileIdentity> identity = {});
  /// Of another process: its file, in memory that outlives this, and what was added.
  Weights(std::span<const std::byte> borrowed_file, std::vector<std::byte> tail)
      : borrowed_(borrowed_file), tail_(std::move(tail)) {}

  std::uint64_t size_bytes() const { return all_file_bytes().size() + tail_.size(); }
  /// Adds a constant and tells its offset, a multiple of 64.
  std::uint64_t append(std::span<const std::byte> constant);
  /// Empty when the range is not inside the weights, or crosses the end of the file.
  std::span<const std::byte> view(std::uint64_t offset, std::uint64_t size_bytes) const;
  /// Writes all of size_bytes() to `target`.
  void copy_to(std::byte* target) const;
  /// XXH3 over all of it. The file is read the first time one of the copies asks.
  std::uint64_t hash() const;

  std::span<const std::byte> file_bytes() const;
  /// The file once more, for another process; nothing where it is not there as it was.
  base::UniqueFd reopen_file() const;
  /// What was added.
  std::span<const std::byte> tail() const { return tail_; }

 private:
  struct Mapping {
    Mapping(base::MappedFile mapped, std::optional<FileIdentity> which)
        : file(std::move(mapped)), identity(std::move(which)) {}
    base::MappedFile file;
    std::optional<FileIdentity> identity;
    std::once_flag hash_once;
    std::uint64_t hash = 0;
  };
  std::span<const std::byte> all_file_bytes() const;

  std::shared_ptr<Mapping> mapping_;
  std::span<const std::byte> borrowed_;
  std::vector<std::byte> tail_;
};

}  // namespace npu::ir

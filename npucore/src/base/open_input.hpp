#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "unique_fd.hpp"

namespace npu::base {

/// A regular file, open for reading.
struct InputFile {
  UniqueFd fd;
  std::string path;  ///< for messages
  struct stat status = {};

  std::size_t size_bytes() const { return static_cast<std::size_t>(status.st_size); }
};

inline constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();

/// Flags of open() for input: it waits for nobody, takes no terminal, and no child inherits the
/// file.
extern const int kInputFlags;

/// Opens every file that the library reads. Throws Error(kNotFound) if there is none, Error(kIo) if
/// it cannot be read, is not regular, or has more than `most_bytes`.
InputFile open_input(const std::filesystem::path& path, std::uint64_t most_bytes = kAnySize);
/// `name` is relative to `folder`; neither ".." nor a link may lead out of it.
InputFile open_input_below(const std::filesystem::path& folder, const std::filesystem::path& name,
                           std::uint64_t most_bytes = kAnySize);
/// Checks a file that was opened with kInputFlags, or whose opening failed and set errno.
InputFile checked_input(UniqueFd fd, const std::filesystem::path& path,
                        std::uint64_t most_bytes = kAnySize);

/// Fills `bytes` from `offset` of the file on. Throws Error(kIo), also if it is shorter by now.
void read_exactly(const InputFile& file, std::span<std::byte> bytes, std::size_t offset = 0);

/// "a folder", "a symbolic link", ...; "" for a regular file.
std::string kind_of_file(mode_t mode);

}  // namespace npu::base

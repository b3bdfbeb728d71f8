#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace npu::base {

enum class FileAccess {
  kUmask,  ///< as the process's umask leaves it
  kOwner,  ///< read and written by the owner only
};

/// Writes the parts one after the other into a new file beside `path`, syncs it and puts it in the
/// place of `path`: readers see the old file or the whole new one. Throws Error(kNotFound) where
/// the folder is missing, else Error(kIo).
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> parts,
                           FileAccess access = FileAccess::kUmask);

}  // namespace npu::base

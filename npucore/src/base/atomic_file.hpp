#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "folder.hpp"

namespace npu::base {

enum class FileAccess {
  kUmask,  ///< as the process's umask leaves it
  kOwner,  ///< read and written by the owner only
};

/// Every file is written this way. The parts go one after the other into a new file beside `path`,
/// which is synced and renamed to `path`: readers see the old file or the whole new one. Replaces
/// only a regular file. Throws Error(kNotFound) where the folder is missing, else Error(kIo).
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> parts,
                           FileAccess access = FileAccess::kUmask);
void write_file_atomically(const Folder& folder, const std::string& name,
                           std::span<const std::span<const std::byte>> parts,
                           FileAccess access = FileAccess::kUmask);

/// True for the name of a file that a writer is still writing, or died while writing.
bool is_temporary_name(const std::string& name);

}  // namespace npu::base

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace npu::base {

/// Writes the parts one after the other into a new file beside `path`, syncs it and puts it in the
/// place of `path`: readers see the old file or the whole new one. Throws Error(kNotFound) where
/// the folder is missing, else Error(kIo).
void write_file_atomically(const std::filesystem::path& path,
                           std::span<const std::span<const std::byte>> parts);

}  // namespace npu::base

#pragma once

#include <filesystem>

/// Whether a tool's argument is to be read as an IR: an .xml, or a folder with one in it. Anything
/// else is taken for a blob.
inline bool is_ir_path(const std::filesystem::path& path) {
  std::error_code error;
  return path.extension() == ".xml" || std::filesystem::is_directory(path, error);
}

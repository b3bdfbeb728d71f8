#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "unique_fd.hpp"

namespace npu::base {

/// An open folder. Calls through its descriptor reach this folder even if its name is moved.
class Folder {
 public:
  /// Throws Error(kNotFound) if it does not exist, else Error(kIo).
  static Folder open(const std::filesystem::path& path);
  /// Opens a folder where nobody but this user and root can write; makes it, with mode 0700, if it
  /// does not exist. Throws Error(kIo) that says what is wrong with it.
  static Folder open_private(const std::filesystem::path& path);

  int fd() const { return fd_.get(); }
  std::filesystem::path path_of(const std::string& name) const { return path_ / name; }
  std::vector<std::string> names() const;
  /// Status of the entry itself, without following a link; nothing if there is none.
  std::optional<struct stat> status_of(const std::string& name) const;
  bool remove(const std::string& name) const;
  void sync() const;

 private:
  Folder(std::filesystem::path path, UniqueFd fd);
  std::filesystem::path path_;
  UniqueFd fd_;
};

/// The reason why users other than this one and root may have written it; empty: they cannot.
std::string why_not_private(const struct stat& status);

}  // namespace npu::base

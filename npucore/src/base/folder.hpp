#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "unique_fd.hpp"

namespace npu::base {

/// An open folder: what is done by its descriptor is done in this one, whatever becomes of its
/// name.
class Folder {
 public:
  /// Throws Error(kNotFound) for one that is not there, else Error(kIo).
  static Folder open(const std::filesystem::path& path);
  /// One where nobody but this user and root can put anything; made, with mode 0700, where there is
  /// none. Throws Error(kIo) that tells what is wrong with it.
  static Folder open_private(const std::filesystem::path& path);

  int fd() const { return fd_.get(); }
  std::filesystem::path path_of(const std::string& name) const { return path_ / name; }
  std::vector<std::string> names() const;
  /// Of what has this name, not of what a link leads to; nothing where there is none.
  std::optional<struct stat> status_of(const std::string& name) const;
  bool remove(const std::string& name) const;
  void sync() const;

 private:
  Folder(std::filesystem::path path, UniqueFd fd);
  std::filesystem::path path_;
  UniqueFd fd_;
};

/// Why others than this user and root may have written it; empty: they cannot.
std::string why_not_private(const struct stat& status);

}  // namespace npu::base

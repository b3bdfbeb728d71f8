#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace npu::test {

/// A folder of its own, gone with the object.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  /// Writes a file and tells its path.
  std::filesystem::path write(const std::string& name, std::string_view bytes) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace npu::test

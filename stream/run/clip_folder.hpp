// The folder of a stream's clips: their names, and how many stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace npustream {

struct ClipLimits {
  std::size_t clips = 100;
  std::uint64_t bytes = 0;  // 0: any number
};

class ClipFolder {
 public:
  /// Clips of other streams, and other files, may be in the same folder: they stay.
  ClipFolder(std::filesystem::path path, std::string stream, ClipLimits limits);

  /// Makes the folder and an unfinished clip in it. Returns the path of the finished one,
  /// "STREAM-20261129T044500.250Z.mkv", which does not exist; `time_us` since 1970. Throws
  /// std::runtime_error.
  std::filesystem::path make_clip(std::int64_t time_us) const;
  /// Removes the oldest clips beyond the limits, but never `newest`, and what a process that died
  /// left unfinished.
  void remove_old(const std::filesystem::path& newest) const;

  static constexpr const char* kUnfinished = ".part";  // behind the name of a clip being written

 private:
  bool is_ours(const std::string& name) const;

  std::filesystem::path path_;
  std::string stream_;
  ClipLimits limits_;
};

}  // namespace npustream

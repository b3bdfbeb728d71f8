#include "allowed.hpp"

#include <cstdlib>
#include <filesystem>

namespace npustream::web {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw ConfigError("", {{path, message}});
}

/// Links are followed, so that none leads out.
void check_file(const std::string& path, const std::string& config_file) {
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::absolute(config_file).parent_path(), error);
  const fs::path file = fs::weakly_canonical(folder / path, error);
  const fs::path inside = file.lexically_relative(folder);
  if (error || path.find('\0') != std::string::npos || inside.empty() || *inside.begin() == "..") {
    refuse("source.file",
           "only files in the folder of the configuration, or below it, can be added here; add "
           "others in the file itself");
  }
}

void check_source(const Json& source, const std::string& config_file) {
  if (!source.is_object()) return;  // said better by the check of the whole
  for (const auto& [key, value] : source.items()) {
    if (key == "launch") {
      refuse("source.launch", "launch fragments can be added in the file only");
    }
    if (!value.is_string()) continue;
    const std::string text = value.get<std::string>();
    if (key == "file") {
      check_file(text, config_file);
    }
    if (key == "v4l2" && (text.rfind("/dev/video", 0) != 0 ||
                          text.find_first_not_of("0123456789", 10) != std::string::npos)) {
      refuse("source.v4l2", "a camera is /dev/video0, /dev/video1, ...");
    }
    if (key == "rtsp" && text.rfind("rtsp://", 0) != 0 && text.rfind("rtsps://", 0) != 0) {
      refuse("source.rtsp", "begins with rtsp:// or rtsps://");
    }
  }
}

}  // namespace

void check_allowed(const Json& edit, const std::string& config_file) {
  if (!edit.is_object()) {
    refuse("", "a JSON object is needed, with the keys of a stream");
  }
  if (edit.contains("publish")) {
    refuse("publish", "where lines go can be changed in the file only");
  }
  if (edit.contains("record")) {
    refuse("record", "where clips are written can be changed in the file only");
  }
  if (edit.contains("source")) {
    check_source(edit["source"], config_file);
  }
}

}  // namespace npustream::web

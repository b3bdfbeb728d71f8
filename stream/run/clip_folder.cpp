#include "clip_folder.hpp"

#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <vector>

namespace npustream {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEnding = ".mkv";
constexpr std::chrono::minutes kSurelyLeft(10);  // without a frame written

std::string time_text(std::int64_t time_us) {
  GDateTime* const seconds = g_date_time_new_from_unix_utc(time_us / G_USEC_PER_SEC);
  gchar* const text = g_date_time_format(seconds, "%Y%m%dT%H%M%S");
  std::string name = text;
  g_free(text);
  g_date_time_unref(seconds);
  const auto milliseconds = std::to_string(time_us / 1000 % 1000);
  return name + "." + std::string(3 - milliseconds.size(), '0') + milliseconds + "Z";
}

/// Whether it has the form of time_text(); 0 is any digit.
bool is_time(const std::string& text) {
  const std::string form = "00000000T000000.000Z";
  return text.size() == form.size() &&
         std::equal(text.begin(), text.end(), form.begin(), [](char is, char wanted) {
           return wanted == '0' ? g_ascii_isdigit(is) : is == wanted;
         });
}

}  // namespace

ClipFolder::ClipFolder(fs::path path, std::string stream, ClipLimits limits)
    : path_(std::move(path)), stream_(std::move(stream)), limits_(limits) {}

fs::path ClipFolder::make_clip(std::int64_t time_us) const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw std::runtime_error(path_.string() + " cannot be made: " + error.message());
  for (;; time_us += 1000) {
    const fs::path file = path_ / (stream_ + "-" + time_text(time_us) + kEnding);
    if (fs::exists(file, error)) continue;
    const std::string unfinished = file.string() + kUnfinished;
    const int descriptor =
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      return file;
    }
    if (errno != EEXIST) throw std::runtime_error(unfinished + ": " + g_strerror(errno));
  }
}

bool ClipFolder::is_ours(const std::string& name) const {
  std::string rest = name;
  if (rest.ends_with(kUnfinished)) {
    rest.resize(rest.size() - std::string(kUnfinished).size());
  }
  if (!rest.starts_with(stream_ + "-") || !rest.ends_with(kEnding)) return false;
  const std::size_t begin = stream_.size() + 1;
  return is_time(rest.substr(begin, rest.size() - begin - std::string(kEnding).size()));
}

void ClipFolder::remove_old(const fs::path& newest) const {
  std::error_code unread, error;
  std::vector<fs::path> clips;  // finished, and not younger than the newest
  for (fs::directory_iterator at(path_, unread); !unread && at != end(at); at.increment(unread)) {
    const fs::directory_entry& entry = *at;
    const std::string name = entry.path().filename().string();
    if (!is_ours(name) || !entry.is_regular_file(error) || name > newest.filename().string()) {
      continue;
    }
    if (name.ends_with(kUnfinished)) {
      const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
      if (!error && age > kSurelyLeft) {
        fs::remove(entry.path(), error);
      }
    } else {
      clips.push_back(entry.path());
    }
  }
  std::sort(clips.begin(), clips.end(), std::greater<>());  // names are in the order of times
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    const auto size = fs::file_size(clips[i], error);
    bytes += error ? 0 : size;
    const bool is_too_much = limits_.bytes > 0 && bytes > limits_.bytes;
    if (i > 0 && (i >= limits_.clips || is_too_much)) {
      fs::remove(clips[i], error);
    }
  }
}

}  // namespace npustream

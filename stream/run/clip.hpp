// A Matroska file of encoded frames.
#pragma once

#include <gst/gst.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace npustream {

/// Where a clip goes. Called on the clip's own thread, which a disk that hangs may hold.
struct ClipFile {
  /// Gives the path of the whole file, and makes that with ".part" behind it. May throw.
  std::function<std::filesystem::path()> make;
  /// The file is whole.
  std::function<void(const std::filesystem::path&)> written;
};

/// Only a thread of its own touches the disk: nothing here waits for that. Made on any thread;
/// destroyed on the main context's.
class Clip {
 public:
  /// Once, on the main context's thread: the file is whole, or `error` says why it is given up.
  using Done =
      std::function<void(Clip&, const std::filesystem::path& file, const std::string& error)>;

  /// `caps`: of encoded frames. Throws std::exception.
  Clip(ClipFile file, const GstCaps* caps, Done done);
  ~Clip();  // gives up what is not whole
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

  /// `time`: running time, from any zero; the first frame must be a key frame. Frames that the disk
  /// has not taken wait, up to 192 MiB.
  void add(GstBuffer* frame, GstClockTime time);
  /// `causes`: kept for who is told.
  void end(std::string causes);

  GstClockTime duration() const { return last_ - first_; }
  const std::string& causes() const { return causes_; }

 private:
  class Writer;

  std::shared_ptr<Writer> writer_;
  std::string causes_;
  bool is_empty_ = true;
  GstClockTime first_ = 0, last_ = 0;
};

}  // namespace npustream

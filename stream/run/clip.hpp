// A Matroska file of encoded frames.
#pragma once

#include <gst/gst.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace npustream {

/// Files are written on threads of their own. Made on any thread; destroyed on the main context's.
class Clip {
 public:
  /// Once, on the main context's thread: the file is whole, or `error` says why it is not and is
  /// gone.
  using Done = std::function<void(Clip&, const std::string& error)>;

  /// `caps`: of encoded frames. The file has its name when it is whole, and ".part" behind it
  /// before. Throws std::runtime_error.
  Clip(std::filesystem::path file, const GstCaps* caps, Done done);
  ~Clip();  // gives up what is not whole
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

  /// `time`: running time, from any zero; the first frame must be a key frame.
  void add(GstBuffer* frame, GstClockTime time);
  /// `causes`: kept for who is told.
  void end(std::string causes);

  const std::filesystem::path& file() const { return file_; }
  GstClockTime duration() const { return last_ - first_; }
  const std::string& causes() const { return causes_; }

 private:
  void on_message(GstMessage* message);
  void finish(const std::string& error);
  std::filesystem::path unfinished() const;

  std::filesystem::path file_;
  std::string causes_;
  Done done_;
  GstElement *pipeline_ = nullptr, *in_ = nullptr;
  guint watch_ = 0;
  std::uint64_t frames_ = 0;
  GstClockTime first_ = 0, last_ = 0;
  bool has_ended_ = false;
};

}  // namespace npustream

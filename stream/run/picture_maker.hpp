// Makes JPEGs of a stream's frames, as long as somebody asks for them.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>

#include "snapshot.hpp"

namespace npustream {

class PictureMaker {
 public:
  /// Takes frames as they reach `sink`, ten a second at most. `overlay`: what draws on them, or
  /// empty. `width`: 0 for the frames' own. Throws std::runtime_error where an element is missing.
  PictureMaker(GstElement* sink, const std::string& overlay, int width);
  ~PictureMaker();
  PictureMaker(const PictureMaker&) = delete;
  PictureMaker& operator=(const PictureMaker&) = delete;

  /// The latest; null: none is made yet.
  PicturePtr ask();
  /// Whether nobody asked for three seconds.
  bool is_idle() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  // with the threads of the two pipelines
  GstElement* pipeline_ = nullptr;
  GstPad* pad_ = nullptr;
  gulong probe_ = 0;
  gint64 asked_us_ = 0;
};

/// The next of few widths, so that few pictures are made for many who look.
int picture_width(int wanted);

}  // namespace npustream

// Watches from outside what goes into an element and what comes out.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/refs.hpp"

namespace npu::test {

class FrameWitness {
 public:
  /// `keep_pixels`: copies every frame, to compare later.
  FrameWitness(GstElement* npu, bool keep_pixels);

  guint64 frames_in() const;
  /// The frames' visible pixels in ordinary memory, in the order they came.
  std::vector<gstnpu::BufferRef> take_pixels();
  /// The first tensor of every frame that came out.
  std::vector<std::vector<float>> take_tensors();
  /// Inodes of the files behind the frames' memory; empty for memory without a file.
  std::set<std::uint64_t> inodes() const;
  /// "DMA-BUF x 2": the memory of a frame. Several where they differ, with commas.
  std::string memory_kinds() const;
  /// Caps of the frames; empty before the first.
  std::string caps() const;
  /// The plain caps of the kept pixels: format, size, colorimetry.
  std::string plain_caps() const;

 private:
  void see_input(GstPad* pad, GstBuffer* buffer);
  void see_output(GstBuffer* buffer);

  const bool keep_pixels_;
  mutable std::mutex mutex_;  // guards all below
  guint64 frames_in_ = 0;
  std::vector<gstnpu::BufferRef> pixels_;
  std::vector<std::vector<float>> tensors_;
  std::set<std::uint64_t> inodes_;
  std::set<std::string> memory_kinds_;
  std::string caps_, plain_caps_;
};

}  // namespace npu::test

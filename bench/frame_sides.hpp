#pragma once

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <openvino/openvino.hpp>
#include <string>
#include <vector>

namespace bench {

// The memory of a side's frames.
enum class FrameMemory {
  kOrdinary,
  kDmabuf,   // a memfd stands in for one: the software NPU takes it with SOFTNPU_ALLOW_MEMFD=1
  kOffered,  // what the elements offer
};

// A handful of NV12 frames of 1920x1080, used in turn, through elements.
class ElementSide {
 public:
  ElementSide(const std::string& launch, FrameMemory memory);
  // Pushes one frame and takes its result.
  void run();
  // The buffer that came out of the last run().
  GstBuffer* result() const { return result_.get(); }

 private:
  struct Release {
    void operator()(GstHarness* harness) const { gst_harness_teardown(harness); }
    void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  };
  std::unique_ptr<GstHarness, Release> harness_;
  std::vector<std::unique_ptr<GstBuffer, Release>> frames_;
  std::unique_ptr<GstBuffer, Release> result_;
  std::size_t next_ = 0;
};

// OpenVINO's NPU plugin with frames in ordinary memory, passed by set_tensor.
class PluginFrames {
 public:
  // `converted`: the frames reach it as RGB of the model's size, from `videoconvertscale`; else as
  // NV12 planes, which the graph converts.
  PluginFrames(const std::filesystem::path& model, bool converted);
  void run();

 private:
  ov::Core core_;
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
  std::unique_ptr<ElementSide> converter_;
  std::vector<std::vector<std::uint8_t>> frames_;
  std::size_t next_ = 0;
};

}  // namespace bench

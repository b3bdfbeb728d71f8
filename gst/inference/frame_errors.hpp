#pragma once

#include <gst/gst.h>

#include <atomic>
#include <string>

#include <npucore/error.hpp>

namespace gstnpu {

/// A frame that zero-copy=require refuses.
class CopyRefused : public npu::Error {
 public:
  explicit CopyRefused(const std::string& why)
      : npu::Error(npu::ErrorCode::kIncompatible,
                   "zero-copy=require refuses a frame that would have to be copied before the NPU "
                   "reads it: " +
                       why) {}
};

/// Where the exceptions of a stream's frames end: the one place that makes messages of them. From
/// the streaming thread and the output task.
class FrameErrors {
 public:
  enum class Verdict {
    kFatal,        ///< an error was posted
    kCopyRefused,  ///< likewise; frames are refused until a flush
    kDeviceLost,   ///< the frame passes without tensors; npucore loads the model again
    kCancelled,    ///< the stream stopped meanwhile
  };

  FrameErrors(GstElement* element, std::string model_file)
      : element_(element), model_file_(std::move(model_file)) {}

  /// In a handler: posts what it caught. A lost device is one warning, however many frames were in
  /// flight.
  Verdict tell();
  /// An inference has ended well: the next lost device is told again.
  void note_success() { device_is_lost_ = false; }

 private:
  GstElement* const element_;
  const std::string model_file_;
  std::atomic<bool> device_is_lost_{false};
};

}  // namespace gstnpu

#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>

#include <npucore/error.hpp>

#include "graphs/settings.hpp"

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

  FrameErrors(GstElement* element, const LiveSettings& live) : element_(element), live_(live) {}

  /// In a handler: posts what it caught, of a frame that was submitted to that model then. A lost
  /// device is one warning, however many frames were in flight; one that is lost again and again is
  /// an error. `is_lost`: whether the device was lost before, and what it caught is that it could
  /// not be had again.
  Verdict tell(const std::string& model_file, guint64 submitted_ns, bool is_lost = false);
  /// An inference has ended well: the next lost device is told again.
  void note_success();

 private:
  Verdict note_loss(const npu::Error& error, const std::string& model_file, guint64 submitted_ns);
  guint count_loss(guint64 submitted_ns);

  GstElement* const element_;
  const LiveSettings& live_;
  std::mutex mutex_;        // guards all below
  guint losses_ = 0;        // since the last inference that ended well
  guint64 lost_at_ns_ = 0;  // the last time; what was submitted before is part of that loss
};

}  // namespace gstnpu

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

/// Turns the exceptions of a stream's frames into messages on the bus; nothing else does. Called
/// from the streaming thread and from the output task.
class FrameErrors {
 public:
  enum class Verdict {
    kFatal,        ///< an error was posted
    kCopyRefused,  ///< likewise; frames are refused until a flush
    kDeviceLost,   ///< the frame passes without tensors; npucore loads the model again
    kCancelled,    ///< the stream stopped meanwhile
  };

  FrameErrors(GstElement* element, const LiveSettings& live) : element_(element), live_(live) {}

  /// Call it in a catch block: posts the current exception, thrown for a frame that was submitted
  /// to this model at `submitted_ns`. A lost device gives one warning, however many frames were in
  /// flight, and an error when it is lost again and again. `is_lost`: the device had been lost
  /// before, and the exception says that it could not be had again.
  Verdict tell(const std::string& model_file, guint64 submitted_ns, bool is_lost = false);
  /// An inference succeeded: the next lost device is reported again.
  void note_success();

 private:
  Verdict note_loss(const npu::Error& error, const std::string& model_file, guint64 submitted_ns);
  guint count_loss(guint64 submitted_ns);

  GstElement* const element_;
  const LiveSettings& live_;
  std::mutex mutex_;        // guards all below
  guint losses_ = 0;        // since the last successful inference
  guint64 lost_at_ns_ = 0;  // time of the last loss; frames submitted before it belong to it
};

}  // namespace gstnpu

#include "frame_errors.hpp"

#include "common/bus.hpp"
#include "graphs/timed_request.hpp"

namespace gstnpu {
namespace {

/// Each loss reloads the model, which is quick. A device that recovers has done so after five.
constexpr guint kMostLosses = 5;

}  // namespace

FrameErrors::Verdict FrameErrors::tell(const std::string& model_file, guint64 submitted_ns,
                                       bool is_lost) {
  try {
    throw;
  } catch (const CopyRefused& error) {
    post_error(element_, error, {});
    return Verdict::kCopyRefused;
  } catch (const npu::Error& error) {
    if (error.code() == npu::ErrorCode::kCancelled) return Verdict::kCancelled;
    if (error.code() != npu::ErrorCode::kDeviceLost && !is_lost) {
      post_error(element_, error, model_file);
      return Verdict::kFatal;
    }
    return note_loss(error, model_file, submitted_ns);
  } catch (const std::exception& error) {
    post_error(element_, error, model_file);
    return Verdict::kFatal;
  }
}

/// Counts losses in a row; 0 where the frame was in flight at the last loss.
guint FrameErrors::count_loss(guint64 submitted_ns) {
  const std::scoped_lock lock(mutex_);
  if (losses_ > 0 && submitted_ns <= lost_at_ns_) return 0;
  lost_at_ns_ = now_ns();
  return ++losses_;
}

FrameErrors::Verdict FrameErrors::note_loss(const npu::Error& error, const std::string& model_file,
                                            guint64 submitted_ns) {
  const guint losses = count_loss(submitted_ns);
  if (losses == 1) {
    post_warning(element_,
                 std::string("the NPU was lost; the frames in flight pass without tensors: ") +
                     error.what());
  }
  if (losses <= kMostLosses || live_.on_error == OnError::kPass) return Verdict::kDeviceLost;
  post_error(element_,
             npu::Error(npu::ErrorCode::kDeviceLost,
                        "the NPU was lost " + std::to_string(losses) +
                            " times in a row, and no inference has ended since the first: see what "
                            "npu-info says, or set on-error=pass to let frames through without "
                            "tensors; the last time: " +
                            error.what()),
             model_file);
  return Verdict::kFatal;
}

void FrameErrors::note_success() {
  const std::scoped_lock lock(mutex_);
  losses_ = 0;
}

}  // namespace gstnpu

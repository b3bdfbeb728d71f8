#include "frame_errors.hpp"

#include "common/bus.hpp"

namespace gstnpu {

FrameErrors::Verdict FrameErrors::tell() {
  try {
    throw;
  } catch (const CopyRefused& error) {
    post_error(element_, error, {});
    return Verdict::kCopyRefused;
  } catch (const npu::Error& error) {
    if (error.code() == npu::ErrorCode::kCancelled) return Verdict::kCancelled;
    if (error.code() != npu::ErrorCode::kDeviceLost) {
      post_error(element_, error, model_file_);
      return Verdict::kFatal;
    }
    if (!device_is_lost_.exchange(true)) {
      post_warning(element_,
                   std::string("the NPU was lost; the frames in flight pass without tensors: ") +
                       error.what());
    }
    return Verdict::kDeviceLost;
  } catch (const std::exception& error) {
    post_error(element_, error, model_file_);
    return Verdict::kFatal;
  }
}

}  // namespace gstnpu

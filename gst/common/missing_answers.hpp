// Answers that frames should have, and have not.
#pragma once

#include <gst/gst.h>

#include <optional>

#include <npuvision/answer.hpp>

namespace gstnpu {

/// Tells the application once where frames come without what nputensordec found in them, or with
/// what was found in frames of another size, which is not read. Streaming thread.
class MissingAnswers {
 public:
  using Size = std::optional<npu::vision::FrameSize>;  ///< by the caps, where they tell it

  /// Tells of tensors that nobody has decoded, too.
  void look_at(GstElement* element, GstBuffer* buffer, Size frame);
  void look_for_lost(GstElement* element, GstBuffer* buffer, Size frame);

 private:
  void look_for_another_size(GstElement* element, GstBuffer* buffer, npu::vision::FrameSize frame);

  bool is_settled_ = false;
};

}  // namespace gstnpu

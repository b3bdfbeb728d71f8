// Answers that frames should have, and have not.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Tells the application once where frames come without what nputensordec found in them. Streaming
/// thread.
class MissingAnswers {
 public:
  /// Tells of tensors that nobody has decoded, too.
  void look_at(GstElement* element, GstBuffer* buffer);
  void look_for_lost(GstElement* element, GstBuffer* buffer);

 private:
  bool is_settled_ = false;
};

}  // namespace gstnpu

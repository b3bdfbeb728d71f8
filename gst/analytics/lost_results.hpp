// Results that frames should have, and have not.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Tells the application once where an element dropped what nputensordec had attached, so that
/// frames look as if nothing was found in them. Streaming thread.
class LostResults {
 public:
  void look_at(GstElement* element, GstBuffer* buffer);

 private:
  bool has_told_ = false;
};

/// Tells it once where frames come with tensors that nobody decodes: nputensordec is missing in
/// front of the element, or stands behind it. Streaming thread.
class UndecodedTensors {
 public:
  void look_at(GstElement* element, GstBuffer* buffer);

 private:
  bool is_settled_ = false;
};

}  // namespace gstnpu

// Results that frames should have, and have not.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Tells the application once where an element dropped what nputensordec attached, so that frames
/// look as if nothing was found in them. The first of several elements tells. Streaming thread.
class LostResults {
 public:
  void look_at(GstElement* element, GstBuffer* buffer);

 private:
  bool has_told_ = false;
};

/// Tells it once where frames come with tensors that nobody decodes: nputensordec is missing in
/// front of the element, or stands behind it. Of several elements the first one. Streaming thread.
class UndecodedTensors {
 public:
  void look_at(GstElement* element, GstBuffer* buffer);

 private:
  bool is_settled_ = false;
};

}  // namespace gstnpu

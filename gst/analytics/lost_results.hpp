// Results that frames should have, and have not.
#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// Tells the application once where what nputensordec attached is gone, so that frames look as if
/// nothing was found in them: an element dropped it, or made frames of its own. Of several elements
/// behind the cause the first one tells. Streaming thread.
class LostResults {
 public:
  void look_at(GstElement* element, GstBuffer* buffer);

 private:
  void look_for_mixer(GstElement* element, GstBuffer* buffer);

  bool has_told_ = false;
  bool has_mixer_ = true;  // as far as is known
  guint frames_in_vain_ = 0;
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

// Results that were on the frames, and are not any more.
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

}  // namespace gstnpu

#pragma once

#include <gst/gst.h>

namespace gstnpu {

/// The pass-through element inside npupublish: writes a line for each frame. Floating.
GstElement* make_publish_filter();
/// Its properties, for npupublish to show as its own.
void install_publish_properties(GObjectClass* klass);

}  // namespace gstnpu

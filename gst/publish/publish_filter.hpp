#pragma once

#include <gst/gst.h>

#include <vector>

namespace gstnpu {

/// The pass-through element inside npupublish: writes a line for each frame. Floating.
GstElement* make_publish_filter();
/// Its properties once more, for npupublish to show as its own. Floating.
std::vector<GParamSpec*> publish_property_specs();

}  // namespace gstnpu

// Finds elements upstream.
#pragma once

#include <gst/gst.h>

#include <string_view>
#include <vector>

#include "refs.hpp"

namespace gstnpu {

/// The element's only sink pad; null where it has none or several.
ObjectRef<GstPad> only_sink_of(GstElement* element);
/// The elements upstream, nearest first, as long as each has one input.
std::vector<ObjectRef<GstElement>> elements_in_front_of(GstElement* element);
/// Name of the element's factory.
std::string_view factory_of(GstElement* element);
/// Whether the element is npuinfer or npuimport.
bool infers(GstElement* element);
/// The nearest npuinfer or npuimport upstream; null where there is none, or an element with several
/// inputs comes before it.
ObjectRef<GstElement> inference_in_front_of(GstElement* element);

}  // namespace gstnpu

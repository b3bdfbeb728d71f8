// Finds elements upstream.
#pragma once

#include <gst/gst.h>

#include <string_view>
#include <vector>

#include "refs.hpp"

namespace gstnpu {

/// Longest search in elements: a pipeline that is being relinked may look endless.
constexpr int kFarthestUpstream = 64;

/// The pad that feeds this one, through the ghost pads of bins; null where there is none. `pad` may
/// be null.
ObjectRef<GstPad> feeding(ObjectRef<GstPad> pad);
/// The element's only sink pad; null where it has none or several.
ObjectRef<GstPad> only_sink_of(GstElement* element);
/// The elements upstream, nearest first, as long as each has one input.
std::vector<ObjectRef<GstElement>> elements_in_front_of(GstElement* element);
/// The element whose pad feeds this one; null where there is none. `pad` may be null.
ObjectRef<GstElement> element_feeding(ObjectRef<GstPad> pad);
/// Name of the element's factory.
std::string_view factory_of(GstElement* element);
/// Whether the element is npuinfer or npuimport.
bool infers(GstElement* element);
/// The nearest npuinfer or npuimport upstream; null where there is none, or an element with several
/// inputs comes before it.
ObjectRef<GstElement> inference_in_front_of(GstElement* element);

}  // namespace gstnpu

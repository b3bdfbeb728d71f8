// The elements in front of one.
#pragma once

#include <gst/gst.h>

#include <string_view>
#include <vector>

#include "refs.hpp"

namespace gstnpu {

/// Elements; a pipeline that is being relinked may look endless.
constexpr int kFarthestUpstream = 64;

/// The pad that feeds this one, which may be null, through the ghost pads of bins; null: none.
ObjectRef<GstPad> feeding(ObjectRef<GstPad> pad);
/// Null where the element has none, or several.
ObjectRef<GstPad> only_sink_of(GstElement* element);
/// All that it has.
std::vector<ObjectRef<GstPad>> sinks_of(GstElement* element);
/// The elements in front of one, the nearest first, as far as each has one input.
std::vector<ObjectRef<GstElement>> elements_in_front_of(GstElement* element);
/// The element whose pad feeds this one, which may be null; null: none.
ObjectRef<GstElement> element_feeding(ObjectRef<GstPad> pad);
/// The name of its factory.
std::string_view factory_of(GstElement* element);
/// Whether it is npuinfer or npuimport.
bool infers(GstElement* element);
/// The nearest of those in front of an element; null: none, or an element with several inputs
/// stands between.
ObjectRef<GstElement> inference_in_front_of(GstElement* element);

}  // namespace gstnpu

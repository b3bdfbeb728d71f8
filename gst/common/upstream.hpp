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
/// The caps that an element upstream has sent, where a query on this sink pad asks for them: a
/// queue, the ghost pad of a bin, and elements that keep format and size (videorate) ask in place
/// of an event with caps, which GStreamer then drops. Null where none are sent yet, or a converter
/// only tries whether it may pass frames on.
CapsRef sent_for_good(GstPad* sink, const GstCaps* asked);
/// Nanoseconds by which the sink behind this source pad shows frames later than they say: the
/// offsets of pads, and "ts-offset" of clocksync and the sink. Looks as far as each element has one
/// output.
GstClockTimeDiff offset_behind(GstPad* source);
/// Whether an element upstream turns frames, as videoflip does. It may pass the tag that asks for
/// that on unchanged.
bool is_turned_in_front_of(GstElement* element);
/// Name of the element's factory.
std::string_view factory_of(GstElement* element);
/// Whether the element is npuinfer or npuimport.
bool infers(GstElement* element);
/// Whether such an element infers objects instead of whole frames.
bool infers_objects(GstElement* inference);
/// The nearest npuinfer or npuimport upstream; null where there is none, or an element with several
/// inputs comes before it.
ObjectRef<GstElement> inference_in_front_of(GstElement* element);

}  // namespace gstnpu

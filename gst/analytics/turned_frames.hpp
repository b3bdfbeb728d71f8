#pragma once

#include <gst/gst.h>

#include <string>

namespace gstnpu {

/// The name of an element between `sink` and the inference upstream that mirrors or turns frames,
/// as videoflip does; empty: there is none. Metadata of where things are does not follow it.
std::string turning_element(GstPad* sink);

}  // namespace gstnpu

#pragma once

#include <string>

#include "frame_json.hpp"

namespace gstnpu {

/// One line, with the newline, as Intel DL Streamer's gvametaconvert writes it. docs/json.md
/// describes the text.
std::string to_dlstreamer_line(const FrameRecord& record);

}  // namespace gstnpu

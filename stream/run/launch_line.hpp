// The launch line of a stream, as gst-launch-1.0 takes it.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace npustream {

/// One word of a command line each. The pipeline is made from exactly these words
/// (gst_parse_launchv).
using LaunchLine = std::vector<std::string>;

/// Elements are named infer, count, publish and end (the sink); of a cascade's further models
/// infer2 and so on. With the key `record` encoded frames reach another sink, record. Throws
/// ConfigError for a `launch` with an open quote, and for `caps` that are none.
LaunchLine launch_line(const StreamConfig& stream, const Config& config);
/// As a shell reads it.
std::string shell_text(const LaunchLine& line);
/// Replaces user:password@ in addresses by ***@.
std::string without_passwords(std::string text);
/// Whether a file plays over and over, and whether the source never ends by itself.
bool is_looped(const StreamConfig& stream);
bool is_camera(const StreamConfig& stream);
/// The name of the model that sees whole frames.
std::string first_model(const StreamConfig& stream);
bool has_places(const StreamConfig& stream);
/// With "{id}" replaced.
std::string with_id(std::string text, const std::string& id);
/// npuoverlay with the properties that `overlay` sets; empty: nothing is drawn.
std::string overlay_words(const StreamConfig& stream);
/// name="value", as gst_parse_launch() reads it.
std::string assignment(const std::string& name, const std::string& value);

}  // namespace npustream

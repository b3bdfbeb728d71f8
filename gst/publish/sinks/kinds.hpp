// The sinks, one for each kind of location.
#pragma once

#include <memory>
#include <string>

#include "location.hpp"
#include "sink.hpp"

namespace gstnpu {

/// Opens what npupublish's `location` names.
std::unique_ptr<Sink> open_sink(const std::string& location, const SinkOptions& options,
                                SinkPeers peers);

/// Writes to a file, or to a descriptor that the process began with. A line that fails is taken
/// back from a file; elsewhere, and behind half a line that was there before, the next line begins
/// on a new one.
std::unique_ptr<Sink> make_file_sink(const Location& location, bool append, SinkPeers peers);

/// Writes to whoever listens at a socket, over and over again. A line that was cut is sent again,
/// whole, to the next reader.
std::unique_ptr<Sink> make_socket_sink(const Location& location, SinkPeers peers);

/// libmosquitto's client. Lines are messages, without their newline.
std::unique_ptr<Sink> make_mqtt_sink(const Location& location, const SinkOptions& options,
                                     SinkPeers peers);

/// librdkafka's idempotent producer. Lines are messages, without their newline.
std::unique_ptr<Sink> make_kafka_sink(const Location& location, const SinkOptions& options,
                                      SinkPeers peers);

}  // namespace gstnpu

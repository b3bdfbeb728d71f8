#pragma once

#include <memory>
#include <string>

#include "sink.hpp"

namespace gstnpu {

/// Sends each line, without its newline, to a topic at kafka://HOST:PORT/TOPIC, in order and once.
/// Its key is the stream's id. Brokers that are away are waited for. Throws npu::Error where
/// location or settings are wrong, or the client library is not there.
std::unique_ptr<Sink> make_kafka_sink(const std::string& location, const SinkOptions& options);

}  // namespace gstnpu

#pragma once

#include <memory>
#include <string>

#include "sink.hpp"

namespace gstnpu {

/// Publishes each line, without its newline, to a broker at mqtt://HOST:PORT/TOPIC or mqtts://. A
/// broker that is away is waited for; lines that it has not confirmed go out again. Throws
/// npu::Error where location or settings are wrong, or the client library is not there.
std::unique_ptr<Sink> make_mqtt_sink(const std::string& location, const SinkOptions& options);

}  // namespace gstnpu

#include "sink.hpp"

#include "line_writer.hpp"
#include "socket_sink.hpp"

namespace gstnpu {

std::unique_ptr<Sink> make_sink(const std::string& location, const SinkOptions& options) {
  if (SocketSink::is_location(location)) {
    return std::make_unique<SocketSink>(location, options.warn);
  }
  return std::make_unique<LineWriter>(location, options);
}

std::string describe_sink(const std::string& location) {
  return location.empty() || location == "-" ? "stdout" : "\"" + location + "\"";
}

}  // namespace gstnpu

#include "sink.hpp"

#include "line_writer.hpp"

namespace gstnpu {

std::unique_ptr<Sink> make_sink(const std::string& location, const SinkOptions& options) {
  return std::make_unique<LineWriter>(location, options);
}

std::string describe_sink(const std::string& location) {
  return location.empty() || location == "-" ? "stdout" : "\"" + location + "\"";
}

}  // namespace gstnpu

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace gstnpu {

struct HostAndPort {
  std::string host, port;
};

/// The fault of an address, worded to follow its name: "has no port".
struct BadAddress : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// HOST:PORT or [ADDRESS]:PORT. Without a port it has `usual_port`; an empty one asks for one.
/// Throws BadAddress.
HostAndPort split_host_and_port(std::string_view text, const std::string& usual_port = {});

}  // namespace gstnpu

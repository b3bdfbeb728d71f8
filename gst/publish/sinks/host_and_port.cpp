#include "host_and_port.hpp"

#include <algorithm>

namespace gstnpu {
namespace {

bool is_port(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() <= 5 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number && std::stoi(text) >= 1 && std::stoi(text) <= 65535;
}

}  // namespace

HostAndPort split_host_and_port(std::string_view text, const std::string& usual_port) {
  std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.ends_with(']')) {
    colon = std::string_view::npos;  // within an address
  }
  if (colon == std::string_view::npos && usual_port.empty()) {
    throw BadAddress("has no port");
  }
  HostAndPort parts{std::string(text.substr(0, colon)), usual_port};
  if (colon != std::string_view::npos) {
    parts.port = text.substr(colon + 1);
  }
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  }
  if (parts.host.empty()) {
    throw BadAddress("has no host");
  }
  if (parts.host.find_first_of(" \t") != std::string::npos) {
    throw BadAddress("has a blank in a host's name");
  }
  if (!is_port(parts.port)) {
    throw BadAddress("has no port from 1 to 65535");
  }
  parts.port = std::to_string(std::stoi(parts.port));  // without zeros in front
  return parts;
}

}  // namespace gstnpu

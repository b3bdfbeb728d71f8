// The page and REST of npu-stream.
#pragma once

#include <functional>
#include <memory>

#include "config/config.hpp"
#include "run/fleet.hpp"

namespace npustream::web {

/// Listens from its construction to its destruction, on the default main context. Answers are made
/// on that context's thread.
class Server {
 public:
  /// `on_reload` reads the file again; it may throw ConfigError. Throws std::runtime_error where
  /// the address is not to be had, or where an address that others can reach has no token, or its
  /// file can be read by others.
  Server(Fleet& fleet, const ServerConfig& config, std::function<void()> on_reload);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npustream::web

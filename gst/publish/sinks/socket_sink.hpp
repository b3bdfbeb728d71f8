#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interrupt.hpp"
#include "sink.hpp"
#include "socket_address.hpp"

namespace gstnpu {

/// Writes whole lines to whoever listens at a socket. Nobody there, or a reader who goes, is told
/// and waited for; a line that was cut is sent again, whole, to the next one.
class SocketSink final : public Sink {
 public:
  using Tell = std::function<void(const std::string&)>;

  static bool is_location(std::string_view location);
  /// `location`: tcp://HOST:PORT or unix:PATH. Throws npu::Error where it is neither, or the host
  /// is not known. `tell`: a warning, once until somebody stays for more than a line.
  SocketSink(const std::string& location, Tell tell);
  ~SocketSink() override;

  bool write(std::string_view line) override;
  bool flush() override;
  std::size_t held() const override { return line_.empty() ? 0 : 1; }
  void interrupt() override { interrupt_.set(); }
  void resume() override { interrupt_.clear(); }

 private:
  static std::vector<SocketAddress> addresses_of(const std::string& location);
  bool connect();
  bool pause();
  bool try_address(const SocketAddress& address);
  bool send_rest();
  bool is_closed() const;
  void disconnect();
  void note_broken(int error);
  bool wait(short events, std::optional<std::chrono::milliseconds> longest) const;
  void tell_once(const std::string& what, int error);

  const std::string location_;
  const Tell tell_;
  const std::vector<SocketAddress> addresses_;
  const Interrupt interrupt_;
  int fd_ = -1;
  int last_error_ = 0;
  bool has_told_ = false;               // since somebody stayed
  std::chrono::milliseconds pause_{0};  // before the next attempt
  bool has_sent_ = false;               // a line, over this connection
  std::string line_;                    // that is not out
  std::size_t sent_ = 0;                // bytes of it, over this connection
};

}  // namespace gstnpu

#include "socket_sink.hpp"

#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <npucore/error.hpp>

namespace gstnpu {
namespace {

constexpr std::string_view kTcp = "tcp://", kUnix = "unix:";
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{5000};

[[noreturn]] void refuse(const std::string& location, const std::string& why) {
  throw npu::Error(npu::ErrorCode::kInvalidArgument,
                   "the location \"" + location + "\" " + why +
                       ": write tcp://HOST:PORT, tcp://[ADDRESS]:PORT or unix:PATH");
}

SocketAddress address_of_path(const std::string& location) {
  const std::string path = location.substr(kUnix.size());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty()) {
    refuse(location, "has no path");
  }
  if (path.size() >= sizeof(address.sun_path)) {
    refuse(location,
           "has a path of more than " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
  }
  path.copy(address.sun_path, path.size());
  SocketAddress found;
  std::memcpy(&found.bytes, &address, sizeof(address));
  found.size = sizeof(address);
  return found;
}

}  // namespace

bool SocketSink::is_location(std::string_view location) {
  return location.starts_with(kTcp) || location.starts_with(kUnix);
}

std::vector<SocketAddress> SocketSink::addresses_of(const std::string& location) {
  if (location.starts_with(kUnix)) return {address_of_path(location)};
  try {
    return resolve(split_host_and_port(std::string_view(location).substr(kTcp.size())));
  } catch (const BadAddress& error) {
    refuse(location, error.what());
  }
}

SocketSink::SocketSink(const std::string& location, Tell tell)
    : location_(location), tell_(std::move(tell)), addresses_(addresses_of(location)) {}

SocketSink::~SocketSink() {
  disconnect();
}

bool SocketSink::write(std::string_view line) {
  line_ += line;
  return flush();
}

/// One connection after the other until the line is out.
bool SocketSink::flush() {
  while (!line_.empty()) {
    if (fd_ < 0 && !pause()) return false;
    if (fd_ < 0 && !connect()) {
      if (last_error_ == EINPROGRESS) return false;
      tell_once("nobody takes lines at " + location_, last_error_);
      continue;
    }
    if (!send_rest()) return false;
  }
  return true;
}

/// Longer each time, until somebody has stayed. False: interrupted.
bool SocketSink::pause() {
  if (pause_.count() > 0 && !wait(0, pause_)) return false;
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  return true;
}

/// False: interrupted. Where the connection breaks it is over.
bool SocketSink::send_rest() {
  while (sent_ < line_.size()) {
    if (is_closed()) {
      note_broken(ECONNRESET);
      return true;
    }
    if (std::exchange(has_sent_, false)) {
      has_told_ = false;
      pause_ = std::chrono::milliseconds(0);
    }
    const ssize_t sent = ::send(fd_, line_.data() + sent_, line_.size() - sent_, MSG_NOSIGNAL);
    if (sent >= 0) {
      sent_ += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      if (!wait(POLLOUT, std::nullopt)) return false;
    } else if (errno != EINTR) {
      note_broken(errno);
      return true;
    }
  }
  line_.clear();
  sent_ = 0;
  has_sent_ = true;
  return true;
}

/// Asks before sending: the kernel would still take a line that nobody reads any more.
bool SocketSink::is_closed() const {
  ssize_t got = 1;
  std::array<char, 4096> ignored{};
  // Data from the other side is ignored; it must not hide that side's end.
  while (got > 0) {
    got = ::recv(fd_, ignored.data(), ignored.size(), MSG_DONTWAIT);
  }
  return got == 0 || (errno != EAGAIN && errno != EINTR);
}

/// Lines that the system had taken for this reader are lost, and cannot be counted.
void SocketSink::note_broken(int error) {
  disconnect();
  tell_once("the reader at " + location_ + " has gone, with the lines that it had not read", error);
}

void SocketSink::disconnect() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
  fd_ = -1;
  sent_ = 0;
  has_sent_ = false;
}

/// EINPROGRESS is left where it was interrupted.
bool SocketSink::connect() {
  for (const SocketAddress& address : addresses_) {
    if (try_address(address)) return true;
    disconnect();
  }
  return false;
}

bool SocketSink::try_address(const SocketAddress& address) {
  last_error_ = begin_connection(address, fd_);
  if (last_error_ != EINPROGRESS) return last_error_ == 0;
  if (!wait(POLLOUT, kLongestPause)) return false;
  last_error_ = connection_error(fd_);
  return last_error_ == 0;
}

/// For these events, or for that long. False: interrupted.
bool SocketSink::wait(short events, std::optional<std::chrono::milliseconds> longest) const {
  std::array<pollfd, 2> either = {{{.fd = interrupt_.fd(), .events = POLLIN, .revents = 0},
                                   {.fd = fd_, .events = events, .revents = 0}}};
  const int milliseconds = longest ? static_cast<int>(longest->count()) : -1;
  while (::poll(either.data(), either.size(), milliseconds) < 0 && errno == EINTR) {
  }
  return either[0].revents == 0;
}

void SocketSink::tell_once(const std::string& what, int error) {
  if (std::exchange(has_told_, true)) return;
  tell_(what + " (" + std::generic_category().message(error) +
        "): trying again until somebody takes lines");
}

}  // namespace gstnpu

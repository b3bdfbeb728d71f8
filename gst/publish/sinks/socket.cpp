#include <gio/gunixsocketaddress.h>

#include <array>

#include "sink.hpp"

namespace gstnpu {
namespace {

constexpr guint kConnectSeconds = 5;
// A proxy whose target is down accepts each connection and ends it at once.
constexpr gint64 kStayUs = G_USEC_PER_SEC;

GSocketConnectable* address_of(const Location& location) {
  if (location.kind == Location::Kind::kTcp) {
    return g_network_address_new(location.host.c_str(), static_cast<guint16>(location.port));
  }
  constexpr std::size_t kMostBytes = 107;  // of sockaddr_un
  if (location.path.size() > kMostBytes) {
    refuse("the location \"" + location.text + "\" has a path of " +
           std::to_string(location.path.size()) + " bytes, and sockets take " +
           std::to_string(kMostBytes) + ": choose a shorter one");
  }
  return G_SOCKET_CONNECTABLE(g_unix_socket_address_new(location.path.c_str()));
}

class SocketSink final : public Sink {
 public:
  SocketSink(const Location& location, Ledger& ledger);

  bool write(std::string_view line) override;

 private:
  void connect();
  bool send(std::string_view line);
  bool is_closed() const;
  void tell_once(const std::string& what, const std::string& reason);

  const std::string location_;
  Ledger& ledger_;
  const ObjectRef<GSocketConnectable> address_;
  const ObjectRef<GSocketClient> client_{g_socket_client_new()};
  ObjectRef<GSocketConnection> connection_;
  gint64 connected_at_us_ = 0;
  Backoff backoff_;
};

SocketSink::SocketSink(const Location& location, Ledger& ledger)
    : location_(location.text), ledger_(ledger), address_(address_of(location)) {
  g_socket_client_set_enable_proxy(client_.get(), FALSE);
  g_socket_client_set_timeout(client_.get(), kConnectSeconds);
}

/// One connection after the other until the line is out.
bool SocketSink::write(std::string_view line) {
  while (!send(line)) {
    if (!backoff_.wait(ledger_.cancel())) return false;
    connect();
  }
  ledger_.note_out(1);
  return true;
}

void SocketSink::connect() {
  g_autoptr(GError) error = nullptr;
  connection_.reset(
      g_socket_client_connect(client_.get(), address_.get(), ledger_.cancel(), &error));
  if (error) return tell_once("nobody takes lines at " + location_, error->message);
  g_socket_set_timeout(g_socket_connection_get_socket(connection_.get()), 0);
  connected_at_us_ = g_get_monotonic_time();
}

/// False: there is no connection, it is broken, or it is cancelled. Lines that the system had
/// taken for a reader who has gone are lost, and cannot be counted.
bool SocketSink::send(std::string_view line) {
  if (!connection_) return false;
  std::string reason = "it has closed the connection";
  if (!is_closed()) {
    if (g_get_monotonic_time() > connected_at_us_ + kStayUs) {
      backoff_.reset();
    }
    g_autoptr(GError) error = nullptr;
    GOutputStream* stream = g_io_stream_get_output_stream(G_IO_STREAM(connection_.get()));
    if (g_output_stream_write_all(stream, line.data(), line.size(), nullptr, ledger_.cancel(),
                                  &error)) {
      return true;
    }
    reason = error->message;
  }
  connection_.reset();
  tell_once("the reader at " + location_ + " has gone, with the lines that it had not read",
            reason);
  return false;
}

/// Asks before sending: the kernel would still take a line that nobody reads any more. Data from
/// the other side is ignored; it must not hide that side's end.
bool SocketSink::is_closed() const {
  GSocket* socket = g_socket_connection_get_socket(connection_.get());
  std::array<gchar, 4096> ignored{};
  gssize got = 1;
  g_autoptr(GError) error = nullptr;
  while (got > 0) {
    got = g_socket_receive_with_blocking(socket, ignored.data(), ignored.size(), FALSE, nullptr,
                                         &error);
  }
  return got == 0 || !g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK);
}

void SocketSink::tell_once(const std::string& what, const std::string& reason) {
  if (ledger_.is_cancelled() || !backoff_.is_news()) return;
  ledger_.warn(what + " (" + reason + "): trying again until somebody takes lines");
}

}  // namespace

std::unique_ptr<Sink> make_socket_sink(const Location& location, const SinkOptions&,
                                       Ledger& ledger) {
  return std::make_unique<SocketSink>(location, ledger);
}

}  // namespace gstnpu

#include "server.hpp"

#include <libsoup/soup.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "routes.hpp"

namespace npustream::web {
namespace {

constexpr std::size_t kLongestBody = 64 * 1024;
constexpr std::size_t kMostConnections = 128;
constexpr guint kIdleSeconds = 30;  // then a connection that neither sends nor takes is closed
constexpr guint kPictureIntervalMs = 40;    // how often a waiting viewer looks for a new picture
constexpr gint64 kPictureWaitUs = 2000000;  // how long the first one may take
constexpr const char* kParts = "multipart/x-mixed-replace; boundary=npu-stream-picture";
constexpr const char* kBoundary = "--npu-stream-picture\r\n";

std::string text_or_empty(const char* text) {
  return text ? text : "";
}

Request request_of(SoupServerMessage* message, const char* path, GHashTable* query) {
  SoupMessageHeaders* const headers = soup_server_message_get_request_headers(message);
  const auto header = [headers](const char* name) {
    return text_or_empty(soup_message_headers_get_one(headers, name));
  };
  Request request;
  request.method = soup_server_message_get_method(message);
  request.path = path;
  request.content_type = header("Content-Type");
  request.credentials = {header("Host"), header("Origin"), header("Sec-Fetch-Site"),
                         header("Authorization"),
                         text_or_empty(soup_message_headers_get_list(headers, "Cookie"))};
  if (query) {
    GHashTableIter each;
    gpointer key = nullptr, value = nullptr;
    g_hash_table_iter_init(&each, query);
    while (g_hash_table_iter_next(&each, &key, &value)) {
      request.query[static_cast<const char*>(key)] = text_or_empty(static_cast<const char*>(value));
    }
  }
  return request;
}

/// Mapped, so that a long clip takes no memory; libsoup answers for parts of it, too.
void send_file(SoupServerMessage* message, const Response& response) {
  GMappedFile* const mapped = g_mapped_file_new(response.file.c_str(), FALSE, nullptr);
  soup_server_message_set_status(message, mapped ? SOUP_STATUS_OK : SOUP_STATUS_NOT_FOUND, nullptr);
  if (!mapped) return;
  SoupMessageHeaders* const headers = soup_server_message_get_response_headers(message);
  soup_message_headers_set_content_type(headers, response.type.c_str(), nullptr);
  GBytes* const bytes = g_mapped_file_get_bytes(mapped);
  soup_message_body_append_bytes(soup_server_message_get_response_body(message), bytes);
  g_bytes_unref(bytes);
  g_mapped_file_unref(mapped);
}

void send(SoupServerMessage* message, const Response& response) {
  SoupMessageHeaders* const headers = soup_server_message_get_response_headers(message);
  for (const auto& [name, value] : {std::pair{"Cache-Control", "no-store"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Cross-Origin-Resource-Policy", "same-origin"},
                                    {"X-Frame-Options", "DENY"}}) {
    soup_message_headers_replace(headers, name, value);
  }
  for (const auto& [name, value] : response.headers)
    soup_message_headers_append(headers, name.c_str(), value.c_str());
  if (!response.file.empty()) return send_file(message, response);
  soup_server_message_set_status(message, static_cast<guint>(response.status), nullptr);
  if (!response.type.empty()) {
    soup_server_message_set_response(message, response.type.c_str(), SOUP_MEMORY_COPY,
                                     response.body.data(), response.body.size());
  }
}

/// "127.0.0.1:40000"
std::string text_of(GSocketAddress* address) {
  if (!address) return "";
  gchar* const text = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address));
  std::string copy = text;
  g_free(text);
  return copy;
}

/// The body of a request, as far as it has come.
struct Received {
  std::string text;
  bool is_too_long = false;
};

}  // namespace

struct Server::Impl {
  /// One request for pictures that is not answered yet.
  struct Viewer {
    Impl* server;
    SoupServerMessage* message;
    std::string id;
    int width;
    bool is_video;
    gint64 until;
    std::uint64_t last = 0;
    bool is_started = false, is_writing = false;
    guint timer = 0;
  };

  struct Connection {
    std::string remote;  // address and port
    gint64 since_us = 0;
    bool is_busy = false;  // a request's headers have come, and its answer has not ended
  };

  Impl(Fleet& fleet, const ServerConfig& config, std::function<void()> on_reload)
      : access(config),
        context{fleet, access, std::move(on_reload)},
        soup(soup_server_new("server-header", "npu-stream", nullptr)) {
    soup_server_add_early_handler(soup, nullptr, on_headers, this, nullptr);
    soup_server_add_handler(soup, nullptr, on_request, this, nullptr);
    g_signal_connect(soup, "request-finished", G_CALLBACK(on_request_over), this);
    g_signal_connect(soup, "request-aborted", G_CALLBACK(on_request_over), this);
    listen(config);
  }

  ~Impl() {
    g_socket_service_stop(listener);
    g_socket_listener_close(G_SOCKET_LISTENER(listener));
    g_object_unref(listener);
    while (!viewers.empty()) forget(*viewers.begin());
    for (const auto& [connection, state] : connections)
      g_object_weak_unref(connection, on_connection_gone, this);
    soup_server_disconnect(soup);
    g_object_unref(soup);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void listen(const ServerConfig& config) {
    const std::string numeric = config.address == "localhost" ? "127.0.0.1" : config.address;
    GSocketAddress* const address =
        g_inet_socket_address_new_from_string(numeric.c_str(), config.port);
    if (!address) {
      throw std::runtime_error("server.address '" + config.address +
                               "' is no IP address; 127.0.0.1 is this machine only, 0.0.0.0 all");
    }
    listener = g_socket_service_new();
    GError* error = nullptr;
    GSocketAddress* actual = nullptr;
    const bool done =
        g_socket_listener_add_address(G_SOCKET_LISTENER(listener), address, G_SOCKET_TYPE_STREAM,
                                      G_SOCKET_PROTOCOL_TCP, nullptr, &actual, &error);
    g_object_unref(address);
    if (!done) {
      const std::string why = error->message;
      g_error_free(error);
      throw std::runtime_error("cannot listen at server.address " + config.address + ", port " +
                               std::to_string(config.port) + ": " + why);
    }
    const guint port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(actual));
    g_object_unref(actual);
    g_signal_connect(listener, "incoming", G_CALLBACK(on_connection), this);
    g_print("page: http://%s%s%s:%u/\n", numeric.find(':') == std::string::npos ? "" : "[",
            numeric.c_str(), numeric.find(':') == std::string::npos ? "" : "]", port);
  }

  static gboolean on_connection(GSocketService*, GSocketConnection* connection, GObject*,
                                gpointer data) {
    auto* const self = static_cast<Impl*>(data);
    if (self->connections.size() >= kMostConnections && !self->close_longest_idle()) {
      return TRUE;  // dropped, and so closed
    }
    g_socket_set_timeout(g_socket_connection_get_socket(connection), kIdleSeconds);
    GSocketAddress* local = g_socket_connection_get_local_address(connection, nullptr);
    GSocketAddress* remote = g_socket_connection_get_remote_address(connection, nullptr);
    g_object_weak_ref(G_OBJECT(connection), on_connection_gone, self);
    self->connections[G_OBJECT(connection)] = {text_of(remote), g_get_monotonic_time(), false};
    soup_server_accept_iostream(self->soup, G_IO_STREAM(connection), local, remote, nullptr);
    g_clear_object(&local);
    g_clear_object(&remote);
    return TRUE;
  }

  static void on_connection_gone(gpointer data, GObject* connection) {
    static_cast<Impl*>(data)->connections.erase(connection);
  }

  /// So that who keeps connections open shuts nobody out. False: all are being answered.
  bool close_longest_idle() {
    const auto idle = [](const auto& entry) {
      return entry.second.is_busy ? G_MAXINT64 : entry.second.since_us;
    };
    const auto longest = std::min_element(
        connections.begin(), connections.end(),
        [&](const auto& one, const auto& other) { return idle(one) < idle(other); });
    if (longest->second.is_busy) return false;
    GObject* const connection = longest->first;
    connections.erase(longest);
    g_object_weak_unref(connection, on_connection_gone, this);
    // libsoup reads the end, and lets go of it.
    g_socket_shutdown(g_socket_connection_get_socket(G_SOCKET_CONNECTION(connection)), TRUE, TRUE,
                      nullptr);
    return true;
  }

  static void on_request_over(SoupServer*, SoupServerMessage* message, gpointer data) {
    static_cast<Impl*>(data)->mark(message, false);
  }
  void mark(SoupServerMessage* message, bool is_busy) {
    const std::string remote = text_of(soup_server_message_get_remote_address(message));
    for (auto& [connection, state] : connections) {
      if (state.remote == remote) {
        state.is_busy = is_busy;
        state.since_us = g_get_monotonic_time();
      }
    }
  }

  /// Before the body: it is kept here, up to the limit, and not by libsoup.
  static void on_headers(SoupServer*, SoupServerMessage* message, const char*, GHashTable*,
                         gpointer data) {
    static_cast<Impl*>(data)->mark(message, true);
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
    g_object_set_data_full(G_OBJECT(message), "received", new Received,
                           [](gpointer received) { delete static_cast<Received*>(received); });
    g_signal_connect(message, "got-chunk", G_CALLBACK(on_chunk), nullptr);
  }

  static void on_chunk(SoupServerMessage* message, GBytes* chunk, gpointer) {
    auto* const received = static_cast<Received*>(g_object_get_data(G_OBJECT(message), "received"));
    gsize size = 0;
    const void* const data = g_bytes_get_data(chunk, &size);
    received->is_too_long = received->is_too_long || received->text.size() + size > kLongestBody;
    if (!received->is_too_long) {
      received->text.append(static_cast<const char*>(data), size);
    }
  }

  static void on_request(SoupServer*, SoupServerMessage* message, const char* path,
                         GHashTable* query, gpointer data) {
    try {
      static_cast<Impl*>(data)->respond(message, request_of(message, path, query));
    } catch (const std::exception& error) {
      send(message, error_response(500, error.what()));
    }
  }

  void respond(SoupServerMessage* message, Request request) {
    const Match match = find_route(request.method, request.path);
    if (!match.route) {
      Response response =
          match.allowed.empty()
              ? error_response(
                    404, "There is nothing at this path; /api/openapi.json lists what there is.")
              : error_response(405, "Use " + match.allowed + " here.");
      if (!match.allowed.empty()) {
        response.headers.emplace_back("Allow", match.allowed);
      }
      return send(message, response);
    }
    if (const Response refused = refusal(context, *match.route, request); refused.status != 200) {
      return send(message, refused);
    }
    if (auto* const received =
            static_cast<Received*>(g_object_get_data(G_OBJECT(message), "received"))) {
      if (received->is_too_long) {
        return send(message, error_response(413, "The body is longer than 64 KiB."));
      }
      request.body = std::move(received->text);
    }
    if (match.route->body == Body::kWhole) return send(message, answer(context, match, request));
    watch(message, match, request);
  }

  void watch(SoupServerMessage* message, const Match& match, const Request& request) {
    int width = 0;
    try {
      width = width_of(request);
      context.fleet.stream(match.arguments[0]);
    } catch (const NotFound& error) {
      return send(message, error_response(404, error.what()));
    } catch (const BadRequest& error) {
      return send(message, error_response(400, error.what()));
    }
    auto* const viewer = new Viewer{this,
                                    message,
                                    match.arguments[0],
                                    width,
                                    match.route->body == Body::kVideo,
                                    g_get_monotonic_time() + kPictureWaitUs};
    viewers.insert(viewer);
    g_object_ref(message);
    g_signal_connect(message, "finished", G_CALLBACK(on_finished), viewer);
    g_signal_connect(message, "wrote-chunk", G_CALLBACK(on_written), viewer);
    soup_server_message_pause(message);
    viewer->timer = g_timeout_add(kPictureIntervalMs, on_look, viewer);
    look(viewer);
  }

  static gboolean on_look(gpointer data) {
    auto* const viewer = static_cast<Viewer*>(data);
    return viewer->server->look(viewer) ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
  }
  static void on_written(SoupServerMessage*, gpointer data) {
    static_cast<Viewer*>(data)->is_writing = false;
  }
  static void on_finished(SoupServerMessage*, gpointer data) {
    auto* const viewer = static_cast<Viewer*>(data);
    viewer->server->forget(viewer);
  }

  /// A slow viewer gets fewer pictures: none is queued behind one that is being sent. Returns
  /// whether to look again.
  bool look(Viewer* viewer) {
    if (viewer->is_writing) return true;
    PicturePtr picture;
    try {
      picture = context.fleet.picture(viewer->id, viewer->width);
    } catch (const std::exception& error) {
      return finish(viewer, error_response(404, error.what()));
    }
    if (!picture || (viewer->is_started && picture->number == viewer->last)) {
      if (viewer->is_started || g_get_monotonic_time() < viewer->until) return true;
      Response none =
          error_response(503, "There is no picture yet; the stream's state and error say why.");
      none.headers.emplace_back("Retry-After", "1");
      return finish(viewer, none);
    }
    if (!viewer->is_video) return finish(viewer, {200, "image/jpeg", picture->jpeg, {}});
    write(viewer, *picture);
    return true;
  }

  static void write(Viewer* viewer, const Picture& picture) {
    SoupServerMessage* const message = viewer->message;
    if (!viewer->is_started) {
      SoupMessageHeaders* const headers = soup_server_message_get_response_headers(message);
      send(message, {200, "", "", {{"Content-Type", kParts}}});
      soup_message_headers_set_encoding(headers, SOUP_ENCODING_CHUNKED);
      soup_message_body_set_accumulate(soup_server_message_get_response_body(message), FALSE);
    }
    // The boundary behind a picture lets browsers show it at once.
    std::string part = viewer->is_started ? "" : kBoundary;
    part += "Content-Type: image/jpeg\r\nContent-Length: ";
    part += std::to_string(picture.jpeg.size());
    part += "\r\n\r\n";
    part += picture.jpeg;
    part += "\r\n";
    part += kBoundary;
    soup_message_body_append(soup_server_message_get_response_body(message), SOUP_MEMORY_COPY,
                             part.data(), part.size());
    viewer->is_started = viewer->is_writing = true;
    viewer->last = picture.number;
    soup_server_message_unpause(message);
  }

  bool finish(Viewer* viewer, const Response& response) {
    SoupServerMessage* message = viewer->message;
    if (viewer->is_started) {
      soup_message_body_complete(soup_server_message_get_response_body(message));
    } else {
      send(message, response);
    }
    g_object_ref(message);
    forget(viewer);
    soup_server_message_unpause(message);
    g_object_unref(message);
    return false;
  }

  void forget(Viewer* viewer) {
    viewers.erase(viewer);
    g_signal_handlers_disconnect_by_data(viewer->message, viewer);
    // A timer that calls this removes itself too; GLib allows both.
    if (viewer->timer) {
      g_source_remove(viewer->timer);
    }
    g_object_unref(viewer->message);
    delete viewer;
  }

  Access access;
  Context context;
  SoupServer* soup;
  GSocketService* listener = nullptr;
  std::map<GObject*, Connection> connections;
  std::set<Viewer*> viewers;
};

Server::Server(Fleet& fleet, const ServerConfig& config, std::function<void()> on_reload)
    : impl_(std::make_unique<Impl>(fleet, config, std::move(on_reload))) {}
Server::~Server() = default;

}  // namespace npustream::web

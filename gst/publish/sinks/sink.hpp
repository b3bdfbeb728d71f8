// Sinks, one for each kind of location, and what they share.
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/refs.hpp"

namespace gstnpu {

/// Why nothing can be published, or a line cannot, and what to do next.
struct PublishError : std::runtime_error {
  explicit PublishError(const std::string& text, GstResourceError why = GST_RESOURCE_ERROR_WRITE)
      : std::runtime_error(text), code(why) {}

  GstResourceError code;
};

/// Throws a PublishError about what the user has set.
[[noreturn]] inline void refuse(const std::string& text) {
  throw PublishError(text, GST_RESOURCE_ERROR_SETTINGS);
}

/// A parsed `location` of npupublish.
struct Location {
  enum class Kind { kFile, kUnix, kTcp, kMqtt, kMqtts, kKafka };

  Kind kind = Kind::kFile;
  std::string text;     ///< as the user wrote it, for messages
  std::string path;     ///< of kFile and kUnix
  int descriptor = -1;  ///< of kFile, in place of the path: one that the process began with
  std::string host;     ///< of kTcp and MQTT; of kKafka the list HOST[:PORT],...
  int port = 0;         ///< of kTcp and MQTT
  std::string topic;    ///< of brokers

  bool is_mqtt() const { return kind == Kind::kMqtt || kind == Kind::kMqtts; }
};

/// Throws PublishError where it is none. One that names a user is refused, and not shown: all who
/// see the pipeline would see the password.
Location parse_location(const std::string& text);

/// Names the destination in the user's words, for messages.
std::string describe_location(const std::string& text);

/// Settings of a broker's client library, by its names, in the user's order.
using BrokerConfig = std::vector<std::pair<std::string, std::string>>;

/// Reads the entries of broker-config-file (KEY=VALUE in each line, # before remarks) and, behind
/// them, those of broker-config (KEY=VALUE,KEY=VALUE; a comma in a value is written \,). Throws
/// PublishError; messages show no value.
BrokerConfig read_broker_config(const std::string& file, const std::string& property);

/// Hears from a sink what becomes of its lines, and cancels it. Any thread. It outlives the sink.
class Ledger {
 public:
  virtual ~Ledger() = default;
  virtual GCancellable* cancel() const = 0;
  bool is_cancelled() const { return g_cancellable_is_cancelled(cancel()) != 0; }
  virtual void note_out(std::size_t lines) = 0;
  virtual void note_failed(std::size_t lines, const PublishError& why) = 0;
  /// About faults that may pass, while lines wait.
  virtual void warn(const std::string& text) = 0;
};

/// Destination of lines. One thread calls it. Lines that are neither out nor failed when it ends
/// are lost. Constructors throw PublishError.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Takes a whole line; waits until it can. False: cancelled, after which nothing is waited for.
  /// Throws PublishError where the line has failed.
  virtual bool write(std::string_view line) = 0;
};

struct SinkOptions {
  bool append = false;  ///< keep what a file holds
  BrokerConfig broker;
  std::string stream_id;  ///< whose lines they are; empty: nobody has said
};

/// Waits so long. False: cancelled.
inline bool pause(GCancellable* cancel, gint64 milliseconds) {
  GPollFD cancelled;
  if (milliseconds > 0 && g_cancellable_make_pollfd(cancel, &cancelled)) {
    g_poll(&cancelled, 1, static_cast<gint>(milliseconds));
    g_cancellable_release_fd(cancel);
  }
  return !g_cancellable_is_cancelled(cancel);
}

/// Attempts at a destination that is away: each waits longer, and one is told of, until one was of
/// use.
class Backoff {
 public:
  /// False: cancelled.
  bool wait(GCancellable* cancel) {
    const bool goes_on = pause(cancel, next_ms_);
    next_ms_ = CLAMP(2 * next_ms_, kFirstMs, kLongestMs);
    return goes_on;
  }
  /// Whether nobody has been told yet.
  bool is_news() { return !std::exchange(is_told_, true); }
  void reset() { *this = {}; }

 private:
  static constexpr gint64 kFirstMs = 200, kLongestMs = 5000;

  gint64 next_ms_ = 0;
  bool is_told_ = false;
};

/// Opens what npupublish's `location` names.
std::unique_ptr<Sink> open_sink(const std::string& location, const SinkOptions& options,
                                Ledger& ledger);

using MakeSink = std::unique_ptr<Sink>(const Location& location, const SinkOptions& options,
                                       Ledger& ledger);

/// Writes to a file, or to a descriptor that the process began with. A line that fails is taken
/// back from a file; elsewhere the next line begins on a new one.
MakeSink make_file_sink;
/// Writes to whoever listens at a socket, over and over again. A line that was cut is sent again,
/// whole, to the next reader.
MakeSink make_socket_sink;
/// libmosquitto's client. Lines are messages, without their newline.
MakeSink make_mqtt_sink;
/// librdkafka's idempotent producer. Lines are messages, without their newline.
MakeSink make_kafka_sink;

}  // namespace gstnpu

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kafka_settings.hpp"
#include "mqtt_settings.hpp"

namespace gstnpu {

/// Destination of lines. Single-threaded, except interrupt(). Failures that do not pass by
/// themselves throw: std::system_error for the system's, npu::Error for all others. A call that
/// throws has lost one line, the oldest that was not out; the next call goes on with those behind
/// it. Lines that are not out at the end are lost.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Takes a whole line. False: interrupted before it was out; the next call goes on from there.
  virtual bool write(std::string_view line) = 0;
  /// Waits until all lines are out, or some of many: held() says. False: interrupted.
  virtual bool flush() = 0;
  /// Lines that it took and that are neither out nor lost.
  virtual std::size_t held() const { return 0; }
  /// Whether the lines that it holds are still to be acknowledged: flush() is then called while no
  /// line waits.
  virtual bool awaits_answers() const { return false; }

  /// Stops all waits for a reader or a server, until resume(). Any thread.
  virtual void interrupt() = 0;
  virtual void resume() = 0;
};

struct SinkOptions {
  bool append = false;        ///< keep what a file holds
  bool flush_always = false;  ///< each line reaches a file at once
  /// Warns about faults that do not pass by themselves; called by the thread that writes.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  MqttSettings mqtt;
  KafkaSettings kafka;
  std::string stream_id;  ///< whose lines they are; empty: nobody has said
};

/// Opens what `location` names: a broker (mqtt://, mqtts:// or kafka://HOST/TOPIC), a socket
/// (tcp://HOST:PORT, unix:PATH), a file, or stdout where it is empty or "-".
std::unique_ptr<Sink> make_sink(const std::string& location, const SinkOptions& options);
/// Names the destination in the user's words, for messages.
std::string describe_sink(const std::string& location);

}  // namespace gstnpu

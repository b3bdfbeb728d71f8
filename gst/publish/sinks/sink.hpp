#pragma once

#include <gio/gio.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gstnpu {

struct ObjectUnreference {
  void operator()(gpointer object) const { g_object_unref(object); }
};
template <class T>
using GObjectRef = std::unique_ptr<T, ObjectUnreference>;

/// Hears from a sink what becomes of its lines. Any thread.
class Ledger {
 public:
  virtual ~Ledger() = default;
  virtual void note_out(std::size_t lines) = 0;
  /// std::system_error for the system's failures, npu::Error for all others.
  virtual void note_failed(std::size_t lines, std::exception_ptr why) = 0;
  /// About faults that may pass, while lines wait.
  virtual void warn(const std::string& text) = 0;
};

/// Destination of lines. One thread calls it. Lines that are neither out nor failed when it ends
/// are lost. Constructors throw std::system_error or npu::Error.
class Sink {
 public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Takes a whole line; waits until it can. False: cancelled, after which nothing is waited for.
  virtual bool write(std::string_view line) = 0;
};

/// Settings of a broker's client library, by its names, in the user's order.
using BrokerConfig = std::vector<std::pair<std::string, std::string>>;

struct SinkOptions {
  bool append = false;  ///< keep what a file holds
  BrokerConfig broker;
  std::string stream_id;  ///< whose lines they are; empty: nobody has said
};

/// Whom a sink reports to, and who cancels it; both outlive it.
struct SinkPeers {
  Ledger& ledger;
  GCancellable* cancel;
};

}  // namespace gstnpu

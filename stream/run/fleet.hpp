// All streams of one process. Everything here is called on the main context's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/config.hpp"

#include "snapshot.hpp"

namespace npustream {

/// One that is asked for does not exist; the text names it.
class NotFound : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The file was changed by somebody else since it was read.
class Conflict : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fleet {
 public:
  explicit Fleet(Config config);
  ~Fleet();  // stops what still plays, without draining
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  /// Starts all streams.
  void start();
  /// Reads the file again: starts, changes and stops what differs. Throws ConfigError, and then
  /// nothing has changed.
  void reload();
  /// Ends all streams, lets lines out, and calls `done` within a second.
  void drain(std::function<void()> done);

  /// Ready: the file was read and each stream that is not paused has been started once.
  bool is_ready() const;

  const Config& config() const;
  std::vector<StreamSnapshot> streams() const;
  /// Throws NotFound, as all of these do.
  StreamSnapshot stream(const std::string& id) const;
  /// The objects of the latest frame, as a line of npupublish has it: {"pts", "width", "height",
  /// "detections"}.
  Json objects(const std::string& id) const;
  /// The latest picture, drawn on as `overlay` says. Null: none yet; ask again soon. Pictures are
  /// made as long as somebody asks at least once in 3 seconds. `width`: 0 for the frame's own, at
  /// most 3840.
  PicturePtr picture(const std::string& id, int width);

  /// Edits. They take effect at once and are written to the file, which keeps its comments and
  /// order. Throw ConfigError or Conflict, and then nothing has changed; std::runtime_error where
  /// the file cannot be written. `stream`: the keys of a stream in the file.
  void add(const Json& stream);
  /// `changes`: keys to set; null removes one; "paused" is one of them.
  void change(const std::string& id, const Json& changes);
  void remove(const std::string& id);

  /// Events with a number above `after`, oldest first; the last 200 are kept.
  std::vector<Event> events(std::uint64_t after) const;
  std::vector<DeviceReading> devices() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace npustream

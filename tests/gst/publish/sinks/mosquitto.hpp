// A real MQTT broker, somebody who subscribes to all its topics, and certificates for them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gst/hand_made_frames.hpp"

#include "child_process.hpp"
#include "loopback.hpp"

namespace gstnpu_test {

class Mosquitto {
 public:
  static bool is_installed();
  /// `more`: lines of its configuration. Not started.
  explicit Mosquitto(const std::vector<std::string>& more = {"allow_anonymous true"});

  void start();
  /// SIGKILL: without a word to its clients, and all is lost that is not in its file.
  void end(int signal = SIGKILL) { process_->end(signal); }
  /// Holds it up, and lets it go on.
  void pause() { process_->halt(); }
  void go_on() { process_->go_on(); }
  /// Writes who subscribes into its file, so that it knows them after SIGKILL.
  void save();

  int port() const { return port_.number(); }
  std::string location(const std::string& topic) const {
    return "mqtt://127.0.0.1:" + std::to_string(port()) + "/" + topic;
  }
  std::string log() const { return folder_.read("log"); }
  const TempFolder& folder() const { return folder_; }

 private:
  const TempFolder folder_;
  const ReservedPort port_;
  std::optional<ChildProcess> process_;
};

/// Takes all messages of the topics, also those that come while it is not connected.
class Subscriber {
 public:
  /// `quality`: 2 takes each message as its publisher has sent it, 0 each once.
  explicit Subscriber(Mosquitto& broker, const std::string& topic = "#", int quality = 2,
                      const std::vector<std::string>& more = {});

  /// Whole lines.
  std::vector<std::string> lines() const;
  /// How often each frame's line has come.
  std::map<guint64, int> frames() const;

 private:
  const TempFolder folder_;
  std::optional<ChildProcess> process_;
};

/// A folder with certificates (NAME.pem, NAME.key) of an authority "ca", of a "broker" at localhost
/// and of a "client", which it has signed, and of an authority "other" that signed none. Empty
/// where openssl is not installed.
class Certificates {
 public:
  Certificates();

  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  /// `more`: its signer.
  void make(const std::string& name, const std::string& more = {}) const;

  const TempFolder folder_;
};

}  // namespace gstnpu_test

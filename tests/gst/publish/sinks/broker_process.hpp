#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gst/hand_made_frames.hpp"

#include "child_process.hpp"
#include "loopback.hpp"

namespace gstnpu_test {

/// A broker of tests/support, which says what its options mean, at a port and with a folder of its
/// own.
class BrokerProcess {
 public:
  static bool is_installed() { return !find_program("python3").empty(); }

  void start() { start_with(options_); }
  /// Starts with these options instead.
  void start_with(const std::vector<std::string>& options);
  void kill() { process_->end(SIGKILL); }
  /// It answers nothing until it goes on.
  void halt() { process_->halt(); }
  void go_on() { process_->go_on(); }

  int port() const { return port_.number(); }

 protected:
  /// Not started. `script`: its path.
  BrokerProcess(std::string script, std::vector<std::string> options)
      : script_(std::move(script)), options_(std::move(options)) {}
  /// Lines of a file in its folder.
  std::vector<std::string> lines_of(const std::string& file) const;

 private:
  const std::string script_;
  const std::vector<std::string> options_;
  const TempFolder folder_;
  const ReservedPort port_;
  std::optional<ChildProcess> process_;
};

}  // namespace gstnpu_test

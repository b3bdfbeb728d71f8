#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "library.hpp"
#include "message.hpp"

namespace npu_vcl {

/// A compiler library behind messages, so that it can run in another process than its user. The
/// requests, each with its answer:
///
///   - compiler {device, revision, tiles, log_level}: compiler {id, major, minor, opset, options}
///   - takes {option, value}: takes {yes}; without it: cannot tell
///   - compile {ir, addresses, weights, constants, build_flags}: done {blob, compile_ns,
///   driver_log}
///   - query {ir, addresses, weights, constants, build_flags}: layers {names, driver_log}
///
/// A failure is answered by error {code, what, driver_log, result}, and does not end the service.
/// `result`: the library's own; 0 if it was not asked. `addresses`: the places where the IR's text
/// has 20 digits of room for an address, one a line: the place in ir, "weights" or "constants", and
/// the offset in these.
class Service {
 public:
  using Contents = std::map<std::string, std::span<const std::byte>>;

  /// Loads the library. Throws Failure.
  explicit Service(const std::string& library) : library_(library) {}
  /// The first message to send.
  Message ready() const;
  /// Answers `request`; `contents` holds its files.
  Message answer(const Message& request, const Contents& contents) noexcept;

 private:
  Message make_compiler(const Message& request);
  Message tell_whether_taken(const Message& request) const;
  Message compile(const Message& request, const Contents& contents);
  Message query(const Message& request, const Contents& contents);
  Compiler& compiler() const;

  Library library_;
  std::unique_ptr<Compiler> compiler_;
};

/// The message that reports a failure.
Message error_message(const Failure& failure);

}  // namespace npu_vcl

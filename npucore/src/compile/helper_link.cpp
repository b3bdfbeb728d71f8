#include "helper_link.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLastWords = 8192;
constexpr std::size_t kMostWords = std::size_t{16} << 20;

/// The program, or HelperUnavailable with the reason why there is none.
HelperProgram checked(HelperProgram program) {
  if (program.path.empty()) {
    throw HelperUnavailable("npu-compile-helper is neither near the library nor in libexec");
  }
  return program;
}

/// Whether one of them is ready. A process may be so limited that poll() fails.
bool wait_for_one(std::span<pollfd> places, int timeout_ms) {
  const int happened = ::poll(places.data(), places.size(), timeout_ms);
  if (happened < 0 && errno != EINTR) {
    throw Error(ErrorCode::kIo,
                text("the helper process that compiles cannot be waited for: poll: ",
                     base::errno_text(errno)));
  }
  return happened > 0;
}

ErrorCode code_from(const std::string& words) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    if (words == to_string(static_cast<ErrorCode>(code))) return static_cast<ErrorCode>(code);
  }
  return ErrorCode::kInternal;
}

}  // namespace

HelperLink::Deadline compile_deadline(const Properties& properties) {
  const std::chrono::seconds most(properties.get(property::compile_timeout));
  if (most.count() == 0) return std::nullopt;
  return std::chrono::steady_clock::now() + most;
}

Error error_in(const Message& message) {
  const std::string what = message.text("what");
  return {code_from(message.text("code")),
          what.empty() ? "the helper process that compiles failed and did not say why" : what,
          message.text("driver_log")};
}

HelperLink::HelperLink(HelperProgram program, Cancellation* cancellation, Deadline deadline) try
    : program_(checked(std::move(program))),
      cancellation_(cancellation),
      deadline_(deadline),
      ready_before_(Clock::now() + program_.start_limit),
      process_(program_.path, program_.arguments),
      ends_(cancellation, [this] { process_.kill(); }),
      reader_(program_.most_message_bytes) {
} catch (const Error& error) {
  throw HelperUnavailable(error.what());
}

void HelperLink::send(const Message& message, const std::string& task) {
  try {
    send_message(process_.socket(), message, [&](int) { wait_for_room(task); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    keep(error.what());
    process_.kill();
  }
}

/// A program that speaks another protocol counts as no helper.
Message HelperLink::next(const std::string& task) {
  if (ready_) return next_of_any_kind(task);
  try {
    Message first = next_of_any_kind(task);
    ready_ = first.kind == "ready";
    return first;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    throw HelperUnavailable(error.what());
  }
}

Message HelperLink::next_of_any_kind(const std::string& task) {
  for (;;) {
    while (auto message = reader_.next()) {
      if (message->kind != "log") return std::move(*message);
      forward(*message);
    }
    if (ended_) {
      fail_ended(task);
    }
    wait_for_something(task);
  }
}

void HelperLink::wait_for_something(const std::string& task) {
  std::array<pollfd, 3> places = {{{process_.socket(), POLLIN, 0},
                                   {errors_ended_ ? -1 : process_.errors(), POLLIN, 0},
                                   {process_.pidfd(), POLLIN, 0}}};
  if (!wait_for_one(places, milliseconds_left(task))) return;
  read_errors();
  switch (reader_.read(process_.socket())) {
    case MessageReader::Read::kSome:
      return;  // there may be more to read, and this may be a message already
    case MessageReader::Read::kEnd:
      ended_ = true;
      return;
    case MessageReader::Read::kNothingYet:
      ended_ = places[2].revents != 0;
  }
}

/// Waits while the process does not read; it may print. No longer than the deadline.
void HelperLink::wait_for_room(const std::string& task) {
  std::array<pollfd, 2> places = {
      {{process_.socket(), POLLOUT, 0}, {errors_ended_ ? -1 : process_.errors(), POLLIN, 0}}};
  if (wait_for_one(places, milliseconds_left(task))) {
    read_errors();
  }
}

/// A timeout for poll(), at most a second; -1 without a limit.
int HelperLink::milliseconds_left(const std::string& task) {
  constexpr std::int64_t kMost = 1000;
  const auto left_of = [](Clock::time_point limit) {
    return std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
  };
  auto left = deadline_ || !ready_ ? kMost : -1;
  if (deadline_) {
    left = std::min<std::int64_t>(left, left_of(*deadline_));
    if (left <= 0) {
      fail_late(task);
    }
  }
  if (!ready_) {
    left = std::min<std::int64_t>(left, left_of(ready_before_));
    if (left <= 0) {
      process_.kill();
      throw HelperUnavailable(text("it did not open ", program_.opens, " within ",
                                   program_.start_limit.count(), " ms", complaint()));
    }
  }
  return static_cast<int>(left);
}

/// Prints what the compiler prints, as if it compiled here. Reads a limited number of chunks, so
/// that a compiler that never stops printing is still ended in time.
void HelperLink::read_errors() {
  constexpr int kMostChunks = 64;
  std::array<char, 4096> chunk;
  for (int i = 0; i < kMostChunks; ++i) {
    const ssize_t got = ::read(process_.errors(), chunk.data(), chunk.size());
    if (got <= 0) {
      errors_ended_ = got == 0;  // stop polling: a compiler may close it and go on
      return;
    }
    keep({chunk.data(), static_cast<std::size_t>(got)});
  }
}

const std::string& HelperLink::printed() {
  read_errors();
  return printed_;
}

/// For an error's log: the last lines. Where all is kept, most of it is output that was asked for.
std::string HelperLink::last_words() const {
  constexpr int kLines = 10;
  std::size_t begin = printed_.size();
  for (int line = 0; !program_.echoes && line < kLines && begin != 0; ++line) {
    begin = begin < 2 ? 0 : printed_.rfind('\n', begin - 2) + 1;
  }
  return program_.echoes ? printed_ : printed_.substr(begin);
}

/// The last words of a program that never got ready, unless they were echoed.
std::string HelperLink::complaint() const {
  constexpr std::size_t kMost = 1000;
  if (program_.echoes) return {};
  std::string words = last_words();
  words.erase(words.find_last_not_of("\r\n ") + 1);
  words.erase(0, words.size() - std::min(words.size(), kMost));
  return words.empty() ? "" : "; the last that it printed: " + words;
}

void HelperLink::keep(std::string_view words) {
  if (program_.echoes) {
    std::fwrite(words.data(), 1, words.size(), stderr);
  }
  printed_.append(words);
  const std::size_t most = program_.echoes ? kLastWords : kMostWords;
  if (printed_.size() > 2 * most) {  // seldom, because it moves the rest
    printed_.erase(0, printed_.size() - most);
  }
}

void HelperLink::forward(const Message& message) const {
  constexpr std::size_t kMostLogged = 65536;
  const std::uint64_t quietest = static_cast<std::uint64_t>(LogLevel::kDebug);
  base::log(static_cast<LogLevel>(std::min(message.number("level"), quietest)),
            message.text("words").substr(0, kMostLogged));
}

void HelperLink::fail_ended(const std::string& task) {
  if (cancellation_ && cancellation_->requested()) {
    throw Error(ErrorCode::kCancelled, text("compiling ", task, " was cancelled"));
  }
  const std::string ending = process_.wait_or_kill();
  read_errors();
  if (!ready_) {
    throw HelperUnavailable(text("it could not open ", program_.opens, ": ", ending, complaint()));
  }
  const bool killed = process_.was_killed();
  throw Error(killed ? ErrorCode::kOutOfMemory : ErrorCode::kCompileFailed,
              text("the helper process that was compiling ", task, " is gone: ", ending,
                   killed ? ", as the kernel does when memory runs out"
                          : "; the log has what it printed last",
                   "; free memory, try another NPU driver, or simplify the model"),
              last_words());
}

void HelperLink::fail_late(const std::string& task) {
  process_.kill();
  process_.wait();
  read_errors();
  throw Error(ErrorCode::kTimeout,
              text("compiling ", task,
                   " took longer than NPUCORE_COMPILE_TIMEOUT allows and was "
                   "ended: allow more seconds, or 0 for any time"),
              last_words());
}

}  // namespace npu::internal

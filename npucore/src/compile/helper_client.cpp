#include "helper_client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include <npucore/error.hpp>

#include "base/log.hpp"
#include "base/text.hpp"

namespace npu::internal {
namespace {

using base::text;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLastWords = 8192;

std::filesystem::path program_or_fail() {
  auto program = helper_program();
  if (program.empty()) {
    throw HelperUnavailable("npu-compile-helper is neither near the library nor in libexec");
  }
  return program;
}

std::unique_ptr<HelperProcess> start(const DeviceInfo& device) {
  const std::vector<std::string> arguments = {device.is_software ? "software" : "npu",
                                              std::to_string(device.driver_version)};
  try {
    return std::make_unique<HelperProcess>(program_or_fail(), arguments);
  } catch (const Error& error) {
    throw HelperUnavailable(error.what());
  }
}

/// The .bin itself where it is mapped, else a copy of its bytes.
Content weights_content(const ir::Weights& weights) {
  const auto bytes = weights.file_bytes();
  base::UniqueFd fd(::fcntl(weights.file_fd(), F_DUPFD_CLOEXEC, 0));
  if (fd) return {std::move(fd), bytes.size()};
  return shared_copy("npucore-weights", bytes);
}

Message message_of(const HelperTask& task) {
  Message message{"compile"};
  auto& texts = message.texts;
  texts["title"] = task.title;
  texts["major"] = std::to_string(task.version.major);
  texts["minor"] = std::to_string(task.version.minor);
  texts["opset"] = std::to_string(task.version.newest_opset);
  texts["weightless"] = std::to_string(task.weightless);
  texts["threshold"] = std::to_string(task.threshold_bytes);
  if (task.input_hash) {
    texts["input_hash"] = std::to_string(*task.input_hash);
  }
  texts["build_flags"] = task.build_flags;
  texts["profile_layers"] = std::to_string(task.profile_layers);
  texts["bypass_cache"] = std::to_string(task.bypass_cache);
  texts["memory_limit"] = std::to_string(task.memory_limit_bytes);
  message.contents["model"] =
      shared_copy("npucore-model", std::as_bytes(std::span(task.model.xml)));
  message.contents["weights"] = weights_content(task.model.weights);
  message.contents["constants"] = shared_copy("npucore-constants", task.model.weights.tail());
  return message;
}

/// A sandbox may forbid memory files.
Message shared(const HelperTask& task) {
  try {
    return message_of(task);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    throw HelperUnavailable(error.what());
  }
}

[[noreturn]] void throw_what_it_said(const Message& message) {
  const auto code = static_cast<ErrorCode>(message.number("code"));
  throw Error(code, message.text("what"), message.text("driver_log"));
}

}  // namespace

HelperClient::HelperClient(const DeviceInfo& device, Cancellation* cancellation, Deadline deadline,
                           std::chrono::milliseconds start_limit)
    : device_(device),
      cancellation_(cancellation),
      deadline_(deadline),
      start_limit_(start_limit),
      ready_before_(Clock::now() + start_limit),
      process_(start(device)),
      ends_(cancellation, [this] { process_->kill(); }) {}

HelperResult HelperClient::compile(const HelperTask& task,
                                   const std::function<void()>& on_compiling) {
  for (;;) {
    Message message = ready_ ? next_message(task.title) : first_message(task.title);
    if (message.kind == "ready") {
      ready_ = true;
      send(shared(task));
    } else if (message.kind == "compiling") {
      on_compiling();
    } else if (message.kind == "unavailable") {
      throw HelperUnavailable(message.text("what"));
    } else if (message.kind == "error") {
      throw_what_it_said(message);
    } else if (message.kind == "done") {
      process_->kill();  // it has nothing left to do, and its memory is wanted back
      return {ContentView::of_sealed(std::move(message.contents["blob"])),
              message.number("serialized_bytes"), message.number("compile_ns"),
              message.number("from_driver_cache") != 0};
    }
  }
}

/// A program that does not speak as this one does is none to compile in.
Message HelperClient::first_message(const std::string& title) {
  try {
    return next_message(title);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    throw HelperUnavailable(error.what());
  }
}

/// Where the process is gone, the next message tells how it ended.
void HelperClient::send(const Message& message) {
  try {
    send_message(process_->socket(), message);
  } catch (const Error& error) {
    last_words_ = error.what();
    process_->kill();
  }
}

/// The next one that is no log.
Message HelperClient::next_message(const std::string& title) {
  for (;;) {
    while (auto message = reader_.next()) {
      if (message->kind != "log") return std::move(*message);
      forward(*message);
    }
    if (ended_) {
      fail_ended(title);
    }
    wait_for_something(title);
  }
}

void HelperClient::wait_for_something(const std::string& title) {
  std::array<pollfd, 3> places = {{{process_->socket(), POLLIN, 0},
                                   {errors_ended_ ? -1 : process_->errors(), POLLIN, 0},
                                   {process_->pidfd(), POLLIN, 0}}};
  if (::poll(places.data(), places.size(), milliseconds_left(title)) <= 0) return;
  read_errors();
  switch (reader_.read(process_->socket())) {
    case MessageReader::Read::kSome:
      return;  // there may be more, and what is here may be a message
    case MessageReader::Read::kEnd:
      ended_ = true;
      return;
    case MessageReader::Read::kNothingYet:
      ended_ = places[2].revents != 0;
  }
}

/// For poll(): not all of it at once, -1 without a limit.
int HelperClient::milliseconds_left(const std::string& title) {
  constexpr std::int64_t kMost = 1000;
  const auto left_of = [](Clock::time_point limit) {
    return std::chrono::ceil<std::chrono::milliseconds>(limit - Clock::now()).count();
  };
  auto left = deadline_ || !ready_ ? kMost : -1;
  if (deadline_) {
    left = std::min<std::int64_t>(left, left_of(*deadline_));
    if (left <= 0) {
      fail_late(title);
    }
  }
  if (!ready_) {
    left = std::min<std::int64_t>(left, left_of(ready_before_));
    if (left <= 0) {
      process_->kill();
      throw HelperUnavailable(
          text("it did not open ", device_.name, " within ", start_limit_.count(), " ms"));
    }
  }
  return static_cast<int>(left);
}

/// What a compiler prints is printed here, as if it compiled here. One that never stops printing is
/// still ended in time.
void HelperClient::read_errors() {
  constexpr int kMostChunks = 64;
  std::array<char, 4096> chunk;
  for (int i = 0; i < kMostChunks; ++i) {
    const ssize_t got = ::read(process_->errors(), chunk.data(), chunk.size());
    if (got <= 0) {
      errors_ended_ = got == 0;  // a compiler may close it and go on: not to be polled any more
      return;
    }
    std::fwrite(chunk.data(), 1, static_cast<std::size_t>(got), stderr);
    last_words_.append(chunk.data(), static_cast<std::size_t>(got));
    if (last_words_.size() > kLastWords) {
      last_words_.erase(0, last_words_.size() - kLastWords);
    }
  }
}

void HelperClient::forward(const Message& message) const {
  const std::uint64_t quietest = static_cast<std::uint64_t>(LogLevel::kDebug);
  base::log(static_cast<LogLevel>(std::min(message.number("level"), quietest)),
            message.text("words"));
}

void HelperClient::fail_ended(const std::string& title) {
  if (cancellation_ && cancellation_->requested()) {
    throw Error(ErrorCode::kCancelled, text("compiling ", title, " was cancelled"));
  }
  const std::string ending = process_->wait_or_kill();
  read_errors();
  if (!ready_) {
    throw HelperUnavailable(text("it could not open ", device_.name, ": ", ending));
  }
  const bool killed = process_->was_killed();
  throw Error(killed ? ErrorCode::kOutOfMemory : ErrorCode::kCompileFailed,
              text("the helper process that was compiling ", title, " is gone: ", ending,
                   killed ? ", as the kernel does when memory runs out"
                          : "; the log has what it printed last",
                   "; free memory, try another NPU driver, or simplify the model"),
              last_words_);
}

void HelperClient::fail_late(const std::string& title) {
  process_->kill();
  process_->wait();
  read_errors();
  throw Error(ErrorCode::kTimeout,
              text("compiling ", title,
                   " took longer than NPUCORE_COMPILE_TIMEOUT allows and was "
                   "ended: allow more seconds, or 0 for any time"),
              last_words_);
}

}  // namespace npu::internal

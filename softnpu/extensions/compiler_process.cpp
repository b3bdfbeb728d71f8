#include "compiler_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <npu_vcl/spawn.hpp>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;

/// The environment without SOFTNPU_COMPILER: if the served library is the software NPU's, it must
/// answer by itself.
std::vector<char*> environment_of_child() {
  std::vector<char*> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("SOFTNPU_COMPILER=")) {
      variables.push_back(*variable);
    }
  }
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

CompilerProcess::CompilerProcess(const std::string& program, std::chrono::milliseconds start_limit)
    : program_(program),
      parent_(::getpid()),
      ready_before_(std::chrono::steady_clock::now() + start_limit),
      decoder_(kMostBytes) {
  try {
    const auto child = npu_vcl::spawn(program, {program}, environment_of_child().data(), false);
    pid_ = child.pid;
    socket_ = UniqueFd(child.socket);
    errors_ = UniqueFd(child.errors);
  } catch (const npu_vcl::SpawnFailure& failure) {
    fail(std::strerror(failure.error));
  }
}

void CompilerProcess::end() noexcept {
  const pid_t pid = pid_.exchange(-1);
  if (pid < 0 || ::getpid() != parent_) return;
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool CompilerProcess::ended() const {
  return pid_ < 0 || ::getpid() != parent_;
}

npu_vcl::Message CompilerProcess::ask(const npu_vcl::Message& request) try {
  if (!ready_) {
    wait_until_ready();
  }
  send(request);
  return receive();
} catch (const npu_vcl::BadMessage& error) {
  fail(error.what());
}

void CompilerProcess::wait_until_ready() {
  const npu_vcl::Message first = receive();
  if (first.kind != "ready") {
    fail(first.text("what"));
  }
  ready_ = true;
}

void CompilerProcess::send(const npu_vcl::Message& message) {
  const auto bytes = npu_vcl::encode(message);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t wrote = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) {
      wait_for(POLLOUT);
      continue;
    }
    if (wrote <= 0) {
      fail("it ended while it was asked");
    }
    sent += static_cast<std::size_t>(wrote);
  }
}

npu_vcl::Message CompilerProcess::receive() {
  std::vector<std::byte> chunk(std::size_t{1} << 16);
  for (;;) {
    if (auto message = decoder_.next()) return std::move(*message);
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
      wait_for(POLLIN);
      continue;
    }
    if (got <= 0) {
      fail("it ended without an answer");
    }
    decoder_.append(std::span(chunk).first(static_cast<std::size_t>(got)));
  }
}

/// A timeout for poll(): -1 once the program is ready, because compiling may take any time.
int CompilerProcess::milliseconds_left() {
  if (ready_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(ready_before_ -
                                                                 std::chrono::steady_clock::now());
  if (left.count() <= 0) {
    fail("it was not ready in time");
  }
  return static_cast<int>(left.count());
}

/// Waits for the program, which may print all the while.
void CompilerProcess::wait_for(short what) {
  std::array<pollfd, 2> places = {{{socket_.get(), what, 0}, {errors_.get(), POLLIN, 0}}};
  ::poll(places.data(), places.size(), milliseconds_left());
  read_errors();
}

void CompilerProcess::read_errors() {
  constexpr std::size_t kMostWords = 1000;
  std::array<char, 65536> chunk;  // the capacity of a pipe
  const ssize_t got = ::read(errors_.get(), chunk.data(), chunk.size());
  if (got == 0) {
    errors_.reset();
  }
  if (got <= 0) return;
  words_.append(chunk.data(), static_cast<std::size_t>(got));
  if (words_.size() > kMostWords) {
    words_.erase(0, words_.size() - kMostWords);
  }
}

void CompilerProcess::fail(const std::string& what) {
  end();
  read_errors();
  throw Failure(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "SOFTNPU_COMPILER=real cannot ask " + program_ +
                    ", which SOFTNPU_COMPILER_LIBRARY names: " + what +
                    (words_.empty() ? "" : "; its last words: " + words_));
}

}  // namespace softnpu

#include "compiler_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
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

/// Gives the child its streams, no other descriptor, and default signals.
class SpawnPlan {
 public:
  SpawnPlan(int socket, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
#if __GLIBC_PREREQ(2, 34)
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    ::posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  /// Returns 0, or an error number.
  int spawn(std::string program, pid_t& pid) const {
    char* const arguments[] = {program.data(), nullptr};
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments,
                         environment_of_child().data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Moves the descriptor above the standard streams' numbers, which this process may have closed.
UniqueFd clear_of_streams(int fd) {
  const UniqueFd given(fd);
  return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Moves two ends, ours first.
std::array<UniqueFd, 2> clear_of_streams(const std::array<int, 2>& ends) {
  return {clear_of_streams(ends[0]), clear_of_streams(ends[1])};
}

}  // namespace

CompilerProcess::CompilerProcess(const std::string& program, std::chrono::milliseconds start_limit)
    : program_(program),
      parent_(::getpid()),
      ready_before_(std::chrono::steady_clock::now() + start_limit),
      decoder_(kMostBytes) {
  std::array<int, 2> socket = {-1, -1}, errors = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket.data()) != 0) {
    fail(std::strerror(errno));
  }
  auto [our_socket, their_socket] = clear_of_streams(socket);
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) {
    fail(std::strerror(errno));
  }
  auto [our_errors, their_errors] = clear_of_streams(errors);
  if (!our_socket || !their_socket || !our_errors || !their_errors) {
    fail(std::strerror(EMFILE));
  }
  ::fcntl(our_errors.get(), F_SETFL, O_NONBLOCK);
  pid_t pid = -1;
  const int error = SpawnPlan(their_socket.get(), their_errors.get()).spawn(program, pid);
  if (error != 0) {
    fail(std::strerror(error));
  }
  pid_ = pid;
  socket_ = std::move(our_socket);
  errors_ = std::move(our_errors);
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

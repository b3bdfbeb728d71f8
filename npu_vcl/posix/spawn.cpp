#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <npu_vcl/spawn.hpp>

namespace npu_vcl {
namespace {

/// A connection, both ends of which are closed with it.
struct Ends {
  Ends(const char* call, int (*make)(int* ends)) {
    int ends[2] = {};
    if (make(ends) != 0) throw SpawnFailure(call, errno);
    ours = ends[0];
    theirs = ends[1];
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    ::close(ours);
    ::close(theirs);
  }

  int ours = -1, theirs = -1;
};

pid_t start(const std::string& program, char* const* words, char* const* environment,
            bool own_group, const Ends& socket, const Ends& errors) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, socket.theirs, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, socket.theirs, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors.theirs, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  ::posix_spawnattr_setflags(&attributes,
                             static_cast<short>(own_group ? flags | POSIX_SPAWN_SETPGROUP : flags));
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, words, environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw SpawnFailure(program, error);
  return pid;
}

}  // namespace

int clear_of_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
  ::close(fd);
  if (moved < 0) throw SpawnFailure("fcntl", error);
  return moved;
}

Child spawn(const std::string& program, std::vector<std::string> words, char* const* environment,
            bool own_group) {
  Ends socket("socketpair",
              [](int* ends) { return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends); });
  Ends errors("pipe2", [](int* ends) { return ::pipe2(ends, O_CLOEXEC); });
  for (int* end : {&socket.ours, &errors.ours, &socket.theirs, &errors.theirs}) {
    *end = clear_of_streams(std::exchange(*end, -1));
  }
  ::fcntl(socket.ours, F_SETFL, O_NONBLOCK);
  ::fcntl(errors.ours, F_SETFL, O_NONBLOCK);
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t pid = start(program, pointers.data(), environment, own_group, socket, errors);
  return {pid, std::exchange(socket.ours, -1), std::exchange(errors.ours, -1)};
}

}  // namespace npu_vcl

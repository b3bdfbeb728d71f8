#pragma once

#include <sys/types.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace npu_vcl {

/// A program was not started: what() is the call or the program that failed, `error` its errno.
struct SpawnFailure : std::runtime_error {
  SpawnFailure(const std::string& call, int number) : std::runtime_error(call), error(number) {}
  const int error;
};

/// A program that runs, with a socket at its standard input and output and a pipe at its standard
/// error. Whoever started it waits for it, and closes our ends, which do not block.
struct Child {
  pid_t pid;
  int socket, errors;
};

/// Starts the file `program` with `words` as its argv: with no other descriptor, and with signals
/// as at a program's start. In a group of its own Ctrl-C does not reach it. Not for Windows. Throws
/// SpawnFailure.
Child spawn(const std::string& program, std::vector<std::string> words, char* const* environment,
            bool own_group);

/// Moves a descriptor above the standard streams' numbers, which an application may have left free;
/// -1 stays. Throws SpawnFailure, and has then closed it.
int clear_of_streams(int fd);

}  // namespace npu_vcl

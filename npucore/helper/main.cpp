// Compiles a model for a program that uses npucore, which starts it: not for people.
#include <unistd.h>

#include <cstdio>

#include "compile/helper_server.hpp"

int main(int argc, char** argv) {
  if (::isatty(STDIN_FILENO) != 0 || argc != 3) {
    std::fputs("npu-compile-helper is started by programs that use npucore; see npu-compile\n",
               stderr);
    return 2;
  }
  return npu::serve_compilation(argc, argv);
}

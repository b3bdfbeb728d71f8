// Says whether it has more rights than who started it, and which loader it would take.
#include <sys/auxv.h>

#include <cstdio>

#include "ze/loader.hpp"

int main() {
  std::printf("secure %lu: loader %s\n", ::getauxval(AT_SECURE),
              npu::ze::Loader::default_library().c_str());
}

// Says whether it has more rights than who started it, and which loader it would take.
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>

#include "ze/loader.hpp"

int main() {
  std::printf("secure %lu: loader %s\n", ::getauxval(AT_SECURE),
              npu::ze::Loader::default_library().c_str());
  npu::ze::Loader::open("libze_loader.so.1");
  const char* drivers = std::getenv(npu::ze::kDriversVariable);
  std::printf("the loader sees %s\n", drivers ? drivers : "nothing");
}

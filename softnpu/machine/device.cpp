#include "device.hpp"

#include <unistd.h>

#include "base/config.hpp"

namespace softnpu {

bool imports_system_memory() {
  return config().platform->platform >= 4000;
}

uint64_t system_memory_bytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace softnpu

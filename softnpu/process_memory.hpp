#pragma once

#include <cstdint>

namespace softnpu {

// Anonymous memory of this process that is resident: RssAnon of /proc/self/status, in bytes; 0
// where the kernel does not tell.
uint64_t anonymous_bytes();

}  // namespace softnpu

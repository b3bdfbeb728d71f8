#pragma once

#include <exception>

namespace gstnpu {

/// GStreamer brings libunwind, whose unwinder then stands before the compiler's and opens a pipe
/// for the first exception: without a descriptor left, that exception would end the process.
inline void prepare_unwinding() {
  try {
    throw std::exception();
  } catch (const std::exception&) {
    // Now it has its pipe.
  }
}

}  // namespace gstnpu

#pragma once

#include <cstddef>
#include <cstdint>

namespace softnpu {

/// The kernel's handle of a piece of device memory. It belongs to the open device file, which a
/// child process shares: closing the handle in one closes it for both.
class GemHandle {
 public:
  GemHandle();
  ~GemHandle() { close(); }
  GemHandle(const GemHandle&) = delete;
  GemHandle& operator=(const GemHandle&) = delete;

  bool open() const;
  void close();

 private:
  size_t slot_;      // index in the table that all processes with this device file share
  uint64_t number_;  // the slot's content while the handle is open
};

}  // namespace softnpu

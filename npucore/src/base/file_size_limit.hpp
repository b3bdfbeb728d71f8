#pragma once

#include <signal.h>

namespace npu::base {

/// While one lives, a write past the process's limit for files (RLIMIT_FSIZE, `ulimit -f`) fails
/// with EFBIG in this thread. By default the kernel also sends SIGXFSZ, which ends the process.
class FileSizeLimitIsAnError {
 public:
  FileSizeLimitIsAnError();
  FileSizeLimitIsAnError(const FileSizeLimitIsAnError&) = delete;
  FileSizeLimitIsAnError& operator=(const FileSizeLimitIsAnError&) = delete;
  ~FileSizeLimitIsAnError();

 private:
  sigset_t before_;
};

}  // namespace npu::base

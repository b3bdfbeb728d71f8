#include "dmabuf.hpp"

#include <linux/dma-buf.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include <npucore/error.hpp>

#include "base/mapping.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"

namespace npu::dmabuf {
namespace {

using base::errno_text;
using base::text;

int sync(int fd, unsigned long long flags) {
  dma_buf_sync request = {};
  request.flags = flags;
  int result = 0;
  do {
    result = ::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 ? 0 : errno;
}

unsigned long long sync_flags(CpuAccess::Kind kind) {
  switch (kind) {
    case CpuAccess::Kind::kRead:
      return DMA_BUF_SYNC_READ;
    case CpuAccess::Kind::kWrite:
      return DMA_BUF_SYNC_WRITE;
    case CpuAccess::Kind::kReadWrite:
      break;
  }
  return DMA_BUF_SYNC_RW;
}

struct stat status_of(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                text("file descriptor ", fd, " cannot be used: fstat: ", errno_text(errno)));
  }
  return status;
}

using Clock = std::chrono::steady_clock;

/// False when the deadline passes before one of `events` comes.
bool poll_until(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    pollfd entry = {};
    entry.fd = fd;
    entry.events = events;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const auto wait_ms = std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max());
    const int ready = ::poll(&entry, 1, static_cast<int>(wait_ms));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) {
      throw Error(ErrorCode::kIo,
                  text("waiting for a DMA-BUF's producer: poll: ", errno_text(errno)));
    }
  }
}

/// The fences to wait for, as one sync file; empty if the kernel (before 6.0) has no such call.
base::UniqueFd fences_of(int fd, FenceUse use) {
#ifdef DMA_BUF_IOCTL_EXPORT_SYNC_FILE
  dma_buf_export_sync_file request = {};
  request.flags = use == FenceUse::kRead ? DMA_BUF_SYNC_READ : DMA_BUF_SYNC_RW;
  request.fd = -1;
  if (::ioctl(fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &request) == 0) return base::UniqueFd(request.fd);
#else
  static_cast<void>(fd), static_cast<void>(use);
#endif
  return {};
}

}  // namespace

Identity identity_of(int fd) {
  const struct stat status = status_of(fd);
  return {status.st_dev, status.st_ino};
}

bool is_dmabuf(int fd) {
  // No DMA-BUF takes these flags (EINVAL), and nothing else knows the call (ENOTTY).
  constexpr unsigned long long kNoValidFlags = ~0ULL;
  return sync(fd, kNoValidFlags) == EINVAL;
}

std::size_t size_bytes_of(int fd) {
  // Seeking tells the size of a DMA-BUF on every kernel, but would move the position of a file.
  const off_t size = is_dmabuf(fd) ? ::lseek(fd, 0, SEEK_END) : status_of(fd).st_size;
  if (size <= 0) {
    throw Error(ErrorCode::kInvalidArgument, text("file descriptor ", fd, " holds no bytes"));
  }
  return static_cast<std::size_t>(size);
}

bool can_be_mapped(int fd, std::size_t size_bytes) {
  const base::Mapping mapping(
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), size_bytes);
  return static_cast<bool>(mapping);
}

bool wait_for_producers(int fd, FenceUse use, std::chrono::milliseconds timeout) {
  const short events = use == FenceUse::kRead ? POLLIN : POLLOUT;
  // Usually they are done: one call. Otherwise wait only for the present ones, which began before
  // this frame was sent on, not for work that is queued behind them.
  if (poll_until(fd, events, Clock::now())) return true;
  const auto deadline = Clock::now() + timeout;
  const base::UniqueFd fences = fences_of(fd, use);
  return fences ? poll_until(fences.get(), POLLIN, deadline) : poll_until(fd, events, deadline);
}

CpuAccess::CpuAccess(int fd, Kind kind) : fd_(fd), flags_(sync_flags(kind)) {
  const int error = sync(fd_, DMA_BUF_SYNC_START | flags_);
  if (error != 0) {
    throw Error(ErrorCode::kIo, text("DMA_BUF_IOCTL_SYNC on fd ", fd, ": ", errno_text(error)));
  }
}

CpuAccess::~CpuAccess() {
  static_cast<void>(sync(fd_, DMA_BUF_SYNC_END | flags_));
}

}  // namespace npu::dmabuf

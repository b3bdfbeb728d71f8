#include "dmabuf.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>

namespace softnpu::dmabuf {
namespace {

constexpr uint64_t kDmabufFilesystem =
    0x444d4142;  // magic number of the kernel's DMA-BUF file system

void sync(int fd, uint64_t flags) {
  dma_buf_sync request{flags};
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0 && (errno == EINTR || errno == EAGAIN)) {
  }
}

UniqueFd from_udmabuf(size_t size_bytes) {
  const UniqueFd device(::open("/dev/udmabuf", O_RDWR | O_CLOEXEC));
  if (!device) return {};
  const UniqueFd memory = make_memfd(size_bytes);
  if (!memory || ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return {};
  udmabuf_create request = {};
  request.memfd = static_cast<uint32_t>(memory.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = size_bytes;
  return UniqueFd(::ioctl(device.get(), UDMABUF_CREATE, &request));
}

UniqueFd from_system_heap(size_t size_bytes) {
  const UniqueFd heap(::open("/dev/dma_heap/system", O_RDONLY | O_CLOEXEC));
  if (!heap) return {};
  dma_heap_allocation_data request = {};
  request.len = size_bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (::ioctl(heap.get(), DMA_HEAP_IOCTL_ALLOC, &request) != 0) return {};
  return UniqueFd(static_cast<int>(request.fd));
}

}  // namespace

std::optional<Identity> identity(int fd) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return std::nullopt;
  return Identity{file.st_dev, file.st_ino};
}

bool is_dmabuf(int fd) {
  struct statfs system {};
  return ::fstatfs(fd, &system) == 0 && static_cast<uint64_t>(system.f_type) == kDmabufFilesystem;
}

bool is_memfd(int fd) {
  return ::fcntl(fd, F_GET_SEALS) >= 0;
}

std::optional<size_t> size_bytes(int fd) {
  struct stat file {};
  if (::fstat(fd, &file) != 0) return std::nullopt;
  // Older kernels give a DMA-BUF's size only as its end. Seeking is safe: its file position means
  // nothing. A memfd's position belongs to its owner.
  const off_t end = file.st_size > 0 ? file.st_size : ::lseek(fd, 0, SEEK_END);
  if (end <= 0) return std::nullopt;
  return static_cast<size_t>(end);
}

void begin_access(int fd) {
  sync(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
}
void end_access(int fd) {
  sync(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
}

UniqueFd make_dmabuf(size_t size_bytes) {
  UniqueFd fd = from_udmabuf(size_bytes);
  return fd ? std::move(fd) : from_system_heap(size_bytes);
}

UniqueFd make_memfd(size_t size_bytes) {
  UniqueFd fd(::memfd_create("softnpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd && ::ftruncate(fd.get(), static_cast<off_t>(size_bytes)) != 0) {
    fd.reset();
  }
  return fd;
}

}  // namespace softnpu::dmabuf

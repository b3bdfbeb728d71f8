#include "dmabufs.hpp"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace npu::test {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    const int kept = errno;
    if (fd_ >= 0) ::close(fd_);
    errno = kept;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

const char* device_of(BufferKind kind) {
  return kind == BufferKind::kUdmabuf ? "/dev/udmabuf" : "/dev/dma_heap/system";
}

int make_memfd(std::size_t size) {
  Descriptor memfd(::memfd_create("frame", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memfd.get() < 0 || ::ftruncate(memfd.get(), static_cast<off_t>(size)) != 0) return -1;
  return memfd.release();
}

int make_udmabuf(std::size_t size) {
  const Descriptor device(::open(device_of(BufferKind::kUdmabuf), O_RDWR | O_CLOEXEC));
  if (device.get() < 0) return -1;
  const Descriptor memfd(make_memfd(size));
  if (memfd.get() < 0 || ::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return -1;
  udmabuf_create create{};
  create.memfd = static_cast<__u32>(memfd.get());
  create.flags = UDMABUF_FLAGS_CLOEXEC;
  create.size = size;
  return ::ioctl(device.get(), UDMABUF_CREATE, &create);
}

int make_from_heap(std::size_t size) {
  const Descriptor heap(::open(device_of(BufferKind::kDmaHeap), O_RDWR | O_CLOEXEC));
  if (heap.get() < 0) return -1;
  dma_heap_allocation_data data{};
  data.len = size;
  data.fd_flags = O_RDWR | O_CLOEXEC;
  return ::ioctl(heap.get(), DMA_HEAP_IOCTL_ALLOC, &data) == 0 ? static_cast<int>(data.fd) : -1;
}

}  // namespace

int make_buffer(BufferKind kind, std::size_t size_bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (size_bytes + page - 1) / page * page;
  switch (kind) {
    case BufferKind::kUdmabuf:
      return make_udmabuf(size);
    case BufferKind::kDmaHeap:
      return make_from_heap(size);
    case BufferKind::kMemfd:
      return make_memfd(size);
  }
  return -1;
}

std::string why_no_buffers(BufferKind kind) {
  const Descriptor buffer(make_buffer(kind, 1));
  if (buffer.get() >= 0) return {};
  return std::string(kind == BufferKind::kMemfd ? "a memfd" : device_of(kind)) + ": " +
         std::strerror(errno);
}

}  // namespace npu::test

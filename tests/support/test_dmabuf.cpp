#include "support/test_dmabuf.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace npu::test {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    const int kept = errno;
    if (fd_ >= 0) {
      ::close(fd_);
    }
    errno = kept;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::string& call) {
  throw std::runtime_error(call + ": " + std::strerror(errno));
}

const char* device_of(BufferKind kind) {
  return kind == BufferKind::kUdmabuf ? "/dev/udmabuf" : "/dev/dma_heap/system";
}

int open_device(BufferKind kind) {
  return ::open(device_of(kind), O_RDWR | O_CLOEXEC);
}

int make_memfd(std::size_t size) {
  Descriptor memfd(::memfd_create("test-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (memfd.get() < 0 || ::ftruncate(memfd.get(), static_cast<off_t>(size)) != 0) return -1;
  return memfd.release();
}

int make_udmabuf(std::size_t size) {
  const Descriptor device(open_device(BufferKind::kUdmabuf));
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
  const Descriptor heap(open_device(BufferKind::kDmaHeap));
  if (heap.get() < 0) return -1;
  dma_heap_allocation_data data{};
  data.len = size;
  data.fd_flags = O_RDWR | O_CLOEXEC;
  return ::ioctl(heap.get(), DMA_HEAP_IOCTL_ALLOC, &data) == 0 ? static_cast<int>(data.fd) : -1;
}

// A memfd has no such call, and needs none.
void sync(int fd, __u64 flags) {
  dma_buf_sync request = {};
  request.flags = flags;
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0 && (errno == EINTR || errno == EAGAIN)) {
  }
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

bool has_udmabuf() {
  return Descriptor(open_device(BufferKind::kUdmabuf)).get() >= 0;
}

int make_dmabuf(std::size_t size_bytes) {
  const BufferKind kind = has_udmabuf() ? BufferKind::kUdmabuf : BufferKind::kMemfd;
  const int fd = make_buffer(kind, size_bytes);
  if (fd < 0) {
    fail("a buffer for a test");
  }
  return fd;
}

DmabufMapping::DmabufMapping(int fd, std::size_t size_bytes) : fd_(fd), size_bytes_(size_bytes) {
  void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    fail("mmap of a test's buffer");
  }
  data_ = static_cast<unsigned char*>(mapped);
  sync(fd_, DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
}

DmabufMapping::~DmabufMapping() {
  sync(fd_, DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
  ::munmap(data_, size_bytes_);
}

void fill_dmabuf(int fd, std::size_t offset, std::size_t size_bytes, unsigned char value) {
  const DmabufMapping mapping(fd, offset + size_bytes);
  std::memset(mapping.data() + offset, value, size_bytes);
}

}  // namespace npu::test

#include "support/test_dmabuf.hpp"

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace npu::test {
namespace {

constexpr const char* kUdmabuf = "/dev/udmabuf";

[[noreturn]] void fail(const std::string& call) {
  throw std::runtime_error(call + ": " + std::strerror(errno));
}

int open_udmabuf() {
  return ::open(kUdmabuf, O_RDWR | O_CLOEXEC);
}

int make_memfd(std::size_t size_bytes) {
  const int fd = ::memfd_create("test-dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) fail("memfd_create");
  return fd;
}

// A memfd has no such call, and needs none.
void sync(int fd, __u64 flags) {
  dma_buf_sync request = {};
  request.flags = flags;
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0 && (errno == EINTR || errno == EAGAIN)) {
  }
}

}  // namespace

bool has_udmabuf() {
  const int device = open_udmabuf();
  if (device >= 0) ::close(device);
  return device >= 0;
}

int make_dmabuf(std::size_t size_bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t pages_bytes = (size_bytes + page - 1) / page * page;
  const int memory = make_memfd(pages_bytes);
  const int device = open_udmabuf();
  if (device < 0) return memory;
  if (::fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) != 0) fail("F_ADD_SEALS");
  udmabuf_create create = {};
  create.memfd = static_cast<__u32>(memory);
  create.flags = UDMABUF_FLAGS_CLOEXEC;
  create.size = pages_bytes;
  const int fd = ::ioctl(device, UDMABUF_CREATE, &create);
  const int error = errno;
  ::close(memory);
  ::close(device);
  errno = error;
  if (fd < 0) fail("UDMABUF_CREATE");
  return fd;
}

DmabufMapping::DmabufMapping(int fd, std::size_t size_bytes) : fd_(fd), size_bytes_(size_bytes) {
  void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) fail("mmap of a test's buffer");
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

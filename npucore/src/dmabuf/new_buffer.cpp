#include "new_buffer.hpp"

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <cerrno>

#include "base/mapped_file.hpp"
#include "base/text.hpp"

namespace npu::dmabuf {
namespace {

using base::errno_text;
using base::text;

NewBuffer nothing(const std::string& why_not, const std::string& cure = {}) {
  return {{}, why_not, cure};
}

/// The result when open() of `device` failed with `error`.
NewBuffer not_opened(const char* device, int error, const char* module_cure) {
  if (error == ENOENT) return nothing(text("there is no ", device), module_cure);
  const bool forbidden = error == EACCES || error == EPERM;
  return nothing(
      text(device, " cannot be opened: ", errno_text(error)),
      forbidden
          ? text("add the user to its group (ls -l ", device,
                 "), or give it one with a udev rule; access lets a user pin the machine's memory")
          : "");
}

/// Shared memory sealed against shrinking, as udmabuf wants it.
base::UniqueFd sealed_memory(std::size_t bytes) {
  base::UniqueFd fd(::memfd_create("npu-frame", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return {};
  }
  return fd;
}

}  // namespace

NewBuffer new_udmabuf(std::size_t size_bytes, const char* device) {
  const base::UniqueFd driver(::open(device, O_RDWR | O_CLOEXEC));
  if (!driver) {
    return not_opened(device, errno, "use a kernel with CONFIG_UDMABUF (Debian's since 13)");
  }
  const std::size_t bytes = base::round_up_to_page(size_bytes);
  const base::UniqueFd memory = sealed_memory(bytes);
  if (!memory) {
    return nothing(text("cannot create a memory file of ", bytes, " bytes: ", errno_text(errno)));
  }
  udmabuf_create request = {};
  request.memfd = static_cast<__u32>(memory.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = bytes;
  const int fd = ::ioctl(driver.get(), UDMABUF_CREATE, &request);
  if (fd >= 0) return {base::UniqueFd(fd), {}, {}};
  const int error = errno;
  return nothing(text("UDMABUF_CREATE of ", bytes, " bytes on ", device, ": ", errno_text(error)),
                 error == EINVAL ? "raise /sys/module/udmabuf/parameters/size_limit_mb" : "");
}

NewBuffer new_heap_buffer(std::size_t size_bytes, const char* heap) {
  const base::UniqueFd driver(::open(heap, O_RDONLY | O_CLOEXEC));
  if (!driver) return not_opened(heap, errno, "use a kernel with CONFIG_DMABUF_HEAPS_SYSTEM");
  const std::size_t bytes = base::round_up_to_page(size_bytes);
  dma_heap_allocation_data request = {};
  request.len = bytes;
  request.fd_flags = O_RDWR | O_CLOEXEC;
  if (::ioctl(driver.get(), DMA_HEAP_IOCTL_ALLOC, &request) == 0) {
    return {base::UniqueFd(static_cast<int>(request.fd)), {}, {}};
  }
  return nothing(
      text("DMA_HEAP_IOCTL_ALLOC of ", bytes, " bytes on ", heap, ": ", errno_text(errno)));
}

}  // namespace npu::dmabuf

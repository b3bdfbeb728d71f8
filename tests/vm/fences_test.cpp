// Producers that have not finished with a buffer when it is sent on: vgem attaches fences to its
// DMA-BUFs and signals them when it is told to.
//
// scripts/lane.sh vm runs this in a guest that has vgem.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/ioctl.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include <npucore/compiled_model.hpp>
#include <npucore/importer.hpp>
#include <npucore/support.hpp>

#include "dmabuf/dmabuf.hpp"
#include "support/test_dmabuf.hpp"

namespace npu::test {
namespace {

using std::chrono::milliseconds;

// The kernel's interface, of which not every machine has the headers.
struct Version {
  int major, minor, patch;
  std::size_t name_length;
  char* name;
  std::size_t date_length;
  char* date;
  std::size_t description_length;
  char* description;
};
struct Dumb {
  __u32 height, width, bits_per_pixel, flags, handle, pitch;
  __u64 size;
};
struct Prime {
  __u32 handle, flags;
  __s32 fd;
};
struct FenceAttach {
  __u32 handle, flags, fence, padding;
};
struct FenceSignal {
  __u32 fence, flags;
};
constexpr unsigned long kVersion = _IOWR('d', 0x00, Version);
constexpr unsigned long kCreateDumb = _IOWR('d', 0xb2, Dumb);
constexpr unsigned long kHandleToFd = _IOWR('d', 0x2d, Prime);
constexpr unsigned long kFenceAttach = _IOWR('d', 0x41, FenceAttach);
constexpr unsigned long kFenceSignal = _IOW('d', 0x42, FenceSignal);
constexpr __u32 kFenceWrites = 1;

bool is_vgem(int fd) {
  char name[16] = {};
  Version version = {};
  version.name = name;
  version.name_length = sizeof name - 1;
  return ::ioctl(fd, kVersion, &version) == 0 && std::string(name) == "vgem";
}

int open_vgem() {
  for (const auto& node : std::filesystem::directory_iterator("/dev/dri")) {
    if (!node.path().filename().string().starts_with("card")) continue;
    const int fd = ::open(node.path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd >= 0 && is_vgem(fd)) return fd;
    if (fd >= 0) {
      ::close(fd);
    }
  }
  throw std::runtime_error("no card of vgem in /dev/dri");
}

/// A page of vgem's, as a DMA-BUF.
class Surface {
 public:
  Surface() {
    Dumb dumb = {};
    dumb.width = 1024;
    dumb.height = 1;
    dumb.bits_per_pixel = 32;
    call(kCreateDumb, &dumb);
    handle_ = dumb.handle;
    Prime prime = {};
    prime.handle = handle_;
    prime.flags = O_CLOEXEC | O_RDWR;
    call(kHandleToFd, &prime);
    fd_ = prime.fd;
  }
  ~Surface() {
    ::close(fd_);
    ::close(device_);
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;

  int fd() const { return fd_; }
  /// Begins to write (or only to read) as a device would, until signal().
  void begin(bool writes) {
    FenceAttach attach = {};
    attach.handle = handle_;
    attach.flags = writes ? kFenceWrites : 0;
    call(kFenceAttach, &attach);
    fence_ = attach.fence;
  }
  void signal() {
    FenceSignal signal = {};
    signal.fence = fence_;
    call(kFenceSignal, &signal);
  }

 private:
  void call(unsigned long request, void* argument) const {
    if (::ioctl(device_, request, argument) != 0) {
      throw std::runtime_error(std::string("vgem: ") + std::strerror(errno));
    }
  }

  int device_ = open_vgem();
  int fd_ = -1;
  __u32 handle_ = 0, fence_ = 0;
};

bool is_ready(const Surface& surface, dmabuf::FenceUse use) {
  return dmabuf::wait_for_producers(surface.fd(), use, milliseconds(20));
}

TEST(Fences, OfAWriterAreWaitedForByReaders) {
  Surface surface;
  EXPECT_TRUE(is_ready(surface, dmabuf::FenceUse::kRead));
  surface.begin(true);
  EXPECT_FALSE(is_ready(surface, dmabuf::FenceUse::kRead));
  surface.signal();
  EXPECT_TRUE(is_ready(surface, dmabuf::FenceUse::kRead));
}

TEST(Fences, OfAReaderAreWaitedForByWritersOnly) {
  Surface surface;
  surface.begin(false);
  EXPECT_TRUE(is_ready(surface, dmabuf::FenceUse::kRead));
  EXPECT_FALSE(is_ready(surface, dmabuf::FenceUse::kWrite));
  surface.signal();
  EXPECT_TRUE(is_ready(surface, dmabuf::FenceUse::kWrite));
}

/// A request that reads `surface` where it lies.
Request request_on(const Surface& surface) {
  const TempDir folder;
  const Device device = Device::open(DeviceKind::kSoftware);
  Request request = CompiledModel::compile(device, Model::read(write_affine_model(folder.path())))
                        .create_request();
  request.set_input(0, Importer(device).import(surface.fd()));
  return request;
}

TEST(Fences, AreWaitedForBeforeAnInference) {
  Surface surface;
  Request request = request_on(surface);
  const DmabufMapping pixels(surface.fd(), 4096);  // CPU access waits for fences: before them
  surface.begin(true);
  const std::jthread producer([&] {
    std::this_thread::sleep_for(milliseconds(100));
    std::fill_n(reinterpret_cast<float*>(pixels.data()), kAffineElements, 5.f);
    surface.signal();
  });
  request.infer();
  EXPECT_EQ(*reinterpret_cast<const float*>(request.output(0).data()), affine(5));
}

TEST(Fences, ThatNobodySignalsAreATimeout) {
  Surface surface;
  Request request = request_on(surface);
  surface.begin(true);
  expect_error(ErrorCode::kTimeout, "did not finish with it", [&] { request.submit(); });
  surface.signal();
  request.infer();
}

}  // namespace
}  // namespace npu::test

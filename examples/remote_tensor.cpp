// Runs on another owner's DMA-BUF, as from a camera, a decoder or a GPU. Here a memfd stands in for
// it, which the software NPU accepts with SOFTNPU_ALLOW_MEMFD=1.
//
// usage: remote_tensor models/square.xml
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include <npucore/npucore.hpp>

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: remote_tensor models/square.xml\n");
    return 2;
  }
  constexpr std::size_t kSize = 8192, kOffset = 4096;
  const int fd = ::memfd_create("frames", MFD_CLOEXEC);
  const float three = 3;
  if (fd < 0 || ::ftruncate(fd, kSize) != 0 ||
      ::pwrite(fd, &three, sizeof three, kOffset) != sizeof three) {
    std::perror("memfd");
    return 1;
  }

  const npu::Device device = npu::Device::open();
  const auto compiled = npu::CompiledModel::compile(device, npu::Model::read(arguments[1]));
  npu::Request request = compiled.create_request();
  const std::size_t size = compiled.inputs()[0].size_bytes();
  request.set_input(0, npu::Tensor::import_dmabuf(device, fd, kOffset, size));
  ::close(fd);  // the tensor has its own descriptor
  request.infer();
  std::printf("3 * 3 = %g with %llu copies\n", request.output(0).as<float>()[0],
              static_cast<unsigned long long>(request.copies()));
  return 0;
} catch (const npu::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}

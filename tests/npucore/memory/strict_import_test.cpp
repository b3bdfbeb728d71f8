// Without SOFTNPU_ALLOW_MEMFD the software NPU is as strict as hardware.
#include <gtest/gtest.h>
#include <unistd.h>

#include <npucore/importer.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class StrictImports : public OnSoftwareNpu {
 protected:
  Importer importer_{device_};
};

TEST_F(StrictImports, RefuseWhatIsNoDmabufAndNameIt) {
  const int fd = make_memfd(4096);
  expect_error(ErrorCode::kInvalidArgument, "is not a DMA-BUF but '/memfd:npucore-test (deleted)'",
               [&] { importer_.import(fd); });
  ::close(fd);
  EXPECT_EQ(importer_.stats().imports, 0u);
}

TEST_F(StrictImports, TakeTheirOwnExportsBack) {
  const Tensor tensor = Tensor::allocate(device_, 4096, MemoryUse::kInput, true);
  const int fd = tensor.export_dmabuf();
  EXPECT_EQ(importer_.import(fd).data(), tensor.data());
  ::close(fd);
}

}  // namespace
}  // namespace npu::test

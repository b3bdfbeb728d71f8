// Tensor::allocate_shareable() with the kernel's own devices and a driver that exports nothing.
// scripts/lane.sh vm runs this in a guest that has them.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <cstring>

#include <npucore/importer.hpp>
#include <npucore/tensor.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class RealDmabufs : public OnSoftwareNpu {
 protected:
  void SetUp() override {
    for (const Finding& source : device_.dmabuf_sources()) {
      const bool is_needed = source.what != "driver";
      ASSERT_TRUE(source.ok || !is_needed) << source.what << ": " << source.detail;
    }
    OnSoftwareNpu::SetUp();
  }
};

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Row {
  const char* name;
  std::size_t bytes;
  DmabufSource source;
};

class RealSources : public RealDmabufs, public testing::WithParamInterface<Row> {};

TEST_P(RealSources, GiveZeroedPagesThatBothSidesSee) {
  const Tensor tensor = Tensor::allocate_shareable(device_, GetParam().bytes, MemoryUse::kOutput);
  EXPECT_STREQ(to_string(tensor.dmabuf_source()), to_string(GetParam().source));
  struct statfs system {};
  ASSERT_EQ(::fstatfs(tensor.dmabuf_fd(), &system), 0);
  EXPECT_EQ(system.f_type, 0x444d4142) << "the file system of DMA-BUFs";
  const std::size_t size = tensor.size_bytes();
  EXPECT_EQ(tensor.data()[size - 1], std::byte{0});
  void* seen = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, tensor.dmabuf_fd(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  static_cast<std::byte*>(seen)[size - 1] = std::byte{9};
  const CpuAccess access(tensor, CpuAccess::Kind::kRead);
  EXPECT_EQ(access.data()[size - 1], std::byte{9});
  ::munmap(seen, size);
}

INSTANTIATE_TEST_SUITE_P(Of, RealSources,
                         testing::Values(Row{"a_page", 4096, DmabufSource::kUdmabuf},
                                         Row{"part_of_a_page", 5000, DmabufSource::kUdmabuf},
                                         // udmabuf's limit is 64 MiB
                                         Row{"80_MiB", 80 * kMiB, DmabufSource::kDmaHeap}),
                         by_name);

TEST_F(RealDmabufs, ThatComeBackAreNoSecondImport) {
  Importer importer(device_);
  const Tensor tensor = Tensor::allocate_shareable(device_, 4096, MemoryUse::kOutput);
  const std::uint64_t imports = importer.stats().imports;
  EXPECT_EQ(importer.import(tensor.dmabuf_fd()).data(), tensor.data());
  EXPECT_EQ(importer.stats().imports, imports);
}

}  // namespace
}  // namespace npu::test

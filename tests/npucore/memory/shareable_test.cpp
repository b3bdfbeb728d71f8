// Tensor::allocate_shareable(): memory that others can write into. A memfd that the software NPU
// exports plays the DMA-BUF.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <npucore/importer.hpp>
#include <npucore/request.hpp>
#include <npucore/tensor.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class Shareable : public OnSoftwareNpu {
 protected:
  Tensor make(std::size_t bytes = 5000) {
    return Tensor::allocate_shareable(device_, bytes, MemoryUse::kOutput);
  }
};

TEST_F(Shareable, MemoryHasADescriptorOfItsOwn) {
  const Tensor tensor = make();
  EXPECT_EQ(tensor.dmabuf_source(), DmabufSource::kDriver);
  ASSERT_GE(tensor.dmabuf_fd(), 0);
  EXPECT_EQ(tensor.size_bytes(), 8192u) << "whole pages";
  void* seen = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, tensor.dmabuf_fd(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  std::memset(seen, 7, 8192);
  EXPECT_EQ(tensor.data()[8191], std::byte{7});
  ::munmap(seen, 8192);
}

TEST_F(Shareable, MemoryThatComesBackIsKnown) {
  const Importer importer(device_);
  const Tensor tensor = make();
  const ImportStats before = importer.stats();
  Importer other(device_);
  EXPECT_EQ(other.import(tensor.dmabuf_fd()).data(), tensor.data());
  EXPECT_EQ(importer.stats().imports, before.imports);
}

TEST_F(Shareable, SlicesHaveTheDescriptorOfTheWhole) {
  const Tensor tensor = make();
  EXPECT_EQ(tensor.slice(4096, 10).dmabuf_fd(), tensor.dmabuf_fd());
}

TEST_F(Shareable, SourcesAreTriedInOrder) {
  const std::vector<Finding> sources = device_.dmabuf_sources();
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].what, "driver");
  EXPECT_EQ(sources[1].what, "udmabuf");
  EXPECT_EQ(sources[2].what, "dma-heap");
  EXPECT_TRUE(sources[0].ok) << sources[0].detail;
  EXPECT_EQ(device_.shareable_memory(), DmabufSource::kDriver);
  for (const Finding& source : sources) EXPECT_FALSE(source.detail.empty()) << source.what;
}

TEST_F(Shareable, ABufferLargerThanAnyIsAnError) {
  device_.shareable_memory();
  expect_error(ErrorCode::kOutOfMemory, "allocating", [&] { make(std::size_t{1} << 50); });
  expect_error(ErrorCode::kOutOfMemory, "allocating", [&] { make(SIZE_MAX); });
}

TEST_F(Shareable, NothingIsNoMemory) {
  expect_error(ErrorCode::kInvalidArgument, "at least one byte", [&] { make(0); });
}

TEST_F(Shareable, OtherTensorsHaveNoDescriptor) {
  const Tensor plain = Tensor::allocate(device_, 4096, MemoryUse::kInput);
  EXPECT_EQ(plain.dmabuf_source(), DmabufSource::kNone);
  EXPECT_EQ(plain.dmabuf_fd(), -1);
  EXPECT_EQ(Tensor().dmabuf_fd(), -1);
}

TEST_F(Shareable, ImportedTensorsHaveTheProducersBuffer) {
  const int fd = make_memfd(4096);
  const Tensor imported = Tensor::import_dmabuf(device_, fd);
  ::close(fd);
  EXPECT_EQ(imported.dmabuf_source(), DmabufSource::kProducer);
  EXPECT_GE(imported.dmabuf_fd(), 0);
}

TEST_F(Shareable, SourcesAreFoundOutOnce) {
  make();
  const std::string anything_fails = "zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1+";
  set_fault(anything_fails);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(device_.shareable_memory(), DmabufSource::kDriver);
  set_fault("");
}

}  // namespace
}  // namespace npu::test

// A driver that exports nothing of use (SOFTNPU_EXPORT) on a machine that may have other sources.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include <npucore/tensor.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

class NoExport : public OnSoftwareNpu {
 protected:
  Finding driver() const { return device_.dmabuf_sources().front(); }
};

TEST_F(NoExport, IsToldWithItsReason) {
  EXPECT_FALSE(driver().ok);
  const std::string reason = std::string_view(std::getenv("SOFTNPU_EXPORT")) == "none"
                                 ? "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"
                                 : "the memory that the driver exports is not a DMA-BUF";
  EXPECT_TRUE(has(driver().detail, reason));
}

TEST_F(NoExport, LeavesTheOtherSources) {
  const auto sources = device_.dmabuf_sources();
  const DmabufSource best = device_.shareable_memory();
  EXPECT_NE(best, DmabufSource::kDriver);
  EXPECT_EQ(best == DmabufSource::kUdmabuf, sources[1].ok) << sources[1].detail;
  EXPECT_EQ(best == DmabufSource::kNone, !sources[1].ok && !sources[2].ok) << sources[2].detail;
}

TEST_F(NoExport, StillGivesMemoryThatTheDeviceReads) {
  const Tensor tensor = Tensor::allocate_shareable(device_, 5000, MemoryUse::kOutput);
  EXPECT_EQ(tensor.dmabuf_source(), device_.shareable_memory());
  EXPECT_EQ(tensor.dmabuf_fd() >= 0, device_.shareable_memory() != DmabufSource::kNone);
  EXPECT_EQ(tensor.size_bytes(), 8192u);
  std::memset(tensor.data(), 3, tensor.size_bytes());
  EXPECT_EQ(tensor.data()[8191], std::byte{3});
}

}  // namespace
}  // namespace npu::test

// A file's pages, imported again after the device was lost.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <npucore/npucore.hpp>

#include "device/place.hpp"
#include "memory/buffers.hpp"
#include "memory/tensors.hpp"

#include "support.hpp"

namespace npu::test::file_pages_test {
namespace {

class FilePages : public OnSoftwareNpu {};

/// Else the device, or somebody's memory at the same address, is hit by what is freed later.
TEST_F(FilePages, StayMappedAsLongAsAnyContextHasThem) {
  constexpr std::size_t kPage = 4096;
  const TempDir folder;
  write_file(folder.path() / "input.raw", std::string(kPage, '\0'));
  Tensor tensor = Tensor::from_file(device_, folder.path() / "input.raw", 0, kPage);
  ASSERT_EQ(internal::allocation_of(tensor)->origin, internal::Allocation::Origin::kHost);
  std::byte* const pages = tensor.data();
  set_fault("zeMemAllocHost:DEVICE_LOST@1");
  expect_error(ErrorCode::kDeviceLost, "DEVICE_LOST",
               [&] { Tensor::allocate(device_, kPage, MemoryUse::kInput); });
  set_fault("");
  auto again = internal::reach_from(internal::allocation_of(tensor), internal::place_on(device_));
  ASSERT_NE(again, nullptr);
  tensor = Tensor();
  EXPECT_EQ(::msync(pages, kPage, MS_ASYNC), 0) << "the pages are gone, and still imported";
  again.reset();
  EXPECT_NE(::msync(pages, kPage, MS_ASYNC), 0);
}

}  // namespace
}  // namespace npu::test::file_pages_test

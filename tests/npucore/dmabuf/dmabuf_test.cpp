#include "dmabuf/dmabuf.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

using std::chrono::milliseconds;

TEST(Identity, IsSharedByDuplicates) {
  const base::UniqueFd fd(make_memfd(4096));
  const base::UniqueFd copy(::dup(fd.get()));
  EXPECT_EQ(dmabuf::identity_of(fd.get()), dmabuf::identity_of(copy.get()));
}

TEST(Identity, TellsBuffersApart) {
  const base::UniqueFd one(make_memfd(4096));
  const base::UniqueFd other(make_memfd(4096));
  EXPECT_NE(dmabuf::identity_of(one.get()), dmabuf::identity_of(other.get()));
}

TEST(Identity, OfAClosedDescriptorIsAnError) {
  expect_error(ErrorCode::kInvalidArgument, "file descriptor -1 cannot be used",
               [] { dmabuf::identity_of(-1); });
}

TEST(IsDmabuf, RefusesOtherFiles) {
  const base::UniqueFd memfd(make_memfd(4096));
  const base::UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(dmabuf::is_dmabuf(memfd.get()));
  EXPECT_FALSE(dmabuf::is_dmabuf(file.get()));
  EXPECT_FALSE(dmabuf::is_dmabuf(-1));
}

TEST(Size, IsTheFilesAndLeavesItsPositionAlone) {
  const base::UniqueFd fd(make_memfd(8192));
  ASSERT_EQ(::lseek(fd.get(), 100, SEEK_SET), 100);
  EXPECT_EQ(dmabuf::size_bytes_of(fd.get()), 8192u);
  EXPECT_EQ(::lseek(fd.get(), 0, SEEK_CUR), 100);
}

TEST(Size, OfNothingIsAnError) {
  const base::UniqueFd fd(make_memfd(0));
  expect_error(ErrorCode::kInvalidArgument, "no bytes", [&] { dmabuf::size_bytes_of(fd.get()); });
}

TEST(CanBeMapped, IsWhatTheFileAllows) {
  const base::UniqueFd fd(make_memfd(4096));
  EXPECT_TRUE(dmabuf::can_be_mapped(fd.get(), 4096));
  const base::UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(dmabuf::can_be_mapped(file.get(), 4096));
  EXPECT_FALSE(dmabuf::can_be_mapped(-1, 4096));
}

TEST(Producers, AreWaitedForUntilTheTimeout) {
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::UniqueFd reading(ends[0]);
  const base::UniqueFd writing(ends[1]);
  EXPECT_FALSE(
      dmabuf::wait_for_producers(reading.get(), dmabuf::FenceUse::kRead, milliseconds(10)));
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  EXPECT_TRUE(dmabuf::wait_for_producers(reading.get(), dmabuf::FenceUse::kRead, milliseconds(10)));
}

TEST(Producers, OfABufferWithoutFencesAreDone) {
  const base::UniqueFd fd(make_memfd(4096));
  EXPECT_TRUE(dmabuf::wait_for_producers(fd.get(), dmabuf::FenceUse::kWrite, milliseconds(0)));
}

TEST(CpuAccess, IsRefusedForWhatIsNoDmabuf) {
  const base::UniqueFd fd(make_memfd(4096));
  expect_error(ErrorCode::kIo, "DMA_BUF_IOCTL_SYNC",
               [&] { dmabuf::CpuAccess access(fd.get(), dmabuf::CpuAccess::Kind::kRead); });
}

}  // namespace
}  // namespace npu::test

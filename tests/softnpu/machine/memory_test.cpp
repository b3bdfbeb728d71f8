// Allocations, imports, and finding them by address.
#include "machine/memory.hpp"

#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/failure.hpp"

namespace softnpu {
namespace {

constexpr size_t kImportLimitPages = 16;  // SOFTNPU_IMPORT_LIMIT of this test

std::shared_ptr<Allocation> allocated(AllocationTable& table, size_t size_bytes,
                                      bool exportable = false) {
  return table.insert(allocate(size_bytes, ZE_MEMORY_TYPE_HOST, exportable));
}

std::shared_ptr<Allocation> imported(AllocationTable& table, int fd) {
  return table.insert(import(table, fd, ZE_MEMORY_TYPE_DEVICE));
}

// Two pages of the process.
class ProcessPages {
 public:
  ProcessPages()
      : data_(static_cast<std::byte*>(::mmap(nullptr, 2 * 4096, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~ProcessPages() { ::munmap(data_, 2 * 4096); }
  std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

class PinnedMemory : public testing::Test {
 protected:
  static constexpr size_t kBytes = 3 << 20;  // three pipes' worth
  PinnedMemory() : data_(mapped(nullptr)) {
    for (size_t i = 0; i < kBytes; ++i) data_[i] = static_cast<std::byte>(i >> 12);
  }
  ~PinnedMemory() override { ::munmap(data_, kBytes); }
  static std::byte* mapped(std::byte* at) {
    const int fixed = at != nullptr ? MAP_FIXED : 0;
    return static_cast<std::byte*>(
        ::mmap(at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0));
  }
  std::shared_ptr<Allocation> imported() {
    const int watch = static_cast<int>(::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
    if (watch < 0) return nullptr;
    ::close(watch);
    return table_.insert(borrow(table_, data_, kBytes, false));
  }
  AllocationTable table_;
  std::byte* data_;
};

TEST_F(PinnedMemory, KeepsItsPagesWhenOthersAreMappedThere) {
  const auto memory = imported();
  if (!memory) {
    GTEST_SKIP() << "no userfaultfd";
  }
  data_[5000] = std::byte{99};
  ::munmap(data_, kBytes);
  ASSERT_EQ(mapped(data_), data_);
  std::memset(data_, 0x77, kBytes);
  memory->begin_device_access();
  const auto* const seen = static_cast<const std::byte*>(memory->on_device(data_));
  ASSERT_NE(seen, data_);
  EXPECT_EQ(seen[5000], std::byte{99}) << "written after the import";
  for (const size_t page : {0u, 1u, 255u, 256u, 511u, 700u}) {
    EXPECT_EQ(seen[page * 4096 + 7], static_cast<std::byte>(page)) << page;
  }
  EXPECT_EQ(memory->on_device(data_ + 4096), seen + 4096);
  memory->end_device_access();
}

TEST_F(PinnedMemory, IsOnlyTheProcesssAgainOnceFreed) {
  for (int i = 0; i < 3; ++i) {
    const auto memory = imported();
    if (!memory) {
      GTEST_SKIP() << "no userfaultfd";
    }
    ::munmap(data_, kBytes);
    ASSERT_EQ(mapped(data_), data_);
    memory->begin_device_access();
    EXPECT_NE(memory->on_device(data_), data_) << "import " << i << " is not watched";
    table_.remove(data_);
  }
}

TEST(GemHandle, IsOpenUntilItIsClosedByAnybody) {
  GemHandle handle;
  const GemHandle other;
  EXPECT_TRUE(handle.open());
  const pid_t child = ::fork();
  if (child == 0) {
    handle.close();
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(handle.open());
  EXPECT_TRUE(other.open());
}

TEST(GemHandle, IsNotTheOneThatHadItsPlaceBefore) {
  GemHandle closed;
  closed.close();
  std::vector<std::unique_ptr<GemHandle>> all;
  for (int i = 0; i < 60000; ++i) all.push_back(std::make_unique<GemHandle>());
  EXPECT_FALSE(closed.open());
  closed.close();
  for (const auto& handle : all) ASSERT_TRUE(handle->open());
}

TEST(BorrowedMemory, IsRemovedByAnyPointerInside) {
  AllocationTable table;
  const ProcessPages pages;
  table.insert(borrow(table, pages.data(), 4096, false));
  EXPECT_TRUE(table.remove(pages.data() + 123));
  EXPECT_EQ(table.find(pages.data()), nullptr);
  pages.data()[0] = std::byte{1};
}

TEST(BorrowedMemory, MayOverlapBehindItsBeginning) {
  AllocationTable table;
  const ProcessPages pages;
  const auto second = table.insert(borrow(table, pages.data() + 4096, 4096, false));
  const auto both = table.insert(borrow(table, pages.data(), 8192, false));
  EXPECT_EQ(table.find_range(pages.data(), 8192), both);
  EXPECT_EQ(table.find(pages.data() + 5000), second);
}

TEST(Import, IsUsableAgainWhenTheBufferIsImportedAnew) {
  AllocationTable table;
  const UniqueFd fd = dmabuf::make_memfd(4096);
  const auto lost = imported(table, fd.get());
  table.remove(imported(table, fd.get())->base());
  EXPECT_TRUE(imported(table, fd.get())->usable_by_device());
  EXPECT_FALSE(lost->usable_by_device());
}

TEST(Import, InAnotherContextIsNotConcerned) {
  AllocationTable one;
  AllocationTable other;
  const UniqueFd fd = dmabuf::make_memfd(4096);
  const auto kept = imported(other, fd.get());
  one.remove(imported(one, fd.get())->base());
  EXPECT_TRUE(kept->usable_by_device());
}

// ---- SOFTNPU_IMPORT_LIMIT

ze_result_t result_of_importing_into(AllocationTable& table, int fd) {
  try {
    imported(table, fd);
    return ZE_RESULT_SUCCESS;
  } catch (const Failure& failure) {
    return failure.result();
  }
}

TEST(ImportWindow, CountsABufferOnce) {
  AllocationTable table;
  const UniqueFd fd = dmabuf::make_memfd((kImportLimitPages - 1) * 4096);
  EXPECT_EQ(result_of_importing_into(table, fd.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(result_of_importing_into(table, fd.get()), ZE_RESULT_SUCCESS);
}

TEST(ImportWindow, IsHeldByACommandAfterTheFree) {
  AllocationTable table;
  const UniqueFd fd = dmabuf::make_memfd(kImportLimitPages * 4096);
  const UniqueFd other = dmabuf::make_memfd(4096);
  auto used_by_a_command = imported(table, fd.get());
  table.remove(used_by_a_command->base());
  EXPECT_EQ(result_of_importing_into(table, other.get()), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  used_by_a_command.reset();
  EXPECT_EQ(result_of_importing_into(table, other.get()), ZE_RESULT_SUCCESS);
}

TEST(ImportWindow, IsEachContextsOwnAndForImportsOnly) {
  AllocationTable table;
  AllocationTable other;
  const UniqueFd fd = dmabuf::make_memfd(kImportLimitPages * 4096);
  EXPECT_EQ(result_of_importing_into(table, fd.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(result_of_importing_into(other, fd.get()), ZE_RESULT_SUCCESS);
  EXPECT_NE(allocated(table, 4096), nullptr);
}

}  // namespace
}  // namespace softnpu

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include <npucore/importer.hpp>
#include <npucore/tensor.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

/// A descriptor of the test's own.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { ::close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

class Tensors : public OnSoftwareNpu {};

TEST_F(Tensors, AreWritableWholePages) {
  const Tensor tensor = Tensor::allocate(device_, 10000, MemoryUse::kInput);
  EXPECT_EQ(tensor.size_bytes(), 10000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 4096, 0u);
  std::memset(tensor.data(), 7, tensor.size_bytes());
  EXPECT_EQ(tensor.data()[9999], std::byte{7});
  EXPECT_FALSE(tensor.is_imported());
}

TEST_F(Tensors, OfNoBytesAreRefused) {
  expect_error(ErrorCode::kInvalidArgument, "at least one byte",
               [&] { Tensor::allocate(device_, 0, MemoryUse::kInput); });
}

TEST_F(Tensors, SlicesShareTheMemoryAndKeepItAlive) {
  Tensor whole = Tensor::allocate(device_, 8192, MemoryUse::kOutput);
  const Tensor part = whole.slice(100, 50).slice(10, 40);
  EXPECT_EQ(part.data(), whole.data() + 110);
  EXPECT_EQ(part.size_bytes(), 40u);
  whole = Tensor();
  std::memset(part.data(), 1, part.size_bytes());
  EXPECT_EQ(part.data()[39], std::byte{1});
}

TEST_F(Tensors, SlicesOutsideAreRefused) {
  const Tensor whole = Tensor::allocate(device_, 100, MemoryUse::kOutput);
  EXPECT_NO_THROW(whole.slice(100, 0));
  expect_error(ErrorCode::kInvalidArgument, "not inside a tensor of 100 bytes",
               [&] { whole.slice(60, 41); });
  expect_error(ErrorCode::kInvalidArgument, "not inside",
               [&] { whole.slice(50, static_cast<std::size_t>(-10)); });
}

TEST_F(Tensors, MovedFromAreEmpty) {
  Tensor first = Tensor::allocate(device_, 100, MemoryUse::kOutput);
  const Tensor second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(first.size_bytes(), 0u);
  EXPECT_EQ(first.data(), nullptr);
  EXPECT_TRUE(second);
}

TEST_F(Tensors, ExportShowsTheSameMemory) {
  const Tensor tensor = Tensor::allocate(device_, 8192, MemoryUse::kInput, true);
  const Fd fd(tensor.export_dmabuf());
  void* seen = ::mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd.get(), 0);
  ASSERT_NE(seen, MAP_FAILED);
  std::memset(tensor.data(), 5, 8192);
  EXPECT_EQ(static_cast<std::byte*>(seen)[8191], std::byte{5});
  ::munmap(seen, 8192);
}

TEST_F(Tensors, OnlyExportableMemoryIsExported) {
  const Tensor tensor = Tensor::allocate(device_, 8192, MemoryUse::kInput);
  expect_error(ErrorCode::kInvalidArgument, "allocated as exportable",
               [&] { tensor.export_dmabuf(); });
}

class Imports : public OnSoftwareNpu {
 protected:
  Importer importer_{device_};
};

TEST_F(Imports, ShareTheBuffersMemory) {
  const Fd fd(make_memfd(8192));
  ASSERT_EQ(::pwrite(fd.get(), "abc", 3, 5000), 3);
  const Tensor tensor = importer_.import(fd.get());
  EXPECT_TRUE(tensor.is_imported());
  EXPECT_EQ(tensor.size_bytes(), 8192u);
  EXPECT_EQ(std::memcmp(tensor.data() + 5000, "abc", 3), 0);
}

TEST_F(Imports, OfOneBufferAreOne) {
  const ImportStats before = importer_.stats();
  const Fd fd(make_memfd(4096));
  const Fd copy(::dup(fd.get()));
  const Tensor first = importer_.import(fd.get());
  const Tensor second = importer_.import(copy.get());
  EXPECT_EQ(first.data(), second.data());
  EXPECT_EQ(importer_.stats().imports, before.imports + 1);
  EXPECT_EQ(importer_.stats().hits, before.hits + 1);
  EXPECT_EQ(importer_.stats().live, 1u);
}

TEST_F(Imports, OutliveTheCallersDescriptor) {
  Tensor tensor;
  {
    const Fd fd(make_memfd(4096));
    tensor = importer_.import(fd.get());
  }
  std::memset(tensor.data(), 3, 4096);
  EXPECT_EQ(tensor.data()[4095], std::byte{3});
}

TEST_F(Imports, EndWithTheLastTensor) {
  const Fd fd(make_memfd(4096));
  Tensor first = importer_.import(fd.get());
  const Tensor slice = first.slice(10, 10);
  first = Tensor();
  EXPECT_EQ(importer_.stats().live, 1u);
  const std::uint64_t imports = importer_.stats().imports;
  importer_.import(fd.get());
  EXPECT_EQ(importer_.stats().imports, imports);
}

TEST_F(Imports, AreMadeAgainAfterTheirEnd) {
  const Fd fd(make_memfd(4096));
  const std::uint64_t imports = importer_.stats().imports;
  importer_.import(fd.get());
  EXPECT_EQ(importer_.stats().live, 0u);
  importer_.import(fd.get());
  EXPECT_EQ(importer_.stats().imports, imports + 2);
}

TEST_F(Imports, OfAnOwnExportGiveTheTensorsMemory) {
  const Tensor tensor = Tensor::allocate(device_, 4096, MemoryUse::kInput, true);
  const Fd fd(tensor.export_dmabuf());
  EXPECT_EQ(importer_.import(fd.get()).data(), tensor.data());
}

TEST_F(Imports, RefuseAClosedDescriptor) {
  expect_error(ErrorCode::kInvalidArgument, "file descriptor -1", [&] { importer_.import(-1); });
}

TEST_F(Imports, FromManyThreadsNeverOverlap) {
  const Fd fd(make_memfd(4096));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        const Tensor tensor = importer_.import(fd.get());
        EXPECT_EQ(importer_.stats().live, 1u);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(importer_.stats().live, 0u);
}

/// One looks at the other's memory in the moment when that lets go of it.
TEST_F(Tensors, OfOverlappingHostMemoryComeAndGoInManyThreads) {
  constexpr std::size_t kPage = 4096;
  constexpr auto kDuration = std::chrono::seconds(2);
  alignas(kPage) static std::byte pages[3 * kPage];
  const auto until = std::chrono::steady_clock::now() + kDuration;
  const auto import = [&](std::size_t first) {
    while (std::chrono::steady_clock::now() < until) {
      try {
        Tensor::import_host(device_, {&pages[first * kPage], 2 * kPage}, MemoryUse::kOutput);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
      }
    }
  };
  std::thread one([&] { import(0); }), other([&] { import(1); }), third([&] { import(1); });
  one.join();
  other.join();
  third.join();
}

}  // namespace
}  // namespace npu::test

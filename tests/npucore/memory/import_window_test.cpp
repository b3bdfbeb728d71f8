// DMA-BUFs that come again and again, on a device with little room for imports
// (SOFTNPU_IMPORT_LIMIT=65536): what idles makes room, what is in use stays.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <npucore/compiled_model.hpp>
#include <npucore/importer.hpp>

#include "support/test_dmabuf.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kRoomBytes = 65536;
constexpr std::size_t kInputBytes = kAffineElements * sizeof(float);

/// A buffer of someone else's.
class Producer {
 public:
  explicit Producer(std::size_t size_bytes) : fd_(make_dmabuf(size_bytes)) {}
  Producer(Producer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Producer() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  int fd() const { return fd_; }
  void write(float value) const {
    const DmabufMapping mapping(fd_, kInputBytes);
    std::fill_n(reinterpret_cast<float*>(mapping.data()), kAffineElements, value);
  }

 private:
  int fd_;
};

class ImportWindow : public OnSoftwareNpu {
 protected:
  void SetUp() override {
    OnSoftwareNpu::SetUp();
    before_ = importer_.stats();
  }
  std::uint64_t imports() const { return importer_.stats().imports - before_.imports; }
  std::uint64_t evictions() const { return importer_.stats().evictions - before_.evictions; }
  CompiledModel compile() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  /// Whether the model's result for a producer's `value` is right.
  static bool infer_is_right(Request& request, const Tensor& input, float value) {
    request.set_input(0, input);
    request.infer();
    const Tensor output = request.output(0);
    const auto* values = reinterpret_cast<const float*>(output.data());
    return std::all_of(values, values + kAffineElements,
                       [value](float each) { return each == affine(value); });
  }

  Importer importer_{device_};
  TempDir folder_;

 private:
  ImportStats before_;
};

TEST_F(ImportWindow, KeptBuffersStayImported) {
  const Producer producer(4096);
  const KeptImport kept = importer_.keep(producer.fd());
  EXPECT_EQ(imports(), 0u) << "it is imported when it is needed";
  const std::byte* address = kept.tensor().data();
  EXPECT_EQ(kept.tensor().data(), address);
  EXPECT_EQ(imports(), 1u);
  EXPECT_EQ(importer_.stats().live, 1u);
}

TEST_F(ImportWindow, OneBufferIsKeptOnceHoweverOftenItIsDuplicated) {
  const Producer producer(kRoomBytes);
  const int duplicate = ::dup(producer.fd());
  const KeptImport one = importer_.keep(producer.fd());
  const KeptImport other = importer_.keep(duplicate);
  ::close(duplicate);
  EXPECT_EQ(one.tensor().data(), other.tensor().data());
  EXPECT_EQ(importer_.import(producer.fd()).data(), one.tensor().data());
  EXPECT_EQ(imports(), 1u);
}

TEST_F(ImportWindow, BuffersOfAFrameAreImportedInOneCall) {
  const Producer luma(4096), chroma(4096);
  const KeptImport kept_luma = importer_.keep(luma.fd()), kept_chroma = importer_.keep(chroma.fd());
  const KeptImport* const planes[] = {&kept_luma, &kept_chroma, &kept_luma};
  std::array<Tensor, 4> tensors;
  importer_.import(planes, tensors);
  EXPECT_EQ(tensors[0].data(), kept_luma.tensor().data());
  EXPECT_EQ(tensors[1].data(), kept_chroma.tensor().data());
  EXPECT_EQ(tensors[2].data(), kept_luma.tensor().data());
  EXPECT_FALSE(tensors[3]);
  EXPECT_EQ(imports(), 2u);
}

TEST_F(ImportWindow, TheLastKeeperLetsGo) {
  const Producer producer(4096);
  {
    const KeptImport one = importer_.keep(producer.fd());
    const KeptImport other = one;
    one.tensor();
  }
  EXPECT_EQ(importer_.stats().live, 0u);
}

TEST_F(ImportWindow, WhatWasNotUsedForTheLongestTimeMakesRoom) {
  const Producer producers[] = {Producer(kRoomBytes / 2), Producer(kRoomBytes / 2),
                                Producer(kRoomBytes / 2)};
  std::vector<KeptImport> kept;
  for (const Producer& producer : producers) kept.push_back(importer_.keep(producer.fd()));
  kept[0].tensor();
  kept[1].tensor();
  kept[0].tensor();
  kept[2].tensor();
  EXPECT_EQ(evictions(), 1u);
  kept[0].tensor();
  EXPECT_EQ(imports(), 3u) << "the one that was used lately had to go";
  kept[1].tensor();
  EXPECT_EQ(imports(), 4u);
}

/// Another thread may want the buffer that one thread evicts at that moment.
TEST_F(ImportWindow, BuffersThatManyThreadsUseStayUsable) {
  constexpr std::size_t kBuffers = 24, kThreads = 4, kRounds = 3000;
  std::vector<Producer> producers;
  std::vector<KeptImport> kept;
  for (std::size_t i = 0; i < kBuffers; ++i) {
    producers.emplace_back(4096);
    kept.push_back(importer_.keep(producers.back().fd()));
  }
  std::atomic<int> unusable = 0;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::size_t round = 0; round < kRounds; ++round) {
        try {
          unusable += kept[(round + round * thread) % kBuffers].tensor().dmabuf_fd() < 0;
        } catch (const Error& error) {
          unusable += error.code() != ErrorCode::kOutOfMemory;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unusable, 0);
  for (const KeptImport& each : kept) EXPECT_NO_THROW(each.tensor());
}

TEST_F(ImportWindow, SeveralMakeRoomForALargeOne) {
  const Producer small[] = {Producer(16384), Producer(16384), Producer(16384)};
  std::vector<KeptImport> kept;
  for (const Producer& producer : small) kept.push_back(importer_.keep(producer.fd()));
  for (const KeptImport& each : kept) each.tensor();
  const Producer large(kRoomBytes - 4096);
  EXPECT_EQ(importer_.import(large.fd()).size_bytes(), kRoomBytes - 4096);
  EXPECT_EQ(evictions(), 3u);
}

TEST_F(ImportWindow, WhatIsInUseStaysAndIsToldAbout) {
  const Producer used(kRoomBytes), other(4096);
  const KeptImport kept = importer_.keep(used.fd());
  const Tensor tensor = kept.tensor();
  expect_error(ErrorCode::kOutOfMemory, "1 imported buffers are in use",
               [&] { importer_.import(other.fd()); });
  EXPECT_EQ(kept.tensor().data(), tensor.data());
  EXPECT_EQ(evictions(), 0u);
}

TEST_F(ImportWindow, ABufferThatNeverFitsIsAnError) {
  const Producer huge(kRoomBytes + 4096);
  const KeptImport kept = importer_.keep(huge.fd());
  expect_error(ErrorCode::kOutOfMemory, "0 imported buffers are in use", [&] { kept.tensor(); });
}

TEST_F(ImportWindow, AnEvictedBufferIsTheSameWhenItComesBack) {
  Producer producer(kRoomBytes);
  producer.write(7);
  const KeptImport kept = importer_.keep(producer.fd());
  kept.tensor();
  { const Producer gone(std::move(producer)); }  // its own descriptor is closed
  const Producer other(kRoomBytes);
  importer_.import(other.fd());
  ASSERT_EQ(evictions(), 1u);
  EXPECT_EQ(*reinterpret_cast<const float*>(kept.tensor().data()), 7);
}

// Drivers have one result for both.
TEST_F(ImportWindow, MemoryThatCannotBeMappedEvictsNobody) {
  const Producer producer(4096);
  const KeptImport kept = importer_.keep(producer.fd());
  kept.tensor();
  const int sealed = ::memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(sealed, 4096), 0);
  ASSERT_EQ(::fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
  expect_error(ErrorCode::kUnsupported, "does not let the CPU map it",
               [&] { importer_.import(sealed); });
  ::close(sealed);
  EXPECT_EQ(evictions(), 0u);
}

TEST_F(ImportWindow, WhatIsNoBufferIsNotKept) {
  expect_error(ErrorCode::kInvalidArgument, "file descriptor -1", [&] { importer_.keep(-1); });
  expect_error(ErrorCode::kInvalidArgument, "no buffer", [] { KeptImport().tensor(); });
}

TEST_F(ImportWindow, NoBufferIsAnError) {
  const std::vector<const KeptImport*> none{nullptr};
  std::array<Tensor, 1> tensors;
  expect_error(ErrorCode::kInvalidArgument, "a buffer is null",
               [&] { importer_.import(none, tensors); });
  expect_error(ErrorCode::kInvalidArgument, "more buffers than tensors",
               [&] { importer_.import(none, {}); });
}

TEST_F(ImportWindow, WithoutADescriptorLeftIsAnErrorThatSaysSo) {
  const Producer producer(4096);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(producer.fd());
  ::close(next);
  rlimit none_left = before;
  none_left.rlim_cur = static_cast<rlim_t>(next);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none_left), 0);
  expect_error(ErrorCode::kIo, "ulimit -n", [&] { importer_.import(producer.fd()); });
  expect_error(ErrorCode::kIo, "ulimit -n", [&] { importer_.keep(producer.fd()); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(importer_.import(producer.fd()).size_bytes(), 4096u);
}

TEST_F(ImportWindow, ARequestKeepsWhatItIsBoundTo) {
  const Producer bound(kRoomBytes), other(kRoomBytes);
  const KeptImport kept = importer_.keep(bound.fd());
  const CompiledModel model = compile();
  {
    Request request = model.create_request();
    bound.write(3);
    EXPECT_TRUE(infer_is_right(request, kept.tensor(), 3));
    expect_error(ErrorCode::kOutOfMemory, "in use", [&] { importer_.import(other.fd()); });
  }
  importer_.import(other.fd());
}

// A driver's list keeps the buffers that it was recorded with. Were they imported again meanwhile,
// the list's letting go would take them from the new import.
TEST_F(ImportWindow, ABufferMayComeBackWhileAListStillHasIt) {
  const Producer first(4096), second(4096);
  Request request = compile().create_request();
  for (int round = 0; round < 40; ++round) {
    for (const Producer* producer : {&first, &second}) {
      const auto value = static_cast<float>(round);
      producer->write(value);
      ASSERT_TRUE(infer_is_right(request, importer_.import(producer->fd()), value)) << round;
    }
  }
}

TEST_F(ImportWindow, ABufferFreedInFlightIsReadAllTheSame) {
  Request request = compile().create_request();
  {
    const Producer producer(4096);
    producer.write(9);
    request.set_input(0, importer_.keep(producer.fd()).tensor());
    request.submit();
  }
  request.wait();
  EXPECT_EQ(*reinterpret_cast<const float*>(request.output(0).data()), affine(9));
}

// A recording with a buffer does not count as its use.
TEST_F(ImportWindow, BuffersThatIdleMakeRoomWhateverWasInferredOnThem) {
  constexpr int kBuffers = 5;
  CompiledModel model = compile();
  Request request = model.create_request();
  std::vector<Producer> producers;
  std::vector<KeptImport> kept;
  for (int index = 0; index < kBuffers; ++index) {
    producers.emplace_back(kRoomBytes / 4);
    kept.push_back(importer_.keep(producers.back().fd()));
  }
  for (int round = 0; round < 3; ++round) {
    for (int index = 0; index < kBuffers; ++index) {
      producers[static_cast<std::size_t>(index)].write(static_cast<float>(index));
      EXPECT_TRUE(infer_is_right(request, kept[static_cast<std::size_t>(index)].tensor(),
                                 static_cast<float>(index)));
    }
  }
  EXPECT_GT(evictions(), 0u);
}

}  // namespace
}  // namespace npu::test

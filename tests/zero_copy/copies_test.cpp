// No copy of a frame is made by npucore or the plugin on any zero-copy path; and the counter that
// says so does see one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <npucore/npucore.hpp>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

#include "copy_counter.hpp"
#include "producer.hpp"

namespace npu::test {
namespace {

RunOptions options_in(const TempDir& folder) {
  return {folder.write("pixels.xml", pixels_ir(16, 16)).string()};
}

// ---- What the counter sees

/// Copies by this program.
std::uint64_t counted_here(const CopyCounter& counter) {
  std::uint64_t bytes = 0;
  for (const CopyCount& count : counter.all()) {
    if (std::string(count.asked_by).starts_with("test-copies")) {
      bytes += count.bytes;
    }
  }
  return bytes;
}

// Keeps the compiler from knowing the size, and with it from inlining the call.
[[gnu::noipa]] std::size_t unknown(std::size_t size) {
  return size;
}

TEST(CopyCounter, CountsOneLargeCopy) {
  const std::vector<char> from(8192, 'x');
  std::vector<char> to(8192);
  const CopyCounter counter;
  std::memcpy(to.data(), from.data(), unknown(8192));
  EXPECT_EQ(counted_here(counter), 8192u);
}

TEST(CopyCounter, CountsStdCopy) {
  const std::vector<char> from(8192, 'x');
  std::vector<char> to(8192);
  const CopyCounter counter;
  std::copy_n(from.begin(), unknown(8192), to.begin());
  EXPECT_EQ(counted_here(counter), 8192u);
}

TEST(CopyCounter, CountsACopyRowByRowAsOne) {
  constexpr std::size_t kRows = 100, kRowBytes = 320, kStride = 384;
  const std::vector<char> from(kRows * kStride, 'x');
  std::vector<char> to(kRows * kRowBytes);
  const CopyCounter counter;
  for (std::size_t row = 0; row < unknown(kRows); ++row) {
    std::memcpy(to.data() + row * kRowBytes, from.data() + row * kStride, unknown(kRowBytes));
  }
  EXPECT_EQ(counted_here(counter), kRows * kRowBytes);
}

TEST(CopyCounter, LeavesSmallCopiesOut) {
  const std::vector<char> from(4095, 'x');
  std::vector<char> to(4095);
  const CopyCounter counter;
  std::memcpy(to.data(), from.data(), unknown(4095));
  EXPECT_EQ(counted_here(counter), 0u);
}

TEST(CopyCounter, TellsWhoAskedGStreamerForACopy) {
  const gstnpu::BufferRef buffer(gst_buffer_new_allocate(nullptr, 8192, nullptr));
  gst_buffer_memset(buffer.get(), 0, 1, 8192);
  const CopyCounter counter;
  const gstnpu::BufferRef copy(gst_buffer_copy_deep(buffer.get()));
  EXPECT_GE(counted_here(counter), 8192u) << to_string(counter.all());
}

TEST(CopyCounter, CatchesTheFramesThatThePluginCopies) {
  const TempDir folder;
  const ProducerRun result = run(producer_named("appsrc, ordinary memory"), options_in(folder));
  ASSERT_EQ(result.not_run, "");
  EXPECT_EQ(result.copied, result.frames);
  EXPECT_GE(total_bytes(result.our_copies), result.copied_bytes) << to_string(result.our_copies);
  EXPECT_GT(result.copied_bytes, 0u);
}

// ---- The paths

struct Path {
  std::string name;
  Producer producer;
  guint64 ProducerRun::*way;
};

void PrintTo(const Path& path, std::ostream* out) {
  *out << path.name;
}

Path offered(const char* name, const char* producer) {
  return {name, producer_named(producer), &ProducerRun::offered};
}

Path stand_in(const char* name, bool one_per_plane) {
  Producer made{"stand-in", "{pixels}", ""};
  made.pool = BufferKind::kMemfd;
  made.one_per_plane = one_per_plane;
  return {name, made, &ProducerRun::imported};
}

class ZeroCopyPath : public testing::TestWithParam<Path> {};

TEST_P(ZeroCopyPath, HasNoCopyOfOurs) {
  ASSERT_TRUE(CopyCounter::is_loaded());
  const TempDir folder;
  const ProducerRun result = run(GetParam().producer, options_in(folder));
  ASSERT_EQ(result.not_run, "");
  EXPECT_EQ(result.frames, GetParam().producer.frames);
  EXPECT_EQ(result.*GetParam().way, result.frames) << result.copy_reasons;
  EXPECT_EQ(result.copied_bytes, 0u);
  EXPECT_TRUE(result.our_copies.empty()) << to_string(result.our_copies);
}

INSTANTIATE_TEST_SUITE_P(All, ZeroCopyPath,
                         testing::Values(offered("OfferedToATestSource", "videotestsrc"),
                                         offered("OfferedToAConverter", "videoconvertscale"),
                                         offered("OfferedToAJpegDecoder", "jpegdec"),
                                         offered("OfferedToAVp8Decoder", "vp8dec"),
                                         stand_in("ImportedInOnePiece", false),
                                         stand_in("ImportedInOnePiecePerPlane", true)),
                         by_name);

// ---- npucore by itself

class Library : public testing::Test {
 protected:
  static constexpr int kSide = 64;
  static constexpr std::size_t kBytes = std::size_t{3} * kSide * kSide;

  CompiledModel compile() {
    const auto path = folder_.write("packed.xml", packed_ir(kSide, kSide));
    return CompiledModel::compile(device_, Model::read(path));
  }

  TempDir folder_;
  Device device_ = Device::open(DeviceKind::kSoftware);
};

TEST_F(Library, ReadsAnImportedBufferWithoutACopy) {
  const CompiledModel model = compile();
  Request request = model.create_request();
  Importer importer(device_);
  const int fd = make_buffer(BufferKind::kMemfd, kBytes);
  ASSERT_GE(fd, 0);
  const CopyCounter counter;
  for (int i = 0; i < 5; ++i) {
    request.set_input(0, importer.import(fd).slice(0, kBytes));
    request.infer();
  }
  EXPECT_TRUE(counter.ours().empty()) << to_string(counter.ours());
  ::close(fd);
}

TEST_F(Library, IsCaughtWhenItCopiesMemoryThatTheDeviceCannotReach) {
  const CompiledModel model = compile();
  Request request = model.create_request();
  std::vector<std::byte> odd(kBytes + 1);
  const CopyCounter counter;
  request.set_input(0, HostMemory(odd.data() + 1, kBytes));
  request.infer();
  EXPECT_GE(total_bytes(counter.ours()), kBytes) << to_string(counter.all());
}

}  // namespace
}  // namespace npu::test

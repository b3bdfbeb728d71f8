// npuinfer on DMA-BUFs of producers that go on for long, renew their buffers, have more of them
// than the device has room for, or send what does not hold what it claims.
// SOFTNPU_IMPORT_LIMIT=81920.
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>
#include <meta/npumeta.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <limits>

#include <npucore/importer.hpp>

#include "support/test_dmabuf.hpp"

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

using npu::test::fill_dmabuf;
using npu::test::make_dmabuf;

constexpr gsize kPage = 4096;
constexpr gsize kRoomPages = 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr long kMostGrowthKiB = 400 << 10;  // they keep freed memory
constexpr std::size_t kMostNewMappings = 400;
#else
constexpr long kMostGrowthKiB = 8 << 10;
constexpr std::size_t kMostNewMappings = 16;  // the allocator's arenas come and go
#endif

/// Rounds of the long runs; NPU_IMPORT_ROUNDS shortens them on slow machines.
guint rounds() {
  const char* text = std::getenv("NPU_IMPORT_ROUNDS");
  return text != nullptr ? static_cast<guint>(std::strtoul(text, nullptr, 10)) : 1000;
}

/// Resources of the process that a leak would add to.
struct Holdings {
  std::size_t descriptors = open_descriptors();
  std::size_t mappings = 0;
  long resident_kib = 0;

  Holdings() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++mappings;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) {
        resident_kib = std::strtol(line.c_str() + 6, nullptr, 10);
      }
    }
  }
};

void expect_no_growth(const Holdings& before, const Holdings& after) {
  EXPECT_LE(after.descriptors, before.descriptors);
  EXPECT_LE(after.mappings, before.mappings + kMostNewMappings);
  EXPECT_LE(after.resident_kib, before.resident_kib + kMostGrowthKiB);
}

class Imports : public testing::Test {
 protected:
  Imports() {
    dir_.write("pixels.bin", "");
    const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
    configure_ = [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }

  /// `count` buffers; each is filled with its number.
  std::vector<MemoryRef> pool(guint8 count, gsize size) {
    std::vector<MemoryRef> memories;
    for (guint8 i = 0; i < count; ++i) memories.push_back(make_dmabuf_memory(size, i));
    return memories;
  }
  static void expect_result(ElementHarness& harness, float value) {
    const BufferRef out = harness.pull();
    ASSERT_NE(out, nullptr);
    ASSERT_EQ(first_tensor(out.get()), std::vector<float>(192, value));
  }
  /// Pushes 8x8 RGB frames from `pool`, one after the other, and looks at the results.
  static void run(ElementHarness& harness, const std::vector<MemoryRef>& pool, guint frames) {
    for (guint i = 0; i < frames; ++i) {
      ASSERT_EQ(harness.push(frame_in(pool[i % pool.size()].get())), GST_FLOW_OK) << i;
      ASSERT_NO_FATAL_FAILURE(expect_result(harness, static_cast<float>(i % pool.size()))) << i;
    }
  }

  TempDir dir_;
  std::function<void(GstElement*)> configure_;
};

TEST_F(Imports, TenThousandFramesFromSixteenBuffersAreSixteenImports) {
  ElementHarness harness("npuinfer", configure_, caps_of("RGB", 8, 8));
  const guint64 before = harness.stat("imports");
  const auto memories = pool(16, 192);
  ASSERT_NO_FATAL_FAILURE(run(harness, memories, rounds()));
  const Holdings settled;
  ASSERT_NO_FATAL_FAILURE(run(harness, memories, 9 * rounds()));
  expect_no_growth(settled, Holdings());
  EXPECT_LE(harness.stat("imports") - before, 16u);
  EXPECT_EQ(harness.stat("import-evictions"), 0u);
  EXPECT_EQ(harness.stat("copied"), 0u);
}

TEST_F(Imports, AProducerThatRenewsItsBuffersAThousandTimesLeaksNothing) {
  npu::Importer importer(npu::Device::open(npu::DeviceKind::kSoftware));
  const Holdings all_before;
  {
    ElementHarness harness("npuinfer", configure_, caps_of("RGB", 8, 8));
    for (int round = 0; round < 50; ++round) run(harness, pool(4, 192), 4);
    const Holdings settled;
    for (guint round = 0; round < rounds() && !HasFatalFailure(); ++round) {
      run(harness, pool(4, 192), 4);
      EXPECT_LE(importer.stats().live, 12u) << "only what requests are still bound to";
    }
    expect_no_growth(settled, Holdings());
    EXPECT_EQ(harness.stat("copied"), 0u);
  }
  EXPECT_EQ(importer.stats().live, 0u);
}

// ---- The device's room for imports

TEST_F(Imports, APoolLargerThanTheDevicesRoomIsReadInPlace) {
  ElementHarness harness("npuinfer", configure_, caps_of("RGB", 8, 8));
  const auto memories = pool(2 * kRoomPages, 192);
  const guint64 before = harness.stat("import-evictions");
  run(harness, memories, 4 * kRoomPages);
  EXPECT_GE(harness.stat("import-evictions") - before, kRoomPages);
  EXPECT_EQ(harness.stat("copied"), 0u);
}

// With as many requests as fit: the next frame waits until the oldest has left the device.
TEST_F(Imports, FramesThatFillTheRoomWaitForEachOther) {
  ElementHarness harness("npuinfer", [this](GstElement* element) {
    configure_(element);
    g_object_set(element, "nireq", 4, nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  const auto memories = pool(3, (kRoomPages - 4) * kPage);
  for (guint i = 0; i < 24; ++i) {
    ASSERT_EQ(harness.push(frame_in(memories[i % 3].get())), GST_FLOW_OK);
  }
  for (guint i = 0; i < 24; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_result(harness, static_cast<float>(i % 3))) << i;
  }
  EXPECT_EQ(harness.stat("copied"), 0u);
  EXPECT_EQ(harness.stat("imported"), 24u);
}

TEST_F(Imports, RoomThatSomebodyElseHoldsMeansCopiesUntilItIsFree) {
  ElementHarness harness("npuinfer", configure_, caps_of("RGB", 8, 8));
  npu::Importer importer(npu::Device::open(npu::DeviceKind::kSoftware));
  const int fd = make_dmabuf(kRoomPages * kPage);
  npu::Tensor held = importer.import(fd);
  ::close(fd);
  const auto memories = pool(2, 192);
  run(harness, memories, 4);
  EXPECT_EQ(harness.stat("copied-import-window"), 4u);
  EXPECT_TRUE(has(harness.stat_text("copy-reasons"), "1 imported buffers are in use"));
  held = {};
  run(harness, memories, 4);
  EXPECT_EQ(harness.stat("imported"), 4u);
}

TEST_F(Imports, ABufferLargerThanTheRoomIsCopied) {
  ElementHarness harness("npuinfer", configure_, caps_of("RGB", 8, 8));
  const auto memories = pool(2, (kRoomPages + 1) * kPage);
  run(harness, memories, 6);
  EXPECT_EQ(harness.stat("copied-import-refused"), 6u);
}

// ---- Producers that err

constexpr guint kWidth = 64, kHeight = 64;
constexpr gsize kLumaBytes = kWidth * kHeight, kChromaBytes = kWidth * kHeight / 2;

class TwoPlanes : public Imports {
 protected:
  TwoPlanes() : harness_("npuinfer", configure_) {
    harness_.set_caps("video/x-raw(memory:DMABuf),format=NV12,width=64,height=64,framerate=30/1");
  }
  /// A frame of two memories; `chroma_offset` is what its metadata say.
  static BufferRef frame_of_two(MemoryRef luma, MemoryRef chroma, gsize chroma_offset) {
    BufferRef frame(gst_buffer_new());
    gst_buffer_append_memory(frame.get(), luma.release());
    gst_buffer_append_memory(frame.get(), chroma.release());
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0, chroma_offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {kWidth, kWidth};
    gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                                   kWidth, kHeight, 2, offsets, strides);
    return frame;
  }
  void expect_grey(BufferRef frame) {
    ASSERT_EQ(harness_.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness_.pull();
    ASSERT_NE(out, nullptr);
    const auto values = first_tensor(out.get());
    ASSERT_EQ(values.size(), 192u);
    for (const float value : values) ASSERT_NEAR(value, 130.41f, 0.5);
  }
  void expect_error(BufferRef frame, const std::string& part) {
    EXPECT_EQ(harness_.push(std::move(frame)), GST_FLOW_ERROR);
    EXPECT_TRUE(has(harness_.only_message(GST_MESSAGE_ERROR), part));
  }

  ElementHarness harness_;
};

TEST_F(TwoPlanes, InTwoBuffersAreReadInPlace) {
  expect_grey(frame_of_two(make_dmabuf_memory(kLumaBytes, 128),
                           make_dmabuf_memory(kChromaBytes, 128), kLumaBytes));
  EXPECT_EQ(harness_.stat("imported"), 1u);
}

TEST_F(TwoPlanes, MayStartInsideTheirBuffers) {
  MemoryRef luma = make_dmabuf_memory(kPage + kLumaBytes, 1);
  MemoryRef chroma = make_dmabuf_memory(2 * kPage + kChromaBytes, 1);
  fill_dmabuf(gst_dmabuf_memory_get_fd(luma.get()), kPage, kLumaBytes, 128);
  fill_dmabuf(gst_dmabuf_memory_get_fd(chroma.get()), 2 * kPage, kChromaBytes, 128);
  gst_memory_resize(luma.get(), kPage, kLumaBytes);
  gst_memory_resize(chroma.get(), 2 * kPage, kChromaBytes);
  expect_grey(frame_of_two(std::move(luma), std::move(chroma), kLumaBytes));
  EXPECT_EQ(harness_.stat("imported"), 1u);
}

TEST_F(TwoPlanes, MayBeSharedPartsOfOneBuffer) {
  const MemoryRef whole = make_dmabuf_memory(kLumaBytes + kChromaBytes, 128);
  MemoryRef luma(gst_memory_share(whole.get(), 0, kLumaBytes));
  MemoryRef chroma(gst_memory_share(whole.get(), kLumaBytes, kChromaBytes));
  const guint64 before = harness_.stat("imports");
  expect_grey(frame_of_two(std::move(luma), std::move(chroma), kLumaBytes));
  EXPECT_EQ(harness_.stat("imports"), before + 1);
}

struct WrongOffset {
  const char* name;
  gsize chroma;
};

class WrongOffsets : public TwoPlanes, public testing::WithParamInterface<WrongOffset> {};

TEST_P(WrongOffsets, AreAnError) {
  expect_error(frame_of_two(make_dmabuf_memory(kLumaBytes, 128),
                            make_dmabuf_memory(kChromaBytes, 128), GetParam().chroma),
               "ends inside a plane");
}

INSTANTIATE_TEST_SUITE_P(All, WrongOffsets,
                         testing::Values(WrongOffset{"behind_the_end", kLumaBytes + kChromaBytes},
                                         WrongOffset{"a_row_too_far", kLumaBytes + kWidth},
                                         WrongOffset{"far_away", gsize{1} << 40},
                                         WrongOffset{"wraps",
                                                     std::numeric_limits<gsize>::max() - 10}),
                         by_name);

TEST_F(TwoPlanes, AShortDescriptorIsAnError) {
  MemoryRef chroma = wrap_dmabuf(make_dmabuf(kPage), 4 * kPage);
  MemoryRef luma = wrap_dmabuf(make_dmabuf(kPage), 4 * kPage);
  gst_memory_resize(luma.get(), 2 * kPage, kLumaBytes);
  expect_error(frame_of_two(std::move(luma), std::move(chroma), kLumaBytes), "which has 4096");
}

TEST_F(TwoPlanes, AClosedDescriptorIsAnError) {
  // Compiles first, so that nothing takes the descriptor's number afterwards.
  expect_grey(frame_of_two(make_dmabuf_memory(kLumaBytes, 128),
                           make_dmabuf_memory(kChromaBytes, 128), kLumaBytes));
  MemoryRef chroma = make_dmabuf_memory(kChromaBytes, 128);
  const int fd = make_dmabuf(kLumaBytes);
  const ObjectRef<GstAllocator> allocator(gst_dmabuf_allocator_new());
  MemoryRef luma(gst_dmabuf_allocator_alloc_with_flags(allocator.get(), fd, kLumaBytes,
                                                       GST_FD_MEMORY_FLAG_DONT_CLOSE));
  ::close(fd);
  expect_error(frame_of_two(std::move(luma), std::move(chroma), kLumaBytes), "is closed");
}

TEST_F(TwoPlanes, MemfdsThatDoNotClaimToBeMoreAreCopied) {
  const ObjectRef<GstAllocator> plain(gst_fd_allocator_new());
  MemoryRef planes[2];
  for (int i = 0; i < 2; ++i) {
    const gsize bytes = i == 0 ? kLumaBytes : kChromaBytes;
    const int fd = ::memfd_create("frame", MFD_CLOEXEC);
    ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
    fill_dmabuf(fd, 0, bytes, 128);
    planes[i].reset(gst_fd_allocator_alloc(plain.get(), fd, bytes, GST_FD_MEMORY_FLAG_NONE));
  }
  expect_grey(frame_of_two(std::move(planes[0]), std::move(planes[1]), kLumaBytes));
  EXPECT_EQ(harness_.stat("copied-ordinary-memory"), 1u);
}

// Without SOFTNPU_ALLOW_MEMFD the device is as strict as hardware.
class StrictImports : public TwoPlanes {
 protected:
  MemoryRef memfd(gsize bytes) {
    const int fd = ::memfd_create("frame", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(fd, static_cast<off_t>(bytes)), 0);
    fill_dmabuf(fd, 0, bytes, 128);
    return wrap_dmabuf(fd, bytes);
  }
};

TEST_F(StrictImports, AMemfdThatPosesAsADmabufIsCopiedAndNamed) {
  const MemoryRef luma = memfd(kLumaBytes), chroma = memfd(kChromaBytes);
  for (int i = 0; i < 3; ++i) {
    expect_grey(frame_of_two(MemoryRef(gst_memory_ref(luma.get())),
                             MemoryRef(gst_memory_ref(chroma.get())), kLumaBytes));
  }
  EXPECT_EQ(harness_.stat("copied-import-refused"), 3u);
  EXPECT_TRUE(has(harness_.stat_text("copy-reasons"), "is not a DMA-BUF but '/memfd:frame"));
}

}  // namespace
}  // namespace gstnpu::test

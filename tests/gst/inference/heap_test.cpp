// The heap while frames go through an element: it does not grow by a byte a frame. Run without the
// allocators' own caches (GLIBC_TUNABLES=glibc.malloc.tcache_count=0, G_SLICE=always-malloc), on a
// device that computes nothing (SOFTNPU_EXEC=null).
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>

#include <npucore/npucore.hpp>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

// Queues, caches and pools have their size by then.
constexpr guint kWarmUp = 500;
constexpr guint kFrames = 2000;
constexpr int kSide = 8;

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Origin of a frame's bytes.
enum class Source { kMemory, kOwnPool, kDmabufs };

class Heap : public testing::Test {
 protected:
  /// Bytes that the heap has grown by in kFrames frames, none of which is inside before or after.
  static std::ptrdiff_t growth(ElementHarness& harness,
                               const std::function<BufferRef(guint)>& next) {
    gst_harness_set_live(harness.get(), FALSE);  // else messages of the latency stay on its bus
    harness.set_caps(caps_of("RGB", kSide, kSide));
    run(harness, next, 0, kWarmUp);
    const auto before = heap_in_use();
    run(harness, next, kWarmUp, kWarmUp + kFrames);
    return static_cast<std::ptrdiff_t>(heap_in_use() - before);
  }

  /// Frames of the source, made anew each time; buffers of DMA-BUFs come round again.
  static std::function<BufferRef(guint)> frames_from(Source source, ElementHarness& harness) {
    if (source == Source::kOwnPool) {
      return [&harness](guint) {
        return BufferRef(gst_harness_create_buffer(harness.get(), kSide * kSide * 3));
      };
    }
    if (source == Source::kMemory) {
      return [](guint index) { return frame_of("RGB", kSide, kSide, 1, index); };
    }
    constexpr std::size_t kBuffers = 5;
    auto memories = std::make_shared<std::vector<MemoryRef>>();
    for (std::size_t i = 0; i < kBuffers; ++i) {
      memories->push_back(make_dmabuf_memory(kSide * kSide * 3, 1));
    }
    return [memories](guint index) {
      GstMemory* memory = (*memories)[index % memories->size()].get();
      return frame_in(memory);
    };
  }

  std::string model() { return dir_.write("pixels.xml", pixels_ir(kSide, kSide)).string(); }
  std::string blob() {
    auto compiled = npu::Model::read(model());
    compiled.add_preprocess(
        compiled.default_preprocess(npu::FrameLayout::tight(npu::PixelFormat::kRGB, kSide, kSide)));
    const std::string path = (dir_.path() / "pixels.blob").string();
    npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), compiled)
        .export_blob(path);
    return path;
  }
  static std::function<void(GstElement*)> with(const std::string& model) {
    return [model](GstElement* element) {
      g_object_set(element, "model", model.c_str(), "device", "software", nullptr);
    };
  }

  TempDir dir_;

 private:
  static void run(ElementHarness& harness, const std::function<BufferRef(guint)>& next, guint from,
                  guint to) {
    for (guint i = from; i < to; ++i) {
      ASSERT_EQ(harness.push(next(i)), GST_FLOW_OK);
      ASSERT_NE(harness.pull().get(), nullptr);
    }
  }
};

class HeapOf : public Heap, public testing::WithParamInterface<Source> {};

TEST_P(HeapOf, NpuinferDoesNotGrow) {
  ElementHarness harness("npuinfer", with(model()));
  EXPECT_LT(growth(harness, frames_from(GetParam(), harness)), std::ptrdiff_t{kFrames});
  EXPECT_EQ(harness.stat("frames"), kWarmUp + kFrames);
}

TEST_P(HeapOf, NpuimportDoesNotGrow) {
  ElementHarness harness("npuimport", with(blob()));
  EXPECT_LT(growth(harness, frames_from(GetParam(), harness)), std::ptrdiff_t{kFrames});
  EXPECT_EQ(harness.stat("frames"), kWarmUp + kFrames);
}

constexpr std::array kSourceNames{"Memory", "OwnPool", "Dmabufs"};

INSTANTIATE_TEST_SUITE_P(Sources, HeapOf,
                         testing::Values(Source::kMemory, Source::kOwnPool, Source::kDmabufs),
                         [](const auto& row) -> std::string {
                           return kSourceNames.at(static_cast<std::size_t>(row.param));
                         });

TEST_F(Heap, ALeakOfEightHundredBytesAFrameIsSeen) {
  constexpr std::size_t kLeak = 800;
  ElementHarness harness("npuinfer", with(model()));
  std::vector<std::unique_ptr<char[]>> kept;
  kept.reserve(kWarmUp + kFrames);
  const auto leaking = [&](guint index) {
    kept.push_back(std::make_unique<char[]>(kLeak));
    return frame_of("RGB", kSide, kSide, 1, index);
  };
  EXPECT_GE(growth(harness, leaking), std::ptrdiff_t{kLeak * kFrames});
}

}  // namespace
}  // namespace gstnpu::test

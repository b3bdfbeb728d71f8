// npuoverlay on frames in DMA-BUFs: what of them it writes to, seen by who has the DMA-BUF.
#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/test_dmabuf.hpp"

#include "element_harness.hpp"
#include "results.hpp"

namespace gstnpu::test::dmabuf_test {
namespace {

using Bytes = std::vector<guint8>;

constexpr int kWidth = 320, kHeight = 180;
constexpr guint8 kLuma = 128, kGuard = 0xA5;

/// As decoders lay NV12 out: longer rows, more of them, and something in front.
struct Plane {
  gsize offset;  // in its memory
  gint stride;
  int rows;  // that belong to the picture, bytes kWidth
};
constexpr gint kStride = 384;
constexpr Plane kPlanes[] = {{4096, kStride, kHeight}, {512, kStride, kHeight / 2}};
constexpr gsize kSizes[] = {4096 + gsize{kStride} * 192, 512 + gsize{kStride} * 96};

Bytes bytes_of(GstMemory* memory) {
  const npu::test::DmabufMapping mapping(gst_dmabuf_memory_get_fd(memory), memory->size);
  return {mapping.data(), mapping.data() + memory->size};
}

/// Start of a plane, which may share its DMA-BUF with the one before it.
gsize offset_of(int plane, bool are_apart) {
  return kPlanes[plane].offset + (are_apart || plane == 0 ? 0 : kSizes[0]);
}

bool is_pixel(gsize at, const Plane& plane, gsize offset) {
  const gsize row = (at - offset) / static_cast<gsize>(plane.stride);
  return at >= offset && row < static_cast<gsize>(plane.rows) &&
         (at - offset) % static_cast<gsize>(plane.stride) < kWidth;
}

/// Gray, and guards where no pixels are.
MemoryRef memory_of(gsize size, const std::vector<std::pair<const Plane*, gsize>>& planes) {
  MemoryRef memory = make_dmabuf_memory(size, kGuard);
  const npu::test::DmabufMapping mapping(gst_dmabuf_memory_get_fd(memory.get()), size);
  for (const auto& [plane, offset] : planes) {
    for (int row = 0; row < plane->rows; ++row) {
      std::fill_n(mapping.data() + offset + row * plane->stride, kWidth, kLuma);
    }
  }
  return memory;
}

void add_results(GstBuffer* frame) {
  for (int i = 0; i < 3; ++i) {
    GstVideoRegionOfInterestMeta* object =
        add_object(frame, "object " + std::to_string(i),
                   {0.1 + 0.2 * i, 0.2 + 0.2 * i, 0.4 + 0.3 * i, 0.6 + 0.2 * i});
    add_mask(object, {0.1, 0.2, 0.4, 0.6}, 2, 2, {255, 0, 0, 255});
  }
}

BufferRef through(BufferRef frame, const char* mode = "draw") {
  ElementHarness harness("npuoverlay", [mode](GstElement* element) {
    gst_util_set_object_arg(G_OBJECT(element), "mode", mode);
  });
  harness.set_caps(caps_of("NV12", kWidth, kHeight));
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  return harness.pull();
}

Bytes bytes_of_buffer(GstBuffer* buffer) {
  Bytes bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

/// Draws on the same picture without gaps.
Bytes drawn_on_ordinary_memory() {
  BufferRef frame = frame_of("NV12", kWidth, kHeight, kLuma);
  add_results(frame.get());
  return bytes_of_buffer(through(std::move(frame)).get());
}

/// Whether a frame's planes lie in one DMA-BUF or in two is the test's
/// parameter.
class Dmabufs : public testing::TestWithParam<bool> {
 protected:
  static bool are_apart() { return GetParam(); }

  static BufferRef frame() {
    BufferRef frame(gst_buffer_new());
    gsize offsets[GST_VIDEO_MAX_PLANES] = {offset_of(0, false), kSizes[0] + kPlanes[1].offset};
    gint strides[GST_VIDEO_MAX_PLANES] = {kStride, kStride};
    if (are_apart()) {
      for (int plane : {0, 1}) {
        gst_buffer_append_memory(
            frame.get(),
            memory_of(kSizes[plane], {{&kPlanes[plane], kPlanes[plane].offset}}).release());
      }
    } else {
      gst_buffer_append_memory(
          frame.get(),
          memory_of(kSizes[0] + kSizes[1], {{&kPlanes[0], offsets[0]}, {&kPlanes[1], offsets[1]}})
              .release());
    }
    gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                                   kWidth, kHeight, 2, offsets, strides);
    add_results(frame.get());
    return frame;
  }

  /// Bytes of all its DMA-BUFs, one after the other.
  static std::vector<Bytes> bytes_of_all(GstBuffer* frame) {
    std::vector<Bytes> all;
    for (guint i = 0; i < gst_buffer_n_memory(frame); ++i) {
      all.push_back(bytes_of(gst_buffer_peek_memory(frame, i)));
    }
    return all;
  }

  /// The rows of the picture alone, and how many of the other bytes are no guards any more.
  static std::pair<Bytes, gsize> picture_in(const std::vector<Bytes>& dmabufs) {
    Bytes picture;
    gsize strays = 0;
    for (gsize i = 0; i < dmabufs.size(); ++i) {
      for (gsize at = 0; at < dmabufs[i].size(); ++at) {
        const bool is_of_picture = are_apart() ? is_pixel(at, kPlanes[i], kPlanes[i].offset)
                                               : is_pixel(at, kPlanes[0], offset_of(0, false)) ||
                                                     is_pixel(at, kPlanes[1], offset_of(1, false));
        if (is_of_picture) {
          picture.push_back(dmabufs[i][at]);
        }
        strays += !is_of_picture && dmabufs[i][at] != kGuard;
      }
    }
    return {picture, strays};
  }
};

TEST_P(Dmabufs, AreDrawnOnInPlace) {
  const Bytes expected = drawn_on_ordinary_memory();
  BufferRef frame = this->frame();
  const std::vector<Bytes> before = bytes_of_all(frame.get());
  EXPECT_EQ(picture_in(before), std::pair(Bytes(expected.size(), kLuma), gsize{0}));
  GstMemory* memory = gst_buffer_peek_memory(frame.get(), 0);
  const BufferRef out = through(std::move(frame));
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory) << "no copy";
  const auto [picture, strays] = picture_in(bytes_of_all(out.get()));
  EXPECT_EQ(picture, expected);
  EXPECT_EQ(strays, 0U);
}

// As a tee's other branch, or the decoder itself, which predicts the next frame from it.
TEST_P(Dmabufs, ThatSomebodyElseReadsStayAsTheyAre) {
  BufferRef frame = this->frame();
  const BufferRef other(gst_buffer_ref(frame.get()));
  const std::vector<Bytes> before = bytes_of_all(other.get());
  const BufferRef out = through(std::move(frame));
  EXPECT_EQ(bytes_of_all(other.get()), before);
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, kWidth, kHeight);
  GstVideoFrame pixels;
  ASSERT_TRUE(gst_video_frame_map(&pixels, &info, out.get(), GST_MAP_READ));
  Bytes picture;
  for (guint plane : {0U, 1U}) {
    for (int row = 0; row < kPlanes[plane].rows; ++row) {
      const auto* begin = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&pixels, plane)) +
                          row * GST_VIDEO_FRAME_PLANE_STRIDE(&pixels, plane);
      picture.insert(picture.end(), begin, begin + kWidth);
    }
  }
  gst_video_frame_unmap(&pixels);
  EXPECT_EQ(picture, drawn_on_ordinary_memory());
}

TEST_P(Dmabufs, AreNotTouchedWhereACompositionIsAttached) {
  BufferRef frame = this->frame();
  const std::vector<Bytes> before = bytes_of_all(frame.get());
  GstMemory* memory = gst_buffer_peek_memory(frame.get(), 0);
  const BufferRef out = through(std::move(frame), "attach");
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
  EXPECT_EQ(bytes_of_all(out.get()), before);
  EXPECT_NE(gst_buffer_get_video_overlay_composition_meta(out.get()), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Planes, Dmabufs, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "InTwo" : "InOne");
});

// As drivers export what only the device is to write to.
TEST(Dmabuf, ThatCannotBeWrittenIsCopied) {
  const MemoryRef writable = make_dmabuf_memory(gsize{kWidth} * kHeight * 3 / 2, kLuma);
  const std::string path =
      "/proc/self/fd/" + std::to_string(gst_dmabuf_memory_get_fd(writable.get()));
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    GTEST_SKIP() << "a DMA-BUF proper cannot be opened a second time";
  }
  const Bytes before = bytes_of(writable.get());
  BufferRef frame = frame_in(wrap_dmabuf(fd, writable->size));
  add_results(frame.get());
  EXPECT_EQ(bytes_of_buffer(through(std::move(frame)).get()), drawn_on_ordinary_memory());
  EXPECT_EQ(bytes_of(writable.get()), before);
}

}  // namespace
}  // namespace gstnpu::test::dmabuf_test

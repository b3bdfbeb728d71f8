// Paths that frames take, their counts, and zero-copy=require.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

constexpr gsize kFrameBytes = 192;

class ZeroCopy : public testing::Test {
 protected:
  ZeroCopy()
      : harness_("npuinfer", [this](GstElement* element) {
          const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
          g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
        }) {
    harness_.set_caps(caps_of("RGB", 8, 8));
  }

  void require() { gst_util_set_object_arg(G_OBJECT(harness_.element()), "zero-copy", "require"); }
  static BufferRef ordinary(guint8 fill) { return frame_of("RGB", 8, 8, fill); }
  BufferRef offered(guint8 fill) {
    BufferRef frame(gst_harness_create_buffer(harness_.get(), kFrameBytes));
    gst_buffer_memset(frame.get(), 0, fill, kFrameBytes);
    return frame;
  }
  static BufferRef dmabuf(guint8 fill) { return frame_in(make_dmabuf_memory(kFrameBytes, fill)); }
  /// A GstDmaBufMemory that no driver takes.
  static BufferRef no_dmabuf() {
    return frame_in(wrap_dmabuf(open("/dev/zero", O_RDWR | O_CLOEXEC), kFrameBytes));
  }
  void push_through(BufferRef frame, guint8 fill) {
    ASSERT_EQ(harness_.push(std::move(frame)), GST_FLOW_OK);
    EXPECT_EQ(first_tensor(harness_.pull().get()), std::vector<float>(kFrameBytes, fill));
  }
  std::vector<std::string> warnings() { return harness_.messages(GST_MESSAGE_WARNING); }
  std::vector<std::string> errors() { return harness_.messages(GST_MESSAGE_ERROR); }

  TempDir dir_;
  ElementHarness harness_;
};

struct CapsRow {
  const char* name;
  const char* caps;
};

class PathsOfCaps : public ZeroCopy, public testing::WithParamInterface<CapsRow> {};

TEST_P(PathsOfCaps, AreChosenForEachBuffer) {
  harness_.set_caps(std::string("video/x-raw") + GetParam().caps +
                    ",width=8,height=8,framerate=30/1");
  for (const guint8 fill : {10, 20}) {
    push_through(ordinary(fill), fill);
    push_through(dmabuf(fill), fill);
  }
  EXPECT_EQ(harness_.stat("frames"), 4u);
  EXPECT_EQ(harness_.stat("imported"), 2u);
  EXPECT_EQ(harness_.stat("copied"), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    All, PathsOfCaps,
    testing::Values(CapsRow{"plain", ",format=RGB"}, CapsRow{"dmabuf", "(memory:DMABuf),format=RGB"}
#if GST_CHECK_VERSION(1, 24, 0)
                    ,
                    CapsRow{"dma_drm", "(memory:DMABuf),format=DMA_DRM,drm-format=BG24"}
#endif
                    ),
    by_name);

TEST_F(ZeroCopy, CountsFramesAndBytesOfEachWay) {
  push_through(offered(1), 1);
  push_through(dmabuf(2), 2);
  push_through(dmabuf(3), 3);
  push_through(ordinary(4), 4);
  for (const auto& [field, expected] : {std::pair("frames", 4u),
                                        {"zero-copy", 3u},
                                        {"offered", 1u},
                                        {"imported", 2u},
                                        {"copied", 1u},
                                        {"copied-ordinary-memory", 1u}}) {
    EXPECT_EQ(harness_.stat(field), expected) << field;
    EXPECT_EQ(harness_.stat((std::string(field) + "-bytes").c_str()), expected * kFrameBytes)
        << field;
  }
}

TEST_F(ZeroCopy, FramesThatAreNotInferredAreOfNoWay) {
  g_object_set(harness_.element(), "inference-interval", 2, nullptr);
  push_through(ordinary(1), 1);
  ASSERT_EQ(harness_.push(ordinary(1)), GST_FLOW_OK);
  ASSERT_NE(harness_.pull(), nullptr);
  EXPECT_EQ(harness_.stat("frames-bytes"), 2 * kFrameBytes);
  EXPECT_EQ(harness_.stat("copied-bytes"), kFrameBytes);
}

TEST_F(ZeroCopy, BytesAreThoseOfThePixelsWithoutPadding) {
  harness_.set_caps(caps_of("RGB", 6, 8));  // rows of 18 bytes, 20 apart
  ASSERT_EQ(harness_.push(frame_of("RGB", 6, 8, 1)), GST_FLOW_OK);
  EXPECT_EQ(harness_.stat("frames-bytes"), 144u);
  EXPECT_EQ(harness_.stat("copied-bytes"), 144u);
}

TEST_F(ZeroCopy, WarnsOnceForEachReason) {
  for (int i = 0; i < 3; ++i) push_through(ordinary(5), 5);
  ASSERT_EQ(warnings().size(), 1u);
  for (int i = 0; i < 3; ++i) push_through(no_dmabuf(), 0);
  const auto second = warnings();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(has(second[0], "refused to import"));
  EXPECT_EQ(harness_.stat("copied-ordinary-memory"), 3u);
  EXPECT_EQ(harness_.stat("copied-import-refused"), 3u);
}

// The device counts the imports of every element that ever used it.
TEST_F(ZeroCopy, ImportsAreCountedSinceTheStart) {
  for (int round = 0; round < 2; ++round) {
    ElementHarness harness("npuinfer", [this](GstElement* element) {
      const std::string path = dir_.write("pixels.xml", pixels_ir(8, 8)).string();
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    });
    harness.set_caps(caps_of("RGB", 8, 8));
    ASSERT_EQ(harness.push(dmabuf(1)), GST_FLOW_OK);
    ASSERT_NE(harness.pull(), nullptr);
    EXPECT_EQ(harness.stat("imports"), 1u) << "round " << round;
  }
}

TEST_F(ZeroCopy, IsAutoWhereNobodyAsks) {
  gint choice = -1;
  g_object_get(harness_.element(), "zero-copy", &choice, nullptr);
  EXPECT_EQ(choice, 0);
}

// ---- zero-copy=require

TEST_F(ZeroCopy, RequireTakesWhatIsReadInPlace) {
  require();
  push_through(offered(1), 1);
  push_through(dmabuf(2), 2);
  EXPECT_EQ(harness_.stat("zero-copy"), 2u);
  EXPECT_TRUE(errors().empty());
}

TEST_F(ZeroCopy, RequireEndsInOneErrorWithReasonAndCure) {
  require();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(harness_.push(ordinary(1)), GST_FLOW_ERROR);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"zero-copy=require", "ordinary memory", "videoconvertscale"}) {
    EXPECT_TRUE(has(found[0], part));
  }
  EXPECT_TRUE(warnings().empty());
  EXPECT_EQ(harness_.stat("copied"), 0u);
}

TEST_F(ZeroCopy, RequireTellsTheDriversWords) {
  require();
  EXPECT_EQ(harness_.push(no_dmabuf()), GST_FLOW_ERROR);
  const auto found = errors();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0], "file descriptor"));
}

TEST_F(ZeroCopy, RequireLosesNoFrameThatWasBefore) {
  require();
  for (guint8 fill = 0; fill < 3; ++fill) {
    ASSERT_EQ(harness_.push(dmabuf(fill)), GST_FLOW_OK);
  }
  EXPECT_EQ(harness_.push(ordinary(9)), GST_FLOW_ERROR);
  for (guint8 fill = 0; fill < 3; ++fill) {
    EXPECT_EQ(first_tensor(harness_.pull().get()), std::vector<float>(kFrameBytes, fill));
  }
}

TEST_F(ZeroCopy, RequireGoesOnAfterAFlush) {
  require();
  EXPECT_EQ(harness_.push(ordinary(1)), GST_FLOW_ERROR);
  gst_harness_push_event(harness_.get(), gst_event_new_flush_start());
  gst_harness_push_event(harness_.get(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_.get(), gst_event_new_segment(&segment));
  push_through(dmabuf(7), 7);
}

TEST_F(ZeroCopy, RequireMayComeWhilePlaying) {
  push_through(ordinary(1), 1);
  require();
  EXPECT_EQ(harness_.push(ordinary(1)), GST_FLOW_ERROR);
  EXPECT_EQ(harness_.stat("copied"), 1u);
}

TEST_F(ZeroCopy, RequirePassesFramesThatAreNotInferred) {
  require();
  g_object_set(harness_.element(), "inference-interval", 2, nullptr);
  push_through(dmabuf(1), 1);
  EXPECT_EQ(harness_.push(ordinary(1)), GST_FLOW_OK);
}

}  // namespace
}  // namespace gstnpu::test

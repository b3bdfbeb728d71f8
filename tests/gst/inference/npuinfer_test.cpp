// npuinfer on frames: what comes out of it, and how frames go into it.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include <npucore/npucore.hpp>

#include "element_harness.hpp"

namespace gstnpu::test {
namespace {

class NpuInfer : public testing::Test {
 protected:
  std::function<void(GstElement*)> with_model(const std::string& xml = pixels_ir(8, 8)) {
    const std::string path = dir_.write("pixels.xml", xml).string();
    dir_.write("pixels.bin", "");
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }
  TempDir dir_;
};

/// Tells where the planes lie in a frame that is not packed as GStreamer packs it.
void lay_out(const BufferRef& frame, GstVideoFormat format, guint width, guint height,
             std::vector<gsize> offsets, std::vector<gint> strides) {
  const auto planes = static_cast<guint>(offsets.size());
  offsets.resize(GST_VIDEO_MAX_PLANES);
  strides.resize(GST_VIDEO_MAX_PLANES);
  gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, format, width, height,
                                 planes, offsets.data(), strides.data());
}

TEST_F(NpuInfer, PutsTheModelsOutputOnTheFrame) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  ASSERT_NE(out, nullptr);
  GstNpuTensor tensor = {};
  ASSERT_TRUE(gst_npu_buffer_get_tensor(out.get(), 0, &tensor));
  EXPECT_EQ(tensor.type, GST_NPU_DATA_F32);
  ASSERT_EQ(tensor.num_dims, 4u);
  EXPECT_EQ(tensor.dims[1], 3u);
  EXPECT_EQ(first_tensor(out.get()), std::vector<float>(192, 77.f));
}

struct ChannelRow {
  const char* name;
  const char* property;
  const char* reversed;  // the model's reverse_input_channels; null: it has none
  bool red_first;
};

class Channels : public NpuInfer, public testing::WithParamInterface<ChannelRow> {};

TEST_P(Channels, ComeInTheOrderThatTheModelExpects) {
  const ChannelRow& row = GetParam();
  std::string ir = pixels_ir(8, 8);
  if (row.reversed) {
    ir.insert(ir.find("</net>"), "<rt_info><model_info><reverse_input_channels value=\"" +
                                     std::string(row.reversed) + "\"/></model_info></rt_info>\n");
  }
  ElementHarness harness("npuinfer", [&, set = with_model(ir)](GstElement* element) {
    set(element);
    if (row.property) {
      gst_util_set_object_arg(G_OBJECT(element), "channel-order", row.property);
    }
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  BufferRef frame = frame_of("RGB", 8, 8, 0);
  for (gsize at = 0; at < 192; ++at) {
    gst_buffer_memset(frame.get(), at, static_cast<guint8>(10 + at % 3 * 100), 1);
  }
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  ASSERT_TRUE(out);
  const auto values = first_tensor(out.get());
  ASSERT_EQ(values.size(), 192u);
  EXPECT_EQ(values[0], row.red_first ? 10.f : 210.f);
  EXPECT_EQ(values[64], 110.f);
  EXPECT_EQ(values[128], row.red_first ? 210.f : 10.f);
  gchar* order = nullptr;
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(harness.element()), "channel-order", &value);
  order = gst_value_serialize(&value);
  EXPECT_STREQ(order, row.property ? row.property : "auto");
  g_free(order);
  g_value_unset(&value);
}

INSTANTIATE_TEST_SUITE_P(Rows, Channels,
                         testing::Values(ChannelRow{"unset", nullptr, nullptr, true},
                                         ChannelRow{"auto_unreversed", "auto", "NO", false},
                                         ChannelRow{"auto_reversed", "auto", "YES", true},
                                         ChannelRow{"rgb", "rgb", nullptr, true},
                                         ChannelRow{"bgr", "bgr", nullptr, false},
                                         ChannelRow{"rgb_over_the_model", "rgb", "NO", true},
                                         ChannelRow{"bgr_over_the_model", "bgr", "YES", false}),
                         by_name);

TEST_F(NpuInfer, KeepsWhatItCompiledInItsCacheFolder) {
  const auto cache = dir_.path() / "cache";
  for (const bool first : {true, false}) {
    ElementHarness harness(
        "npuinfer",
        with(with_model(), {{"cache-dir", cache.c_str()}, {"properties", "MODEL_PRIORITY=HIGH"}}),
        caps_of("RGB", 8, 8));
    harness.push(frame_of("RGB", 8, 8, 77));
    const BufferRef out = harness.pull();
    EXPECT_EQ(first_tensor(out.get()), std::vector<float>(192, 77.f)) << first;
  }
  const std::filesystem::directory_iterator entries(cache);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

/// Somebody else's compilation, which holds this process's compiler for as long as the object
/// lives.
class BusyCompiler {
 public:
  explicit BusyCompiler(const std::string& model)
      : job_(npu::compile_async(npu::Device::open(npu::DeviceKind::kSoftware),
                                npu::Model::read(model), options())) {
    while (!inside_) std::this_thread::yield();
  }
  ~BusyCompiler() {
    let_go_ = true;
    job_.wait();
  }

 private:
  npu::CompileOptions options() {
    npu::CompileOptions options;
    options.properties.set(npu::property::compile_in, "in-process");
    options.progress = [this](const npu::CompileProgress& progress) {
      if (progress.phase != npu::CompilePhase::kCompiling) return;
      inside_ = true;
      while (!let_go_) std::this_thread::yield();
    };
    return options;
  }

  std::atomic<bool> inside_ = false, let_go_ = false;
  npu::CompileJob job_;
};

/// An element that waits for the compilation of others.
std::function<void(GstElement*)> compiling_here(std::function<void(GstElement*)> set) {
  return with(std::move(set), {{"properties", "NPUCORE_COMPILE=in-process"}});
}

/// Pushes a frame that has to be compiled for, and returns when the element has begun to wait.
std::future<GstFlowReturn> push_into_compilation(ElementHarness& harness) {
  auto pushing =
      std::async(std::launch::async, [&] { return harness.push(frame_of("RGB", 8, 8, 77)); });
  while (harness.messages(GST_MESSAGE_PROGRESS).empty()) std::this_thread::yield();
  return pushing;
}

TEST_F(NpuInfer, StopsWhileItWaitsForACompilation) {
  const auto set = compiling_here(with_model());
  ElementHarness harness("npuinfer", set, caps_of("RGB", 8, 8));
  const BusyCompiler busy((dir_.path() / "pixels.xml").string());
  auto pushing = push_into_compilation(harness);
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  EXPECT_EQ(pushing.get(), GST_FLOW_FLUSHING);
  EXPECT_TRUE(harness.messages(GST_MESSAGE_ERROR).empty());
}

/// Helper processes that are started from now on meet this fault; this process's driver has read
/// its own.
class FaultInHelpers {
 public:
  explicit FaultInHelpers(const char* fault)
      : device_(npu::Device::open(npu::DeviceKind::kSoftware)) {
    ::setenv("SOFTNPU_FAULT", fault, 1);
  }
  FaultInHelpers(const FaultInHelpers&) = delete;
  FaultInHelpers& operator=(const FaultInHelpers&) = delete;
  ~FaultInHelpers() { ::unsetenv("SOFTNPU_FAULT"); }

 private:
  const npu::Device device_;
};

TEST_F(NpuInfer, StopsWhileItsCompilerHangs) {
  const FaultInHelpers fault("pfnCreate3:HANG@1");
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  auto pushing = push_into_compilation(harness);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // into the compiler
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  EXPECT_EQ(pushing.get(), GST_FLOW_FLUSHING);
  EXPECT_TRUE(harness.messages(GST_MESSAGE_ERROR).empty());
}

TEST_F(NpuInfer, OutlivesACompilerThatAborts) {
  {
    const FaultInHelpers fault("pfnCreate3:ABORT@1");
    ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
    EXPECT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_ERROR);
    EXPECT_EQ(harness.messages(GST_MESSAGE_ERROR).size(), 1u);
  }
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  EXPECT_EQ(harness.push(frame_of("RGB", 8, 8, 77)), GST_FLOW_OK);
}

TEST_F(NpuInfer, GoesOnWithTheSameCompilationAfterAFlush) {
  const auto set = compiling_here(with_model());
  ElementHarness harness("npuinfer", set, caps_of("RGB", 8, 8));
  {
    const BusyCompiler busy((dir_.path() / "pixels.xml").string());
    auto pushing = push_into_compilation(harness);
    gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    EXPECT_EQ(pushing.get(), GST_FLOW_FLUSHING);
    gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  }
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 55)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  EXPECT_EQ(first_tensor(out.get()), std::vector<float>(192, 55.f));
}

/// Pushes frames until one is inferred.
void push_until_inferred(ElementHarness& harness) {
  guint index = 0;
  EXPECT_TRUE(soon([&] {
    EXPECT_EQ(harness.push(frame_of("RGB", 8, 8, 55, index++)), GST_FLOW_OK);
    return harness.stat("inferred") > 0;
  }));
}

TEST_F(NpuInfer, DropsALiveStreamsFramesWhileItCompiles) {
  const auto set = compiling_here(with_model());
  ElementHarness harness("npuinfer", set);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "drop", "busy");
  gst_harness_set_live(harness.get(), TRUE);
  harness.set_caps(caps_of("RGB", 8, 8));
  {
    const BusyCompiler busy((dir_.path() / "pixels.xml").string());
    for (guint i = 0; i < 5; ++i) {
      EXPECT_EQ(harness.push(frame_of("RGB", 8, 8, 77, i)), GST_FLOW_OK) << "it does not wait";
    }
    EXPECT_EQ(harness.stat("dropped"), 5u);
  }
  push_until_inferred(harness);
  const BufferRef out = harness.pull();
  EXPECT_EQ(first_tensor(out.get()), std::vector<float>(192, 55.f));
  EXPECT_EQ(harness.compilations(), 1u);
  harness.drain();  // frames that were taken after the first answer are in flight
  EXPECT_EQ(harness.stat("frames"), harness.stat("dropped") + harness.stat("inferred"));
}

TEST_F(NpuInfer, TellsTheEndOfACompilationThatNoFrameNeedsAnyMore) {
  const auto set = compiling_here(with_model());
  ElementHarness harness("npuinfer", set);
  gst_util_set_object_arg(G_OBJECT(harness.element()), "drop", "busy");
  gst_harness_set_live(harness.get(), TRUE);
  harness.set_caps(caps_of("RGB", 8, 8));
  const BusyCompiler busy((dir_.path() / "pixels.xml").string());
  harness.push(frame_of("RGB", 8, 8, 77));
  gst_element_set_state(harness.element(), GST_STATE_READY);
  const auto told = harness.messages(GST_MESSAGE_PROGRESS);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(has(told.back(), "no frame needs it any more"));
}

TEST_F(NpuInfer, TellsWhereTheModelsPixelsLie) {
  ElementHarness harness("npuinfer", with(with_model(), {{"resize-mode", "letterbox"}}),
                         caps_of("RGB", 32, 16));
  harness.push(frame_of("RGB", 32, 16, 9));
  const BufferRef out = harness.pull();
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(out.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->model_width, 8u);
  EXPECT_DOUBLE_EQ(meta->scale_x, 4);
  EXPECT_DOUBLE_EQ(meta->scale_y, 4);
  EXPECT_DOUBLE_EQ(meta->offset_y, 2);
  EXPECT_GT(meta->inference_ns, 0u);
  EXPECT_TRUE(has(meta->model, "pixels.xml"));
}

TEST_F(NpuInfer, LeavesTheFramesPixelsAlone) {
  ElementHarness harness("npuinfer", with_model(), caps_of("NV12", 8, 8));
  harness.push(frame_of("NV12", 8, 8, 100));
  const BufferRef out = harness.pull();
  ASSERT_EQ(gst_buffer_get_size(out.get()), 96u);
  const std::vector<guint8> grey(96, 100);
  EXPECT_EQ(gst_buffer_memcmp(out.get(), 0, grey.data(), grey.size()), 0);
}

TEST_F(NpuInfer, AttachesToACopyWhereOthersHoldTheBuffer) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  BufferRef frame = frame_of("RGB", 8, 8, 1);
  const BufferRef held(gst_buffer_ref(frame.get()));
  harness.push(std::move(frame));
  const BufferRef out = harness.pull();
  EXPECT_NE(out.get(), held.get());
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(held.get()), 0u);
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
}

struct FormatRow {
  const char* format;
  int width, height;
  guint8 fill;
  float expected;
};

class NpuInferFormats : public NpuInfer, public testing::WithParamInterface<FormatRow> {};

TEST_P(NpuInferFormats, GoInAsTheyAre) {
  const FormatRow& row = GetParam();
  ElementHarness harness("npuinfer", with_model(), caps_of(row.format, row.width, row.height));
  ASSERT_EQ(harness.push(frame_of(row.format, row.width, row.height, row.fill)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  ASSERT_NE(out, nullptr);
  const std::vector<float> values = first_tensor(out.get());
  ASSERT_EQ(values.size(), 192u);
  for (const float value : values) EXPECT_NEAR(value, row.expected, 0.5);
}

// Grey: Y, Cb and Cr of 128 are (128 - 16) * 255/219 in limited range.
INSTANTIATE_TEST_SUITE_P(
    All, NpuInferFormats,
    testing::Values(
        FormatRow{"RGB", 8, 8, 50, 50}, FormatRow{"BGR", 16, 12, 50, 50},
        FormatRow{"RGBx", 31, 17, 50, 50}, FormatRow{"BGRx", 8, 8, 50, 50},
        FormatRow{"ARGB", 31, 17, 50, 50}, FormatRow{"ABGR", 8, 8, 50, 50},
        FormatRow{"NV12", 320, 240, 128, 130.41f}, FormatRow{"NV12", 33, 17, 128, 130.41f},
        FormatRow{"I420", 64, 48, 128, 130.41f}, FormatRow{"I420", 35, 19, 128, 130.41f},
        FormatRow{"GRAY8", 20, 20, 128, 128}, FormatRow{"GRAY16_LE", 21, 20, 128, 128},
        FormatRow{"NV21", 33, 17, 128, 130.41f}, FormatRow{"YV12", 35, 19, 128, 130.41f},
        FormatRow{"NV16", 35, 19, 128, 130.41f}, FormatRow{"YUY2", 64, 48, 128, 130.41f},
        FormatRow{"YUY2", 35, 19, 128, 130.41f}, FormatRow{"UYVY", 64, 48, 128, 130.41f},
        FormatRow{"UYVY", 35, 19, 128, 130.41f}),
    [](const auto& row) {
      return std::string(row.param.format) + "_" + std::to_string(row.param.width) + "x" +
             std::to_string(row.param.height);
    });

// A grey model reads only the Y plane of planar formats: the graph has fewer inputs than the frame
// has planes.
TEST_F(NpuInfer, FeedsAGreyModelFromEveryKindOfFrame) {
  for (const char* format : {"NV12", "I420", "GRAY8", "RGB", "NV21", "YUY2", "P010_10LE", "YV12",
                             "NV16", "ARGB", "UYVY", "GRAY16_LE"}) {
    ElementHarness harness("npuinfer", with_model(grey_ir(8, 8)), caps_of(format, 8, 8));
    ASSERT_EQ(harness.push(frame_of(format, 8, 8, 128)), GST_FLOW_OK) << format;
    const BufferRef out = harness.pull();
    ASSERT_NE(out, nullptr) << format;
    const std::vector<float> values = first_tensor(out.get());
    ASSERT_EQ(values.size(), 64u) << format;
    for (const float value : values) EXPECT_NEAR(value, 129, 2) << format;
  }
}

TEST_F(NpuInfer, MeanAndScaleOverrideTheModel) {
  ElementHarness harness("npuinfer", with(with_model(), {{"mean", "100"}, {"scale", "2"}}),
                         caps_of("RGB", 8, 8));
  harness.push(frame_of("RGB", 8, 8, 120));
  EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(192, 10.f));
}

TEST_F(NpuInfer, ReadsFramesOfItsOwnPoolInPlace) {
  ElementHarness harness("npuinfer", with_model(), caps_of("NV12", 33, 17));
  const gsize size = gst_buffer_get_size(frame_of("NV12", 33, 17, 0).get());
  for (guint i = 0; i < 8; ++i) {
    BufferRef frame(gst_harness_create_buffer(harness.get(), size));
    gst_buffer_memset(frame.get(), 0, 128, size);
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_NEAR(first_tensor(out.get()).at(0), 130.41f, 0.5);
  }
  EXPECT_EQ(harness.stat("offered"), 8u);
  EXPECT_EQ(harness.stat("copied"), 0u);
  EXPECT_TRUE(harness.messages(GST_MESSAGE_WARNING).empty());
}

TEST_F(NpuInfer, CompilesOncePerLayoutAndTellsIt) {
  ElementHarness harness("npuinfer", with_model());
  for (const int width : {8, 16, 8}) {
    harness.set_caps(caps_of("RGB", width, 8));
    harness.push(frame_of("RGB", width, 8, 1));
    ASSERT_NE(harness.pull(), nullptr);
  }
  EXPECT_EQ(harness.compilations(), 2u);
  EXPECT_GT(harness.stat("compile-time"), 0u);
}

TEST_F(NpuInfer, InfersEveryNthFrameAndPassesTheOthersInOrder) {
  ElementHarness harness("npuinfer", with(with_model(), {{"inference-interval", "3"}}),
                         caps_of("RGB", 8, 8));
  for (guint i = 0; i < 7; ++i) harness.push(frame_of("RGB", 8, 8, 1, i));
  for (guint i = 0; i < 7; ++i) {
    const BufferRef out = harness.pull();
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(i, GST_SECOND, 30));
    EXPECT_EQ(gst_npu_buffer_get_num_tensors(out.get()), i % 3 == 0 ? 1u : 0u) << i;
  }
  EXPECT_EQ(harness.stat("frames"), 7u);
  EXPECT_EQ(harness.stat("inferred"), 3u);
}

// A paused player that seeks shows one frame.
TEST_F(NpuInfer, InfersTheFirstFrameBehindAFlush) {
  ElementHarness harness("npuinfer", with(with_model(), {{"inference-interval", "3"}}),
                         caps_of("RGB", 8, 8));
  for (guint i = 0; i < 5; ++i) {
    harness.push(frame_of("RGB", 8, 8, 1, i));
    EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 1u) << i;
    gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  }
}

// As videorate marks the frames that it repeats: where each second one is, it would always be the
// one whose turn it is.
TEST_F(NpuInfer, InfersTheFrameBehindAGapInItsPlace) {
  ElementHarness harness("npuinfer", with(with_model(), {{"inference-interval", "2"}}),
                         caps_of("RGB", 8, 8));
  std::vector<guint> inferred;
  for (guint i = 0; i < 8; ++i) {
    BufferRef frame = frame_of("RGB", 8, 8, 1, i);
    if (i % 2 == 0) {
      GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_GAP);
    }
    harness.push(std::move(frame));
    if (gst_npu_buffer_get_num_tensors(harness.pull().get()) > 0) {
      inferred.push_back(i);
    }
  }
  EXPECT_EQ(inferred, (std::vector<guint>{1, 3, 5, 7}));
  EXPECT_EQ(harness.stat("gap") + harness.stat("skipped"), 4u);
}

TEST_F(NpuInfer, OutputsOutliveTheElement) {
  BufferRef out;
  {
    ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
    harness.push(frame_of("RGB", 8, 8, 33));
    out = harness.pull();
  }
  EXPECT_EQ(first_tensor(out.get()), std::vector<float>(192, 33.f));
}

TEST_F(NpuInfer, EveryFrameKeepsItsOwnResult) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  std::vector<BufferRef> held;
  for (guint8 i = 0; i < 12; ++i) {
    harness.push(frame_of("RGB", 8, 8, i, i));
    held.push_back(harness.pull());
  }
  for (guint8 i = 0; i < 12; ++i) {
    EXPECT_EQ(first_tensor(held[i].get()), std::vector<float>(192, static_cast<float>(i)));
  }
}

// ---- DMA-BUFs, or the memfds that play them

using DmaBufs = NpuInfer;

TEST_F(DmaBufs, WithPaddingAndOffsetsAreReadInPlace) {
  ElementHarness harness(
      "npuinfer", with_model(),
      "video/x-raw(memory:DMABuf),format=NV12,width=60,height=40,framerate=30/1");
  BufferRef frame = frame_in(make_dmabuf_memory(4096 + 64 * 72, 128));
  lay_out(frame, GST_VIDEO_FORMAT_NV12, 64, 48, {4096, 4096 + 64 * 48}, {64, 64});
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_NEAR(first_tensor(harness.pull().get()).at(0), 130.41f, 0.5);
  EXPECT_EQ(harness.stat("imported"), 1u);
}

// A graph of one layout reads whole rows; strides end with the last pixel.
TEST_F(DmaBufs, ThatEndInsideTheLastRowsPaddingNeedStridesOrACopy) {
  ElementHarness harness("npuinfer", with_model(),
                         "video/x-raw,format=RGB,width=1000,height=4,framerate=30/1");
  // 4 rows of 4096 bytes fill 4 pages; the frame starts 96 bytes in, so its last row's padding is
  // outside though its last pixel is not.
  BufferRef frame = frame_in(make_dmabuf_memory(4 * 4096, 60));
  lay_out(frame, GST_VIDEO_FORMAT_RGB, 1000, 4, {96}, {4096});
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(192, 60.f));
  EXPECT_EQ(harness.stat(driver_takes_strides() ? "imported" : "copied"), 1u);
  EXPECT_EQ(harness.stat_text("copy-reasons").find("padding") == std::string::npos,
            driver_takes_strides());
}

class Geometries : public DmaBufs {
 protected:
  /// An 8x8 GRAY8 frame of `fill`, at x,y of a 32x32 one whose rows have `stride` bytes.
  BufferRef cropped(gint stride, guint x, guint y, guint8 fill) {
    BufferRef frame(gst_buffer_new());
    gst_buffer_append_memory(frame.get(),
                             make_dmabuf_memory(static_cast<gsize>(stride) * 32, 0).release());
    for (gsize row = y; row < y + 8; ++row) {
      gst_buffer_memset(frame.get(), row * static_cast<gsize>(stride) + x, fill, 8);
    }
    gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
    gint strides[GST_VIDEO_MAX_PLANES] = {stride};
    gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                   32, 32, 1, offsets, strides);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
    crop->x = x;
    crop->y = y;
    crop->width = crop->height = 8;
    return frame;
  }

  /// How many graphs were compiled for the frames, each of which must come out right and uncopied.
  std::size_t compiled_for(std::vector<BufferRef> frames) {
    ElementHarness harness("npuinfer", with_model(), caps_of("GRAY8", 8, 8));
    const std::size_t count = frames.size();
    for (BufferRef& frame : frames) {
      EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
      for (const float value : first_tensor(harness.pull().get())) EXPECT_NEAR(value, 200, 0.5);
    }
    EXPECT_EQ(harness.stat("imported"), count);
    return harness.compilations();
  }
};

TEST_F(Geometries, ThatDifferInTheFirstRowShareAGraph) {
  std::vector<BufferRef> frames;
  for (const guint y : {0U, 5U, 24U}) frames.push_back(cropped(32, 4, y, 200));
  EXPECT_EQ(compiled_for(std::move(frames)), 1u);
}

TEST_F(Geometries, ThatDifferInPitchAndFirstColumnShareAGraphWhereTheDriverTakesStrides) {
  std::vector<BufferRef> frames;
  frames.push_back(cropped(32, 4, 0, 200));
  frames.push_back(cropped(48, 4, 0, 200));
  frames.push_back(cropped(37, 24, 3, 200));
  EXPECT_EQ(compiled_for(std::move(frames)), driver_takes_strides() ? 1u : 3u);
}

TEST_F(DmaBufs, AreLetGoWhenTheElementStops) {
  const std::size_t before = open_descriptors();
  MemoryRef frame_memory = make_dmabuf_memory(192, 5);
  {
    ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
    harness.push(frame_in(frame_memory.get()));
    harness.pull();
  }
  frame_memory.reset();
  EXPECT_LE(open_descriptors(), before + 3) << "the device's own descriptors stay";
}

TEST_F(NpuInfer, RefusesABufferThatIsTooShort) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 8, 8));
  BufferRef frame(gst_buffer_new_allocate(nullptr, 100, nullptr));
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_ERROR), "100 bytes"));
}

TEST_F(NpuInfer, CopiesFramesThatAreStoredUpsideDown) {
  ElementHarness harness("npuinfer", with_model(), caps_of("GRAY8", 8, 8));
  BufferRef frame = frame_of("GRAY8", 8, 8, 0);
  for (gsize row = 0; row < 8; ++row) {
    gst_buffer_memset(frame.get(), row * 8, static_cast<guint8>(10 * row), 8);
  }
  lay_out(frame, GST_VIDEO_FORMAT_GRAY8, 8, 8, {56}, {-8});
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const std::vector<float> pixels = first_tensor(harness.pull().get());
  ASSERT_EQ(pixels.size(), 192u);
  EXPECT_NEAR(pixels[0], 70, 0.5);
  EXPECT_NEAR(pixels[63], 0, 0.5);
}

TEST_F(NpuInfer, RefusesMetadataOfAnotherFormat) {
  ElementHarness harness("npuinfer", with_model(), caps_of("NV12", 8, 8));
  BufferRef frame = frame_of("NV12", 8, 8, 0);
  gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 8, 8);
  EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_ERROR);
}

TEST_F(NpuInfer, CopiesTheCropOnly) {
  ElementHarness harness("npuinfer", with_model(), caps_of("GRAY8", 8, 8));
  BufferRef frame = frame_of("GRAY8", 16, 16, 0);
  lay_out(frame, GST_VIDEO_FORMAT_GRAY8, 16, 16, {0}, {16});
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
  crop->x = 5;
  crop->y = 3;
  crop->width = crop->height = 8;
  for (gsize row = 3; row < 11; ++row) gst_buffer_memset(frame.get(), row * 16 + 5, 200, 8);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  for (const float value : first_tensor(harness.pull().get())) EXPECT_NEAR(value, 200, 0.5);
}

// ---- Alpha

TEST(Alpha, IsNotLookedAt) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model",
                 dir.write("model.xml", pixels_ir(8, 8)).c_str(), nullptr);
  });
  std::vector<std::vector<float>> seen;
  for (const char* format : {"RGBx", "RGBA", "BGRA", "ARGB", "xRGB", "ABGR", "xBGR"}) {
    harness.set_caps(caps_of(format, 8, 8));
    BufferRef frame = frame_of(format, 8, 8, 0);
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(frame.get(), &map, GST_MAP_WRITE));
    for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<guint8>(i % 4 * 50 + i / 4);
    gst_buffer_unmap(frame.get(), &map);
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    seen.push_back(first_tensor(harness.pull().get()));
  }
  ASSERT_EQ(seen[0].size(), 192u);
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[2][0], seen[0][128]) << "the first byte is blue";
  EXPECT_EQ(seen[3][0], seen[0][64]) << "the first byte is alpha, the second red";
  EXPECT_EQ(seen[4], seen[3]);
  EXPECT_EQ(seen[5][0], seen[3][128]) << "the second byte is blue";
  EXPECT_EQ(seen[6], seen[5]);
}

// ---- Statistics on the bus

/// The "inferred" of each message, oldest first.
std::vector<guint64> posted(GstElement* element) {
  const ObjectRef<GstBus> bus(gst_element_get_bus(element));
  std::vector<guint64> inferred;
  while (GstMessage* message = gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ELEMENT)) {
    const GstStructure* stats = gst_message_get_structure(message);
    guint64 count = 0;
    EXPECT_TRUE(gst_structure_has_name(stats, "npu-stats"));
    EXPECT_TRUE(gst_structure_get_uint64(stats, "inferred", &count));
    inferred.push_back(count);
    gst_message_unref(message);
  }
  return inferred;
}

TEST(StatsMessages, ComeWhereAskedFor) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model",
                 dir.write("model.xml", pixels_ir(8, 8)).c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  const auto push_frames = [&](guint count) {
    for (guint i = 0; i < count; ++i) {
      ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 7)), GST_FLOW_OK);
      ASSERT_NE(harness.pull(), nullptr);
      harness.drain();  // the message follows its frame, and the interval begins with it
      g_usleep(2000);
    }
  };
  push_frames(3);
  EXPECT_TRUE(posted(harness.element()).empty()) << "nobody asked";
  g_object_set(harness.element(), "stats-interval", 1, nullptr);
  push_frames(3);
  EXPECT_EQ(posted(harness.element()), (std::vector<guint64>{4, 5, 6}));
  g_object_set(harness.element(), "stats-interval", 3600'000, nullptr);
  push_frames(3);
  EXPECT_TRUE(posted(harness.element()).empty()) << "an hour is not over";
  gst_harness_push_event(harness.get(), gst_event_new_eos());
  harness.drain();
  EXPECT_EQ(posted(harness.element()), (std::vector<guint64>{9})) << "the last one";
}

// ---- Models that leave sizes open

TEST(OpenSizes, AreTheFrames) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model",
                 dir.write("open.xml", npu::test::dynamic_ir(8)).c_str(), nullptr);
  });
  for (const int height : {6, 10}) {
    harness.set_caps(caps_of("RGB", 8, height));
    ASSERT_EQ(harness.push(frame_of("RGB", 8, height, 7)), GST_FLOW_OK);
    const auto values = first_tensor(harness.pull().get());
    EXPECT_EQ(values, std::vector<float>(static_cast<std::size_t>(3 * 8 * height), 7));
  }
}

// As YOLO and text finders need them.
TEST(OpenSizes, AreRoundedUpWhereTheModelDoesNotTakeTheFrames) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "model",
                 dir.write("even.xml", npu::test::even_ir()).c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 7));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 7, 7)), GST_FLOW_OK);
  const auto values = first_tensor(harness.pull().get());
  EXPECT_EQ(values.size(), 3u * 32 * 32);
  EXPECT_EQ(std::count(values.begin(), values.end(), 7.F), 3 * 28 * 32) << "between borders";
}

// As exports of Hugging Face leave them open.
TEST(OpenSizes, AreThoseOfTheModelsCard) {
  const TempDir dir;
  dir.write("preprocessor_config.json", R"({"size": {"height": 4, "width": 8}})");
  const auto model = dir.write("open.xml", npu::test::dynamic_ir(8));
  for (const char* shape : {"", "1,3,2,8"}) {
    ElementHarness harness("npuinfer", [&](GstElement* element) {
      g_object_set(element, "device", "software", "input-shape", shape, "model", model.c_str(),
                   nullptr);
    });
    harness.set_caps(caps_of("RGB", 16, 16));
    ASSERT_EQ(harness.push(frame_of("RGB", 16, 16, 7)), GST_FLOW_OK);
    const std::size_t rows = *shape ? 2 : 4;
    EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(3 * rows * 8, 7));
  }
}

TEST(OpenSizes, AreThoseOfInputShape) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "input-shape", "1,3,4,8", "model",
                 dir.write("open.xml", npu::test::dynamic_ir(8)).c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 16, 16));
  ASSERT_EQ(harness.push(frame_of("RGB", 16, 16, 7)), GST_FLOW_OK);
  EXPECT_EQ(first_tensor(harness.pull().get()), std::vector<float>(3 * 4 * 8, 7));
}

TEST(InputShape, ChangesAModelThatHasOne) {
  const TempDir dir;
  ElementHarness harness("npuinfer", [&](GstElement* element) {
    g_object_set(element, "device", "software", "input-shape", "[1,3,4,4]", "model",
                 dir.write("model.xml", pixels_ir(8, 8)).c_str(), nullptr);
  });
  harness.set_caps(caps_of("RGB", 8, 8));
  ASSERT_EQ(harness.push(frame_of("RGB", 8, 8, 7)), GST_FLOW_OK);
  EXPECT_EQ(first_tensor(harness.pull().get()).size(), 3u * 4 * 4);
}

}  // namespace
}  // namespace gstnpu::test

// Whole pipelines on the software NPU. NPU_SHAPES_FOLDER names models/shapes.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

#include "pipeline.hpp"

namespace npu::test {
namespace {

constexpr std::size_t kClipFrames = 300;
const std::string shapes_folder = std::getenv("NPU_SHAPES_FOLDER");

class Pipelines : public testing::Test {
 protected:
  /// "npuinfer name=... model=... device=software", with a model that gives its pixels back.
  std::string infer(const std::string& name = "npu") {
    const std::string model = dir_.write("pixels.xml", pixels_ir(16, 16)).string();
    return "npuinfer name=" + name + " device=software model=" + model;
  }
  static std::string clip() {
    return "filesrc location=\"" + shapes_folder + "/shapes.mp4\" ! qtdemux";
  }

  TempDir dir_;
};

bool in_order(const Arrived& arrived) {
  return std::is_sorted(arrived.times.begin(), arrived.times.end()) &&
         std::adjacent_find(arrived.times.begin(), arrived.times.end()) == arrived.times.end();
}

TEST_F(Pipelines, H264File) {
  Pipeline pipeline("filesrc location=\"" + shapes_folder +
                    "/shapes.mp4\" ! decodebin ! npuinfer name=npu " + "device=software model=\"" +
                    shapes_folder + "/shapes.xml\" ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.arrived().times.size(), kClipFrames);
  EXPECT_EQ(pipeline.arrived().with_tensors, kClipFrames);
  EXPECT_TRUE(in_order(pipeline.arrived()));
}

// ---- What is told of lines that show nothing

struct Owned {
  explicit Owned(GstElement* element) : pipeline(element) {}
  ~Owned() {
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
  GstElement* const pipeline;
};

/// The warnings of npu elements until the line has ended, one a line, with what it ended with.
std::string told_by(const std::string& line) {
  const Owned owned(gst_parse_launch(line.c_str(), nullptr));
  gst_element_set_state(owned.pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(owned.pipeline);
  constexpr auto kTypes =
      static_cast<GstMessageType>(GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  std::string told;
  for (bool goes_on = true; goes_on;) {
    GstMessage* message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, kTypes);
    goes_on = message != nullptr && GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    if (goes_on) {
      GError* warning = nullptr;
      gst_message_parse_warning(message, &warning, nullptr);
      told += std::string(warning->message) + "\n";
      g_error_free(warning);
    } else {
      told += message ? GST_MESSAGE_TYPE_NAME(message) : "timeout";
    }
    g_clear_pointer(&message, gst_message_unref);
  }
  gst_object_unref(bus);
  return told;
}

std::string shapes_line(const std::string& behind) {
  return "videotestsrc num-buffers=3 ! npuinfer device=software model=\"" + shapes_folder +
         "/shapes.xml\" ! " + behind + " ! fakesink";
}

TEST(Told, IsThatTensorsWaitForADecoder) {
  const std::string wanted = "put nputensordec in front of nputrack";
  for (const std::string behind : {"nputrack", "queue ! nputrack ! nputensordec"}) {
    const std::string told = told_by(shapes_line(behind));
    EXPECT_TRUE(has(told, wanted)) << behind << ": ";
    EXPECT_EQ(told.find(wanted), told.rfind(wanted)) << "once";
  }
  const std::string told = told_by(shapes_line("nputensordec ! nputrack"));
  EXPECT_FALSE(has(told, wanted));
}

TEST(Told, IsThatACropDroppedWhatWasFound) {
  const bool drops = !filters_tell();
  const std::string told =
      told_by(shapes_line("nputensordec ! videocrop name=door left=16 ! nputrack"));
  EXPECT_EQ(told.find("is gone from the frames") != std::string::npos, drops) << told;
  EXPECT_EQ(told.find("Put nputrack in front of that element") != std::string::npos, drops) << told;
}

// ---- Which upstreams write straight into the NPU's memory

struct Upstream {
  const char* name;
  const char* line;
  guint64 frames;
};

class ZeroCopy : public Pipelines, public testing::WithParamInterface<Upstream> {};

TEST_P(ZeroCopy, UpstreamWritesIntoTheInput) {
  std::string line = GetParam().line;
  if (const auto at = line.find("CLIP"); at != std::string::npos) {
    line.replace(at, 4, clip());
  }
  Pipeline pipeline(line + " ! " + infer() + " ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.arrived().with_tensors, GetParam().frames);
  EXPECT_EQ(pipeline.stat("offered"), GetParam().frames);
  EXPECT_EQ(pipeline.stat("copied"), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, ZeroCopy,
    testing::Values(
        Upstream{"test_source", "videotestsrc num-buffers=20 ! video/x-raw,format=NV12", 20},
        Upstream{"odd_size",
                 "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=301,height=33", 20},
        Upstream{"yv12", "videotestsrc num-buffers=5 ! video/x-raw,format=YV12,width=301,height=33",
                 5},
        Upstream{"nv16", "videotestsrc num-buffers=5 ! video/x-raw,format=NV16,width=301,height=33",
                 5},
        Upstream{"uyvy", "videotestsrc num-buffers=5 ! video/x-raw,format=UYVY,width=301,height=33",
                 5},
        Upstream{"argb", "videotestsrc num-buffers=5 ! video/x-raw,format=ARGB,width=301,height=33",
                 5},
        Upstream{"gray16_le",
                 "videotestsrc num-buffers=5 ! video/x-raw,format=GRAY16_LE,width=301,height=33",
                 5},
        Upstream{"jpeg",
                 "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=320,height=240 ! "
                 "jpegenc ! jpegdec",
                 20},
        Upstream{"behind_a_queue", "videotestsrc num-buffers=20 ! queue", 20},
        Upstream{"behind_identity", "videotestsrc num-buffers=20 ! identity ! queue", 20},
        Upstream{"converted_and_scaled",
                 "videotestsrc num-buffers=20 ! videoconvertscale ! "
                 "video/x-raw,format=RGB,width=200,height=100",
                 20},
        Upstream{"h264_without_direct_rendering",
                 "CLIP ! h264parse ! avdec_h264 direct-rendering=false", kClipFrames}),
    by_name);

TEST_F(Pipelines, RequiredZeroCopyLetsThroughWhatIsReadInPlace) {
  Pipeline pipeline("videotestsrc num-buffers=20 ! queue ! " + infer() +
                    " zero-copy=require ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.stat("offered"), 20u);
}

// A tee keeps the offer of memory from the source.
TEST_F(Pipelines, RequiredZeroCopyEndsTheStreamAtTheFirstCopy) {
  Pipeline pipeline("videotestsrc ! tee name=both ! queue ! " + infer() +
                    " zero-copy=require ! fakesink name=out both. ! queue ! fakesink");
  const std::string outcome = pipeline.play_to_the_end();
  EXPECT_TRUE(has(outcome, "zero-copy=require"));
  EXPECT_TRUE(has(outcome, "tee"));
  EXPECT_EQ(pipeline.arrived().times.size(), 0u);
  EXPECT_EQ(pipeline.stat("copied"), 0u);
}

TEST_F(Pipelines, LiveSourceKeepsItsPace) {
  Pipeline pipeline(
      "videotestsrc is-live=true num-buffers=45 ! "
      "video/x-raw,format=NV12,width=320,height=240,framerate=30/1 ! " +
      infer() + " ! fakesink name=out sync=true qos=true");
  const gint64 begin = g_get_monotonic_time();
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_LT(g_get_monotonic_time() - begin, 10 * G_USEC_PER_SEC);
  EXPECT_EQ(pipeline.arrived().with_tensors, 45u);
}

TEST_F(Pipelines, EosInMidFlightBringsEveryFrameOut) {
  Pipeline pipeline(
      "videotestsrc ! video/x-raw,format=RGB,width=64,height=48 ! identity name=in ! " + infer() +
      " ! fakesink name=out");
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING));
  for (int i = 0; i < 5000 && pipeline.arrived().times.size() < 20; ++i) g_usleep(5000);
  gst_element_send_event(pipeline.get(), gst_event_new_eos());
  EXPECT_EQ(pipeline.wait(), "eos");
  EXPECT_EQ(pipeline.arrived().times.size(), pipeline.stat("frames"));
  EXPECT_TRUE(in_order(pipeline.arrived()));
}

// ---- Seeking

TEST_F(Pipelines, SeekBeforePlaying) {
  Pipeline pipeline(clip() + " ! h264parse ! avdec_h264 ! " + infer() + " ! fakesink name=out");
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PAUSED));
  const GstClockTime target = 5 * GST_SECOND;
  ASSERT_TRUE(pipeline.seek(target));
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PAUSED));
  pipeline.forget_arrived();
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING));
  EXPECT_EQ(pipeline.wait(), "eos");
  ASSERT_FALSE(pipeline.arrived().times.empty());
  EXPECT_GE(pipeline.arrived().times.front(), target);
  EXPECT_TRUE(in_order(pipeline.arrived()));
}

TEST_F(Pipelines, SeeksWithFramesInFlight) {
  Pipeline pipeline(clip() + " ! h264parse ! avdec_h264 ! " + infer() + " ! fakesink name=out");
  ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING));
  for (guint i = 0; i < 12; ++i) {
    g_usleep(15000);
    ASSERT_TRUE(pipeline.seek((i * 7 % 10) * GST_SECOND)) << i;
  }
  ASSERT_TRUE(pipeline.seek(9 * GST_SECOND));
  EXPECT_EQ(pipeline.wait(), "eos");
}

// ---- States

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

std::size_t descriptors() {
  return entries_of("/proc/self/fd");
}
std::size_t threads() {
  return entries_of("/proc/self/task");
}

constexpr std::size_t kLittleHeap = std::size_t{40} << 10;  // what lists and pools grow by

/// Bytes that malloc has given out and not got back, all arenas together.
std::size_t heap_bytes() {
  return ::mallinfo2().uordblks;
}

/// Messages that nobody reads stay on the bus until NULL.
void drop_messages(GstElement* pipeline) {
  GstBus* bus = gst_element_get_bus(pipeline);
  while (GstMessage* message = gst_bus_pop(bus)) gst_message_unref(message);
  gst_object_unref(bus);
}

class Cycles : public Pipelines, public testing::WithParamInterface<GstState> {};

TEST_P(Cycles, AHundredTimesLeaveNothing) {
  Pipeline pipeline("videotestsrc ! video/x-raw,format=RGB,width=64,height=48 ! " + infer() +
                    " ! fakesink name=out");
  std::size_t first_descriptors = 0, first_threads = 0, first_heap = 0;
  for (int cycle = 0; cycle < 100; ++cycle) {
    ASSERT_TRUE(pipeline.set_state(GST_STATE_PLAYING)) << cycle;
    g_usleep(cycle % 3 * 1000);
    ASSERT_TRUE(pipeline.set_state(GetParam())) << cycle;
    if (cycle == 10) {  // what is made once, and the pools, are there
      first_descriptors = descriptors();
      first_threads = threads();
    }
    drop_messages(pipeline.get());
    pipeline.forget_arrived();  // the test's own list, which grew by up to 16 KiB at once
    if (cycle == 40) {
      first_heap = heap_bytes();
    }
  }
  // A compilation that was cancelled ends on its own thread, shortly after the state has changed.
  const auto is_little_left = [&] {
    return descriptors() <= first_descriptors + 4 && threads() <= first_threads + 2 &&
           heap_bytes() <= first_heap + kLittleHeap;
  };
  for (int i = 0; i < 1000 && !is_little_left(); ++i) g_usleep(10000);
  EXPECT_LE(descriptors(), first_descriptors + 4);
  EXPECT_LE(threads(), first_threads + 2);
  EXPECT_LE(heap_bytes(), first_heap + kLittleHeap);
}

INSTANTIATE_TEST_SUITE_P(All, Cycles,
                         testing::Values(GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED),
                         [](const auto& row) {
                           return std::string(gst_element_state_get_name(row.param));
                         });

TEST_F(Pipelines, IsGivenUpWhileItCompiles) {
  for (int delay_us = 0; delay_us < 40000; delay_us += 2500) {
    Pipeline pipeline(
        "videotestsrc ! video/x-raw,format=NV12,width=320,height=240 ! npuinfer name=npu "
        "device=software model=\"" +
        shapes_folder + "/shapes.xml\" ! fakesink name=out");
    gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    g_usleep(static_cast<gulong>(delay_us));
    EXPECT_TRUE(pipeline.set_state(GST_STATE_NULL)) << delay_us;
  }
}

// ---- More than one

TEST_F(Pipelines, TwoElementsInARow) {
  Pipeline pipeline("videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=64,height=48 ! " +
                    infer("first") + " ! " + infer() + " ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.arrived().with_tensors, 30u);
  EXPECT_EQ(pipeline.stat("copied"), 0u) << "the first one's memory serves the second";
}

TEST_F(Pipelines, TwoBranchesOfATee) {
  Pipeline pipeline(
      "videotestsrc num-buffers=30 ! video/x-raw,format=NV12,width=64,height=48 ! tee name=t "
      "t. ! queue ! " +
      infer("other") + " ! fakesink async=false  t. ! queue ! " + infer() + " ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.arrived().with_tensors, 30u);
}

TEST_F(Pipelines, TwoPipelinesAtATime) {
  const std::string line =
      "videotestsrc num-buffers=60 ! video/x-raw,format=NV12,width=64,height=48 ! " + infer() +
      " ! fakesink name=out";
  Pipeline one(line), two(line);
  gst_element_set_state(one.get(), GST_STATE_PLAYING);
  EXPECT_EQ(two.play_to_the_end(), "eos");
  EXPECT_EQ(one.wait(), "eos");
  EXPECT_EQ(one.arrived().with_tensors, 60u);
  EXPECT_EQ(two.arrived().with_tensors, 60u);
}

TEST_F(Pipelines, EverySeventhFrame) {
  Pipeline pipeline("videotestsrc num-buffers=50 ! video/x-raw,format=NV12,width=64,height=48 ! " +
                    infer() + " inference-interval=7 ! fakesink name=out");
  EXPECT_EQ(pipeline.play_to_the_end(), "eos");
  EXPECT_EQ(pipeline.arrived().times.size(), 50u);
  EXPECT_EQ(pipeline.arrived().with_tensors, 8u);
  EXPECT_TRUE(in_order(pipeline.arrived()));
}

TEST_F(Pipelines, AnErrorInTheModelEndsThePipeline) {
  const std::string model = dir_.write("odd.xml", unknown_operator_ir(8, 8)).string();
  Pipeline pipeline("videotestsrc num-buffers=50 ! npuinfer name=npu device=software model=" +
                    model + " ! fakesink name=out");
  EXPECT_TRUE(has(pipeline.play_to_the_end(), "Frobnicate"));
}

}  // namespace
}  // namespace npu::test

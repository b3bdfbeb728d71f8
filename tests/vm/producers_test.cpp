// Producers of real DMA-BUFs, with a driver that takes nothing else: each frame is read where it
// lies, nobody copies it, and the results are those of the same frames in ordinary memory.
//
// scripts/lane.sh vm runs this in a guest that has the devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gst/element_harness.hpp"
#include "zero_copy/driver_trace.hpp"
#include "zero_copy/producer.hpp"

namespace npu::test {
namespace {

struct Row {
  const char* name;
  const char* producer;
  guint64 ProducerRun::*way;
  guint since_minor = 0;  ///< of GStreamer 1.x: older ones lack the element, or it does not work
  const char* why = "";   ///< it does not work there
  const char* encoder = nullptr;  ///< a line that must run before, without any NPU
};

/// The error of a line that ends by itself; empty if it runs.
std::string error_of(const char* line) {
  const gstnpu::ObjectRef<GstElement> pipeline(gst_parse_launch(line, nullptr));
  if (!pipeline) return "GStreamer cannot make it";
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const gstnpu::ObjectRef<GstBus> bus(gst_element_get_bus(pipeline.get()));
  GstMessage* end = gst_bus_timed_pop_filtered(
      bus.get(), 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  std::string text = end ? "" : "it does not end";
  if (end && GST_MESSAGE_TYPE(end) == GST_MESSAGE_ERROR) {
    GError* error = nullptr;
    gst_message_parse_error(end, &error, nullptr);
    text = error->message;
    g_error_free(error);
  }
  if (end) {
    gst_message_unref(end);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return text;
}

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.producer;
}

class GuestProducer : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    guint major = 0, minor = 0, micro = 0, nano = 0;
    gst_version(&major, &minor, &micro, &nano);
    if (minor < GetParam().since_minor) {
      GTEST_SKIP() << "GStreamer 1." << minor << ": " << GetParam().why;
    }
    if (const char* encoder = GetParam().encoder) {
      const std::string error = error_of(encoder);
      if (!error.empty()) {
        GTEST_SKIP() << "this kernel's encoder does not work with GStreamer: " << error;
      }
    }
    ASSERT_EQ(std::getenv("SOFTNPU_ALLOW_MEMFD"), nullptr) << "the driver would take stand-ins";
    ASSERT_TRUE(CopyCounter::is_loaded()) << "set LD_PRELOAD to libcopy-counter.so";
    model_ = folder_.write("pixels.xml", pixels_ir(48, 64)).string();
    result_ = run(producer_named(GetParam().producer), {model_, true});
    ASSERT_EQ(result_.not_run, "");
    ASSERT_EQ(result_.frames, producer_named(GetParam().producer).frames);
  }

  static std::string pixels_ir(int height, int width) {
    return gstnpu::test::pixels_ir(height, width);
  }

  /// The results of the same frames out of ordinary memory, which the element copies.
  std::vector<std::vector<float>> results_of_copies() {
    std::vector<std::vector<float>> tensors;
    gstnpu::test::ElementHarness harness("npuinfer", [this](GstElement* element) {
      g_object_set(element, "model", model_.c_str(), "device", "software", nullptr);
    });
    harness.set_caps(result_.plain_caps);
    const std::size_t count = result_.pixels.size();
    for (gstnpu::BufferRef& frame : result_.pixels) {
      if (harness.push(std::move(frame)) != GST_FLOW_OK) break;
      tensors.push_back(gstnpu::test::first_tensor(harness.pull().get()));
    }
    EXPECT_EQ(harness.stat("copied"), count);
    return tensors;
  }

  TempDir folder_;
  DriverTrace trace_;
  std::string model_;
  ProducerRun result_;
};

float largest_difference(const std::vector<float>& left, const std::vector<float>& right) {
  if (left.size() != right.size() || left.empty()) return INFINITY;
  float most = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    most = std::max(most, std::abs(left[i] - right[i]));
  }
  return most;
}

TEST_P(GuestProducer, IsReadInPlaceWithRightResults) {
  // Nothing was copied, by the element's own count and by the one from outside.
  EXPECT_EQ(result_.*GetParam().way, result_.frames) << result_.copy_reasons;
  EXPECT_EQ(result_.copied_bytes, 0u);
  EXPECT_TRUE(result_.our_copies.empty()) << to_string(result_.our_copies);
  EXPECT_TRUE(result_.memory.starts_with("DMA-BUF")) << result_.memory;
  EXPECT_EQ(result_.memory.find(','), std::string::npos) << result_.memory;

  // The driver read the graph's inputs inside the frames' own buffers.
  const std::vector<ExecutedInput> inputs = trace_.executed_inputs();
  EXPECT_GE(inputs.size(), result_.frames);
  for (const ExecutedInput& input : inputs) {
    EXPECT_TRUE(input.is_imported || GetParam().way == &ProducerRun::offered) << input.name;
    EXPECT_TRUE(result_.inodes.contains(input.inode)) << input.name << ": inode " << input.inode;
    EXPECT_LE(input.offset + input.bytes, input.allocation_bytes) << input.name;
  }

  const auto expected = results_of_copies();
  ASSERT_EQ(result_.tensors.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LE(largest_difference(result_.tensors[i], expected[i]), 0.01f) << "frame " << i;
  }
  EXPECT_GT(*std::max_element(expected[0].begin(), expected[0].end()), 1.f) << "a black picture";
}

constexpr const char* kNoDrmCaps = "its v4l2src knows plain caps only";
constexpr const char* kNoVicodec = "its v4l2fwhtdec hands out no frame of vicodec's";
// Linux 6.12.117's says that it needs three times the memory that it then gives.
constexpr const char* kFwhtEncoder =
    "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=640,height=480 ! v4l2fwhtenc ! "
    "fakesink";

INSTANTIATE_TEST_SUITE_P(
    All, GuestProducer,
    testing::Values(
        Row{"CameraWithOneDescriptor", "v4l2src, one file descriptor", &ProducerRun::imported},
        Row{"CameraWithTwoDescriptors", "v4l2src, two file descriptors", &ProducerRun::imported},
        Row{"CameraWithOneDescriptorByDrmCaps", "v4l2src, one file descriptor, DMA_DRM caps",
            &ProducerRun::imported, 26, kNoDrmCaps},
        Row{"CameraWithTwoDescriptorsByDrmCaps", "v4l2src, two file descriptors, DMA_DRM caps",
            &ProducerRun::imported, 26, kNoDrmCaps},
        Row{"CameraInI420ByDrmCaps", "v4l2src, I420, DMA_DRM caps", &ProducerRun::imported, 26,
            kNoDrmCaps},
        Row{"StatelessDecoder", "v4l2slh264dec", &ProducerRun::imported},
        Row{"StatefulDecoder", "v4l2fwhtdec capture-io-mode=dmabuf", &ProducerRun::imported, 26,
            kNoVicodec, kFwhtEncoder},
        Row{"CameraIntoOfferedMemory", "v4l2src io-mode=dmabuf-import", &ProducerRun::offered},
        Row{"DecoderIntoOfferedMemory", "v4l2fwhtdec capture-io-mode=dmabuf-import",
            &ProducerRun::offered, 26, kNoVicodec, kFwhtEncoder},
        Row{"UdmabufPool", "udmabuf pool", &ProducerRun::imported},
        Row{"DmaHeapPool", "dma-heap pool", &ProducerRun::imported}),
    by_name);

}  // namespace
}  // namespace npu::test

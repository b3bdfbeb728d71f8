// One side of chain_cost.py: pushes frames through a chain of elements that begins with npuinfer,
// on a device that computes nothing (SOFTNPU_EXEC=null), and prints the CPU time of the whole
// process for each frame. This program writes the device's answers: boxes as YOLO gives them, once
// into each memory that npuinfer uses for its output.
#include <gst/check/gstharness.h>
#include <gst/video/gstvideometa.h>
#include <meta/npumeta.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>

namespace {

constexpr gsize kWidth = 1920, kHeight = 1080, kFrameBytes = kWidth * kHeight * 3 / 2;
constexpr const char* kCaps =
    "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1,colorimetry=bt709";

struct Options {
  std::string chain;
  guint boxes = 20, calls = 300, warm_up = 60;
};

/// Rows of boxes in input pixels of a letterboxed frame. Some neighbouring cells find each box, a
/// little elsewhere in each answer.
class Answers {
 public:
  explicit Answers(guint boxes) : boxes_(boxes) {}

  /// Fills values of [1, 4 + classes, cells], unless they hold an answer already.
  void write(std::span<float> values, std::size_t cells, float side) {
    const std::size_t rows = values.size() / cells;
    if (values[4 * cells] != 0) return;
    const float shift = static_cast<float>(written_++ % 4);
    for (guint box = 0; box < boxes_; ++box) {
      for (guint twin = 0; twin < kTwins; ++twin) {
        float* cell = values.data() + box * kTwins + twin;
        const float off = static_cast<float>(twin) + shift;
        cell[0] = side * (0.1F + 0.18F * static_cast<float>(box % 5)) + off;
        cell[cells] = side * (0.28F + 0.14F * static_cast<float>(box / 5 % 4)) + off;
        cell[2 * cells] = side * 0.16F;
        cell[3 * cells] = side * 0.12F;
        cell[(4 + box % (rows - 4)) * cells] = 0.9F - 0.05F * static_cast<float>(twin);
      }
    }
  }

 private:
  static constexpr guint kTwins = 6;
  const guint boxes_;
  guint written_ = 0;
};

/// Probe behind npuinfer, in its output thread.
GstPadProbeReturn answer(GstPad*, GstPadProbeInfo* info, gpointer answers) {
  GstBuffer* frame = GST_PAD_PROBE_INFO_BUFFER(info);
  GstNpuTensor tensor;
  GstMapInfo map;
  if (!gst_npu_buffer_get_tensor(frame, 0, &tensor) ||
      !gst_memory_map(tensor.memory, &map, GST_MAP_READ)) {
    return GST_PAD_PROBE_OK;
  }
  const GstNpuInferenceMeta* meta = gst_buffer_get_npu_inference_meta(frame);
  static_cast<Answers*>(answers)->write({reinterpret_cast<float*>(map.data), map.size / 4},
                                        tensor.dims[2], static_cast<float>(meta->model_width));
  gst_memory_unmap(tensor.memory, &map);
  return GST_PAD_PROBE_OK;
}

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class Side {
 public:
  explicit Side(const Options& options)
      : answers_(options.boxes), harness_(gst_harness_new_parse(options.chain.c_str())) {
    if (harness_ == nullptr) throw std::runtime_error("no elements: " + options.chain);
    gst_element_set_bus(harness_->element, bus_);
    if (GstElement* infer = gst_bin_get_by_name(GST_BIN(harness_->element), "infer")) {
      GstPad* pad = gst_element_get_static_pad(infer, "src");
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, answer, &answers_, nullptr);
      gst_object_unref(pad);
      gst_object_unref(infer);
    }
    gst_harness_set_src_caps_str(harness_, kCaps);
    for (guint i = 0; i < kInFlight; ++i) push();
  }
  ~Side() {
    gst_harness_teardown(harness_);
    gst_object_unref(bus_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Milliseconds of the process's CPU time for one frame in and one out.
  double pass_one() {
    const double before = cpu_ms();
    push();
    GstBuffer* frame = gst_harness_pull(harness_);
    if (frame == nullptr) throw std::runtime_error("no frame comes out");
    objects_ = gst_buffer_get_n_meta(frame, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    gst_buffer_unref(frame);
    return cpu_ms() - before;
  }
  guint objects() const { return objects_; }

 private:
  static constexpr guint kInFlight = 2;

  /// Pushes memory that the chain offers, like a decoder; the pixels stay as they are.
  void push() {
    GstBuffer* frame = gst_harness_create_buffer(harness_, kFrameBytes);
    GST_BUFFER_PTS(frame) = gst_util_uint64_scale(pushed_++, GST_SECOND, 30);
    if (gst_harness_push(harness_, frame) != GST_FLOW_OK) {
      throw std::runtime_error("the chain refuses frame " + std::to_string(pushed_) + error());
    }
  }

  /// An error that an element has posted, behind a colon.
  std::string error() {
    GstMessage* message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR);
    if (message == nullptr) return "";
    g_autoptr(GError) error = nullptr;
    gst_message_parse_error(message, &error, nullptr);
    gst_message_unref(message);
    return std::string(": ") + error->message;
  }

  Answers answers_;
  GstBus* const bus_ = gst_bus_new();
  GstHarness* const harness_;
  guint64 pushed_ = 0;
  guint objects_ = 0;
};

nlohmann::json measure(const Options& options) {
  Side side(options);
  for (guint i = 0; i < options.warm_up; ++i) side.pass_one();
  nlohmann::json line{{"times", nlohmann::json::array()}};
  for (guint i = 0; i < options.calls; ++i) line["times"].push_back(side.pass_one());
  line["objects"] = side.objects();
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  Options options;
  CLI::App app("Passes frames through a chain of elements");
  app.add_option("chain", options.chain, "npuinfer is named \"infer\"")->required();
  app.add_option("--boxes", options.boxes);
  app.add_option("--calls", options.calls);
  app.add_option("--warm-up", options.warm_up);
  CLI11_PARSE(app, argc, argv);
  try {
    std::cout << measure(options) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

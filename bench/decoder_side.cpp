// One side of decoder_cost.py: pushes frames with a tensor [1, 4 + classes, boxes] of f32 from a
// file through a tensor decoder, and prints the time that each frame took and the objects found.
#include <gst/analytics/analytics.h>
#include <gst/check/gstharness.h>
#include <meta/npumeta.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "yolo_tensor.hpp"

namespace {

struct Options {
  std::string element, file;
  std::size_t classes = 80, boxes = 8400, calls = 100;
  guint size = 640;  // of the model's input and of the frames
};

/// The caps of npuinfer's output from GStreamer 1.28 on.
std::string caps_of(const Options& options) {
  const std::string size = std::to_string(options.size);
  return "video/x-raw, format=GRAY8, framerate=30/1, width=" + size + ", height=" + size +
         ", tensors=(structure)[tensorgroups, yolo-v8-out=(/uniquelist){(GstCaps)[tensor/strided, "
         "tensor-id=(string)yolo-v8-out, dims=<(int)1, (int)" +
         std::to_string(4 + options.classes) + ", (int)" + std::to_string(options.boxes) +
         ">, dims-order=(string)col-major, type=(string)float32]}]";
}

class Side {
 public:
  explicit Side(const Options& options)
      : options_(options),
        values_(read_yolo_tensor(options.file, options.classes, options.boxes)),
        memory_(gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, values_.data(),
                                       values_.size() * sizeof(float), 0,
                                       values_.size() * sizeof(float), nullptr, nullptr)),
        pixels_(gst_allocator_alloc(nullptr, gsize{options.size} * options.size, nullptr)),
        harness_(gst_harness_new_parse(options.element.c_str())) {
    gst_harness_set_src_caps_str(harness_, caps_of(options).c_str());
  }
  ~Side() {
    gst_harness_teardown(harness_);
    gst_memory_unref(memory_);
    gst_memory_unref(pixels_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Milliseconds in the element.
  double push_one() {
    GstBuffer* frame = make_frame();
    const auto begin = std::chrono::steady_clock::now();
    const GstFlowReturn flow = gst_harness_push(harness_, frame);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (flow != GST_FLOW_OK) throw std::runtime_error(options_.element + " refuses the frame");
    GstBuffer* decoded = gst_harness_pull(harness_);
    count_objects(decoded);
    gst_buffer_unref(decoded);
    return took.count();
  }
  std::size_t objects() const { return objects_; }

 private:
  GstBuffer* make_frame() {
    GstBuffer* frame = gst_buffer_new();
    gst_buffer_append_memory(frame, gst_memory_ref(pixels_));
    GstNpuTensor tensor = {};
    tensor.name = "output0";
    tensor.id = "yolo-v8-out";
    tensor.is_column_major = TRUE;
    tensor.type = GST_NPU_DATA_F32;
    tensor.num_dims = 3;
    tensor.dims[0] = 1;
    tensor.dims[1] = 4 + options_.classes;
    tensor.dims[2] = options_.boxes;
    tensor.memory = memory_;
    gst_npu_buffer_add_tensors(frame, &tensor, 1);
    GstNpuInferenceMeta* meta = gst_buffer_add_npu_inference_meta(frame, "yolo.xml");
    meta->model_width = meta->model_height = options_.size;
    meta->scale_x = meta->scale_y = 1;
    return frame;
  }

  void count_objects(GstBuffer* frame) {
    objects_ = 0;
    GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(frame);
    gpointer state = nullptr;
    GstAnalyticsMtd found;
    while (relations && gst_analytics_relation_meta_iterate(
                            relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found)) {
      ++objects_;
    }
  }

  const Options options_;
  std::vector<float> values_;
  GstMemory* const memory_;
  GstMemory* const pixels_;
  GstHarness* const harness_;
  std::size_t objects_ = 0;
};

nlohmann::json measure(const Options& options) {
  Side side(options);
  side.push_one();  // warm-up
  nlohmann::json line{{"times", nlohmann::json::array()}};
  for (std::size_t i = 0; i < options.calls; ++i) line["times"].push_back(side.push_one());
  line["objects"] = side.objects();
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  Options options;
  CLI::App app("Decodes one tensor again and again");
  app.add_option("element", options.element)->required();
  app.add_option("file", options.file)->required();
  app.add_option("--calls", options.calls);
  CLI11_PARSE(app, argc, argv);
  try {
    std::cout << measure(options) << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

// One side of overlay_cost.py: pushes frames with objects through an element that draws them, and
// prints the time that each frame took. The frames carry the objects as regions of interest, and in
// GstAnalytics' form if that exists.
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <answers/frame_answer.hpp>
#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Options {
  std::string element, format = "NV12", map;
  int width = 1920, height = 1080;
  guint boxes = 20, calls = 100;
};

constexpr guint kMapWidth = 256, kMapHeight = 144;

/// Waves, higher in some places than in others.
double height_at(guint x, guint y) {
  return std::sin(x * 0.06) + std::sin(y * 0.08 + 1) + std::sin((x + y) * 0.04);
}

/// Adds a map like a model of the whole frame: areas of 12 classes, or values.
void add_map(GstBuffer* frame, const Options& options) {
  gstnpu::FoundMap map{
      .area = {0, 0, static_cast<double>(options.width), static_cast<double>(options.height)}};
  for (guint y = 0; y < kMapHeight; ++y) {
    for (guint x = 0; x < kMapWidth; ++x) {
      if (options.map == "classes") {
        map.classes.values.push_back(static_cast<guint16>(2 * (height_at(x, y) + 3)));
      } else {
        map.values.values.push_back(static_cast<float>(height_at(x, y)));
      }
    }
  }
  map.classes.width = map.values.width = kMapWidth;
  map.classes.height = map.values.height = kMapHeight;
  gstnpu::FrameAnswer answer;
  answer.maps.push_back(std::move(map));
  gstnpu::put_answer(frame, std::make_shared<gstnpu::FrameAnswer>(std::move(answer)));
}

/// Adds rows of boxes whose neighbours overlap a little.
void add_objects(GstBuffer* frame, const Options& options) {
  constexpr guint kColumns = 5;
  const guint width = static_cast<guint>(options.width) / 5;
  const guint height = static_cast<guint>(options.height) / 4;
#ifdef GST_NPU_HAVE_ANALYTICS
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(frame);
#endif
  for (guint i = 0; i < options.boxes; ++i) {
    const guint x = i % kColumns * width * 9 / 10, y = i / kColumns % 4 * height * 9 / 10;
    const std::string label = "object " + std::to_string(i % 10);
    GstVideoRegionOfInterestMeta* region =
        gst_buffer_add_video_region_of_interest_meta(frame, label.c_str(), x, y, width, height);
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, 0.75, "label_id",
                                  G_TYPE_INT, static_cast<int>(i % 10), nullptr));
#ifdef GST_NPU_HAVE_ANALYTICS
    GstAnalyticsODMtd object;
    gst_analytics_relation_meta_add_od_mtd(
        relations, g_quark_from_string(label.c_str()), static_cast<gint>(x), static_cast<gint>(y),
        static_cast<gint>(width), static_cast<gint>(height), 0.75F, &object);
    region->id = static_cast<gint>(object.id);
#endif
  }
}

class Side {
 public:
  explicit Side(const Options& options)
      : options_(options), harness_(gst_harness_new_parse(options.element.c_str())) {
    GstCaps* caps =
        gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, options.format.c_str(), "width",
                            G_TYPE_INT, options.width, "height", G_TYPE_INT, options.height,
                            "framerate", GST_TYPE_FRACTION, 30, 1, nullptr);
    gst_video_info_from_caps(&info_, caps);
    gst_harness_set_src_caps(harness_, caps);
  }
  ~Side() { gst_harness_teardown(harness_); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  /// Returns the element's time in milliseconds.
  double push_one() {
    GstBuffer* frame = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    gst_buffer_memset(frame, 0, 100, info_.size);
    add_objects(frame, options_);
    if (!options_.map.empty()) {
      add_map(frame, options_);
    }
    const auto begin = std::chrono::steady_clock::now();
    const GstFlowReturn flow = gst_harness_push(harness_, frame);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (flow != GST_FLOW_OK) throw std::runtime_error(options_.element + " refuses the frame");
    GstBuffer* drawn = gst_harness_pull(harness_);
    count_changed(drawn);
    gst_buffer_unref(drawn);
    return took.count();
  }
  /// Bytes that the element changed in the last frame.
  std::size_t changed() const { return changed_; }

 private:
  void count_changed(GstBuffer* frame) {
    GstMapInfo map;
    if (!gst_buffer_map(frame, &map, GST_MAP_READ)) throw std::runtime_error("cannot map");
    changed_ = 0;
    for (gsize i = 0; i < map.size; ++i) changed_ += map.data[i] != 100;
    gst_buffer_unmap(frame, &map);
  }

  const Options options_;
  GstVideoInfo info_{};
  GstHarness* const harness_;
  std::size_t changed_ = 0;
};

nlohmann::json measure(const Options& options) {
  Side side(options);
  side.push_one();  // warm-up
  nlohmann::json line{{"times", nlohmann::json::array()}};
  for (guint i = 0; i < options.calls; ++i) line["times"].push_back(side.push_one());
  line["changed"] = side.changed();
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  Options options;
  CLI::App app("Draws the same objects again and again");
  app.add_option("element", options.element)->required();
  app.add_option("--format", options.format);
  app.add_option("--boxes", options.boxes);
  app.add_option("--map", options.map, "adds a map of the whole frame")
      ->check(CLI::IsMember({"classes", "values"}));
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

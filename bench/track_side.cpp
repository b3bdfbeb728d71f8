// One side of track_quality.py: pushes frames with the boxes of a clip through a tracker's element,
// and prints for each frame the boxes that left it with an identity: [id, left, top, width,
// height]. Boxes go in as regions of interest, and in GstAnalytics' form if that exists.
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <meta/npumeta.h>
#ifdef GST_NPU_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cpu_time.hpp"

namespace {

using Json = nlohmann::json;
using Buffer = std::unique_ptr<GstBuffer, decltype(&gst_buffer_unref)>;

struct Options {
  std::string element, file;
  int interval = 1;        // frames from one with boxes to the next
  double least_score = 0;  // of boxes that go in
};

struct Box {
  std::string label;
  double score, left, top, width, height;
};

Box box_of(const Json& object) {
  const Json& box = object.at("box");
  return {object.at("label"), object.at("confidence"), box.at(0), box.at(1), box.at(2), box.at(3)};
}

void add_box(GstBuffer* frame, const Box& box) {
  const auto left = std::lround(box.left), top = std::lround(box.top);
  const auto width = std::lround(box.width), height = std::lround(box.height);
  GstVideoRegionOfInterestMeta* region = gst_buffer_add_video_region_of_interest_meta(
      frame, box.label.c_str(), static_cast<guint>(left), static_cast<guint>(top),
      static_cast<guint>(width), static_cast<guint>(height));
  gst_video_region_of_interest_meta_add_param(
      region, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE, box.score, nullptr));
#ifdef GST_NPU_HAVE_ANALYTICS
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(frame);
  if (!relations) {
    relations = gst_buffer_add_analytics_relation_meta(frame);
  }
  GstAnalyticsODMtd object;
  gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string(box.label.c_str()),
                                         static_cast<gint>(left), static_cast<gint>(top),
                                         static_cast<gint>(width), static_cast<gint>(height),
                                         static_cast<gfloat>(box.score), &object);
  region->id = static_cast<gint>(object.id);
#endif
}

#ifdef GST_NPU_HAVE_ANALYTICS
/// Reads GstAnalytics' form, the only one that GStreamer's own tracker knows.
Json identified_boxes(GstBuffer* frame) {
  Json boxes = Json::array();
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(frame);
  gpointer state = nullptr;
  GstAnalyticsODMtd object;
  while (relations && gst_analytics_relation_meta_iterate(
                          relations, &state, gst_analytics_od_mtd_get_mtd_type(), &object)) {
    gpointer related = nullptr;
    GstAnalyticsTrackingMtd tracking;
    if (!gst_analytics_relation_meta_get_direct_related(
            relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
            gst_analytics_tracking_mtd_get_mtd_type(), &related, &tracking)) {
      continue;
    }
    guint64 id = 0;
    GstClockTime first = 0, last = 0;
    gboolean lost = FALSE;
    gint left = 0, top = 0, width = 0, height = 0;
    gfloat score = 0;
    gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &lost);
    gst_analytics_od_mtd_get_location(&object, &left, &top, &width, &height, &score);
    boxes.push_back({id, left, top, width, height});
  }
  return boxes;
}
#else
Json identified_boxes(GstBuffer* frame) {
  Json boxes = Json::array();
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const auto* track = gst_video_region_of_interest_meta_get_param(region, "object_id");
    gint id = 0;
    if (track && gst_structure_get_int(track, "id", &id)) {
      boxes.push_back({id, region->x, region->y, region->w, region->h});
    }
  }
  return boxes;
}
#endif

class Side {
 public:
  Side(const Options& options, const Json& clip)
      : options_(options), clip_(clip), harness_(gst_harness_new_parse(options.element.c_str())) {
    gst_harness_set_src_caps(
        harness_, gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                      G_TYPE_INT, clip.at("width").get<int>(), "height", G_TYPE_INT,
                                      clip.at("height").get<int>(), "framerate", GST_TYPE_FRACTION,
                                      clip.at("rate").get<int>(), 1, nullptr));
  }
  ~Side() { gst_harness_teardown(harness_); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  Json run() {
    Json line{{"frames", Json::array()}, {"times", Json::array()}};
    for (std::size_t i = 0; i < clip_.at("frames").size(); ++i) {
      GstBuffer* frame = make_frame(i);
      const double begin = bench::cpu_ms();
      if (gst_harness_push(harness_, frame) != GST_FLOW_OK) {
        throw std::runtime_error(options_.element + " refuses the frame");
      }
      line["times"].push_back(bench::cpu_ms() - begin);
      const Buffer out(gst_harness_pull(harness_), gst_buffer_unref);
      line["frames"].push_back(identified_boxes(out.get()));
    }
    return line;
  }

 private:
  GstBuffer* make_frame(std::size_t index) {
    GstBuffer* frame = gst_buffer_new_allocate(nullptr, 16, nullptr);
    GST_BUFFER_PTS(frame) =
        gst_util_uint64_scale(index, GST_SECOND, clip_.at("rate").get<guint64>());
    if (index % static_cast<std::size_t>(options_.interval) == 0) {
      gst_buffer_add_npu_inference_meta(frame, "detector");
      for (const Json& object : clip_.at("frames").at(index).at("found")) {
        const Box box = box_of(object);
        if (box.score >= options_.least_score) {
          add_box(frame, box);
        }
      }
    }
    return frame;
  }

  const Options options_;
  const Json& clip_;
  GstHarness* const harness_;
};

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  Options options;
  CLI::App app("Tracks the boxes of a clip");
  app.add_option("element", options.element)->required();
  app.add_option("clip", options.file)->required();
  app.add_option("--interval", options.interval)->check(CLI::PositiveNumber);
  app.add_option("--least-score", options.least_score);
  CLI11_PARSE(app, argc, argv);
  try {
    std::ifstream file(options.file);
    const Json clip = Json::parse(file);
    std::cout << Side(options, clip).run() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

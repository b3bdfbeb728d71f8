// nputensordec behind elements that crop, scale, mirror and turn frames finds what it finds in
// front of them, moved, where those tell what they do; else it refuses.
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <vector>

#include "support/expect.hpp"

#include "pipeline.hpp"

namespace npu::test {
namespace {

struct Box {
  double left, top, right, bottom, confidence;
};

struct Found {
  double width = 0, height = 0;  // of the frame
  bool is_described = false;     // by a GstVideoCropMeta: more pixels are there
  std::vector<Box> boxes;
  std::string outcome;
};

/// The objects of the first frame, exactly.
class Watch {
 public:
  explicit Watch(GstElement* pipeline) {
    GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
    GstPad* pad = gst_element_get_static_pad(sink, "sink");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, look, this, nullptr);
    gst_object_unref(pad);
    gst_object_unref(sink);
  }
  Found found;

 private:
  static GstPadProbeReturn look(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    static_cast<Watch*>(self)->read(pad, GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_REMOVE;
  }

  void read(GstPad* pad, GstBuffer* buffer) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    gint width = 0, height = 0;
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &width);
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "height", &height);
    gst_caps_unref(caps);
    found.boxes.clear();
    found.is_described = gst_buffer_get_video_crop_meta(buffer) != nullptr;
    found.width = width;
    found.height = height;
    gpointer state = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
               buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      add(gst_video_region_of_interest_meta_get_param(
          reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), "detection"));
    }
  }

  void add(const GstStructure* detection) {
    Box box{};
    ASSERT_TRUE(gst_structure_get(detection, "x_min", G_TYPE_DOUBLE, &box.left, "y_min",
                                  G_TYPE_DOUBLE, &box.top, "x_max", G_TYPE_DOUBLE, &box.right,
                                  "y_max", G_TYPE_DOUBLE, &box.bottom, "confidence", G_TYPE_DOUBLE,
                                  &box.confidence, nullptr));
    found.boxes.push_back({box.left * found.width, box.top * found.height, box.right * found.width,
                           box.bottom * found.height, box.confidence});
  }
};

/// As video sinks do.
GstPadProbeReturn take_crops(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  return GST_PAD_PROBE_HANDLED;
}

void let_sink_take_crops(GstElement* pipeline) {
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "out");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, take_crops, nullptr, nullptr);
  gst_object_unref(pad);
  gst_object_unref(sink);
}

enum class Sink { kPlain, kTakesCrops };

/// Puts `before` in front of the inference, and `after` between it and its decoder.
Found find(const std::string& before, const std::string& after, Sink sink = Sink::kPlain) {
  const std::string shapes = std::getenv("NPU_SHAPES_FOLDER");
  Pipeline pipeline("filesrc location=\"" + shapes +
                    "/shapes.mp4\" ! qtdemux ! h264parse ! avdec_h264 ! identity eos-after=2 ! " +
                    before + " npuinfer name=npu device=software model=\"" + shapes +
                    "/shapes.xml\" ! " + after + " nputensordec ! fakesink name=out");
  if (sink == Sink::kTakesCrops) {
    let_sink_take_crops(pipeline.get());
  }
  Watch watch(pipeline.get());
  watch.found.outcome = pipeline.play_to_the_end();
  return watch.found;
}

void expect_same(const Found& found, const std::vector<Box>& expected) {
  ASSERT_EQ(found.outcome, "eos");
  ASSERT_EQ(found.boxes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(found.boxes[i].left, expected[i].left, 0.01) << i;
    EXPECT_NEAR(found.boxes[i].top, expected[i].top, 0.01) << i;
    EXPECT_NEAR(found.boxes[i].right, expected[i].right, 0.01) << i;
    EXPECT_NEAR(found.boxes[i].bottom, expected[i].bottom, 0.01) << i;
    EXPECT_EQ(found.boxes[i].confidence, expected[i].confidence) << i;
  }
}

/// New place of a point of a frame of 640x360.
using Point = std::array<double, 2>;
using Move = Point (*)(double x, double y);

std::vector<Box> moved(const Found& whole, Move move, double width, double height) {
  std::vector<Box> boxes;
  for (const Box& box : whole.boxes) {
    const Point a = move(box.left, box.top), b = move(box.right, box.bottom);
    const Box now{std::max(0.0, std::min(a[0], b[0])), std::max(0.0, std::min(a[1], b[1])),
                  std::min(width, std::max(a[0], b[0])), std::min(height, std::max(a[1], b[1])),
                  box.confidence};
    if (now.right > now.left && now.bottom > now.top) {
      boxes.push_back(now);
    }
  }
  return boxes;
}

struct Row : Named {
  const char* elements;
  double width, height;
  Move move;
  bool is_told_before = false;  // GStreamer 1.28
};

class Followed : public testing::TestWithParam<Row> {};

TEST_P(Followed, HasTheSameObjectsMovedOrIsRefused) {
  static const Found whole = find("", "");
  ASSERT_GE(whole.boxes.size(), 5U);
  const Row& row = GetParam();
  const Found found = find("", row.elements);
  if (!row.is_told_before && !filters_tell()) {
    EXPECT_NE(found.outcome.find("Put nputensordec directly behind npuinfer"), std::string::npos)
        << found.outcome;
    EXPECT_TRUE(found.boxes.empty());
    return;
  }
  EXPECT_EQ(found.width, row.width);
  EXPECT_EQ(found.height, row.height);
  expect_same(found, moved(whole, row.move, row.width, row.height));
}

constexpr auto kCropped = [](double x, double y) { return Point{x - 300, y - 20}; };

INSTANTIATE_TEST_SUITE_P(
    Behind, Followed,
    testing::Values(
        Row{"videocrop", "videocrop left=300 top=20 right=40 bottom=10 !", 300, 330, kCropped},
        Row{"two_videocrops", "videocrop left=200 top=20 ! videocrop left=100 right=40 bottom=10 !",
            300, 330, kCropped},
        Row{"videocrop_and_queues",
            "queue ! videocrop left=300 top=20 right=40 bottom=10 ! queue !", 300, 330, kCropped},
        Row{"videocrop_by_size",
            "videocrop left=-1 right=-1 top=-1 bottom=-1 ! video/x-raw,width=400,height=300 !", 400,
            300,
            [](double x, double y) {
              return Point{x - 120, y - 30};
            }},
        Row{"aspectratiocrop", "aspectratiocrop aspect-ratio=1/1 !", 360, 360,
            [](double x, double y) {
              return Point{x - 140, y};
            }},
        Row{"videobox", "videobox left=-20 top=30 !", 660, 330,
            [](double x, double y) {
              return Point{x + 20, y - 30};
            }},
        Row{"videobox_by_size", "videobox autocrop=true ! video/x-raw,width=700,height=340 !", 700,
            340,
            [](double x, double y) {
              return Point{x + 30, y - 10};
            }},
        Row{"videoscale", "videoscale ! video/x-raw,width=320,height=180 !", 320, 180,
            [](double x, double y) {
              return Point{x / 2, y / 2};
            },
            true},
        Row{"videoscale_to_another_shape", "videoscale ! video/x-raw,width=320,height=90 !", 320,
            90,
            [](double x, double y) {
              return Point{x / 2, y / 4};
            },
            true},
        Row{"videoscale_with_borders",
            "videoscale ! video/x-raw,width=320,height=320,pixel-aspect-ratio=1/1 !", 320, 320,
            [](double x, double y) {
              return Point{x / 2, y / 2 + 70};
            }},
        Row{"videoscale_and_videocrop",
            "videoscale ! video/x-raw,width=320,height=180 ! videocrop left=150 top=10 !", 170, 170,
            [](double x, double y) {
              return Point{x / 2 - 150, y / 2 - 10};
            }},
        Row{"videobalance", "videobalance saturation=0 ! queue ! tee ! videoconvert !", 640, 360,
            [](double x, double y) {
              return Point{x, y};
            },
            true},
        Row{"clockwise", "videoflip video-direction=90r !", 360, 640,
            [](double x, double y) {
              return Point{360 - y, x};
            }},
        Row{"counterclockwise", "videoflip video-direction=90l !", 360, 640,
            [](double x, double y) {
              return Point{y, 640 - x};
            }},
        Row{"upside_down", "videoflip video-direction=180 !", 640, 360,
            [](double x, double y) {
              return Point{640 - x, 360 - y};
            }},
        Row{"mirrored", "videoflip video-direction=horiz !", 640, 360,
            [](double x, double y) {
              return Point{640 - x, y};
            }},
        Row{"mirrored_vertically", "videoflip video-direction=vert !", 640, 360,
            [](double x, double y) {
              return Point{x, 360 - y};
            }},
        Row{"along_a_diagonal", "videoflip video-direction=ul-lr !", 360, 640,
            [](double x, double y) {
              return Point{y, x};
            }},
        Row{"along_the_other_diagonal", "videoflip video-direction=ur-ll !", 360, 640,
            [](double x, double y) {
              return Point{360 - y, 640 - x};
            }},
        Row{"cropped_turned_and_cropped",
            "videocrop left=140 ! videoflip video-direction=90r ! videocrop top=100 right=60 !",
            300, 400,
            [](double x, double y) {
              return Point{360 - y, x - 140 - 100};
            }}),
    by_name);

// npuinfer takes a GstVideoCropMeta where the sink does, so videocrop touches no pixels.
TEST(CroppedBefore, IsTheFrameWhetherCroppedOrDescribed) {
  const std::string crop = "videocrop left=140 top=60 right=20 bottom=30 !";
  const Found described = find(crop, "", Sink::kTakesCrops);
  const Found copied = find(crop, "");
  ASSERT_EQ(described.outcome, "eos");
  EXPECT_TRUE(described.is_described);
  EXPECT_FALSE(copied.is_described);
  EXPECT_EQ(described.width, 480);
  ASSERT_FALSE(described.boxes.empty());
  ASSERT_EQ(described.boxes.size(), copied.boxes.size());
  for (std::size_t i = 0; i < copied.boxes.size(); ++i) {
    EXPECT_NEAR(described.boxes[i].left, copied.boxes[i].left, 1) << i;
    EXPECT_NEAR(described.boxes[i].bottom, copied.boxes[i].bottom, 1) << i;
  }
}

// videocrop behind the inference only describes, too, where a second inference takes that.
TEST(CroppedBehind, IsFollowedWhereNoPixelIsTouched) {
  const std::string shapes = std::getenv("NPU_SHAPES_FOLDER");
  const Found whole = find("", "");
  const Found found = find("",
                           "videocrop left=300 top=20 right=40 bottom=10 ! npuinfer "
                           "device=software inference-interval=1000 model=\"" +
                               shapes + "/shapes.xml\" !",
                           Sink::kTakesCrops);
  ASSERT_EQ(found.outcome, "eos");
  EXPECT_TRUE(found.is_described);
  std::vector<Box> expected = moved(whole, kCropped, 300, 330);
  ASSERT_GE(found.boxes.size(), expected.size());
  for (const Box& box : expected) {
    EXPECT_TRUE(std::any_of(found.boxes.begin(), found.boxes.end(), [&](const Box& one) {
      return one.confidence == box.confidence && std::abs(one.left - box.left) < 0.01 &&
             std::abs(one.bottom - box.bottom) < 0.01;
    })) << box.left;
  }
}

}  // namespace
}  // namespace npu::test

// GStreamer's own tensor decoders (1.28) on the tensors of npuinfer and npuimport, beside
// nputensordec. NPU_SHAPES_FOLDER names models/shapes.
#include <gtest/gtest.h>

#include "pipeline.hpp"

#if GST_CHECK_VERSION(1, 28, 0)

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "support/temp_dir.hpp"
#include "support/tiny_ir.hpp"

namespace npu::test {
namespace {

const std::string shapes_folder = std::getenv("NPU_SHAPES_FOLDER");
const std::string npu_compile = std::getenv("NPU_COMPILE");
constexpr std::size_t kClipFrames = 300;

struct Box {
  double left, top, right, bottom;
  float confidence;
  std::string label;
};

/// Results on one frame.
struct Decoded {
  gint width = 0, height = 0;
  std::vector<Box> boxes;  ///< best first
  std::vector<std::pair<std::string, float>> classes;
  std::string pixels;               ///< checksum of the luma
  std::vector<double> mask_halves;  ///< of each mask: the part of its left and of its right half
};

Box clipped(Box box, const Decoded& frame) {
  box.left = std::clamp<double>(box.left, 0, frame.width);
  box.right = std::clamp<double>(box.right, 0, frame.width);
  box.top = std::clamp<double>(box.top, 0, frame.height);
  box.bottom = std::clamp<double>(box.bottom, 0, frame.height);
  return box;
}

void add_halves(const guint8* values, gsize columns, gsize rows, Decoded* frame) {
  double left = 0, right = 0;
  for (gsize i = 0; i < columns * rows; ++i) {
    (i % columns < columns / 2 ? left : right) += values[i] != 0;
  }
  frame->mask_halves.push_back(left * 2 / static_cast<double>(columns * rows));
  frame->mask_halves.push_back(right * 2 / static_cast<double>(columns * rows));
}

void read_boxes(GstAnalyticsRelationMeta* relations, Decoded* frame) {
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                             &found)) {
    gint x = 0, y = 0, w = 0, h = 0;
    float confidence = 0;
    gst_analytics_od_mtd_get_location(&found, &x, &y, &w, &h, &confidence);
    const gchar* label = g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&found));
    const Box box = {double(x), double(y), double(x + w), double(y + h), confidence, label};
    frame->boxes.push_back(clipped(box, *frame));
  }
  std::stable_sort(frame->boxes.begin(), frame->boxes.end(),
                   [](const Box& a, const Box& b) { return a.confidence > b.confidence; });
}

void read_classes(GstAnalyticsRelationMeta* relations, Decoded* frame) {
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  while (gst_analytics_relation_meta_iterate(relations, &state,
                                             gst_analytics_cls_mtd_get_mtd_type(), &found)) {
    frame->classes.emplace_back(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&found, 0)),
                                gst_analytics_cls_mtd_get_level(&found, 0));
  }
}

/// They have the size that their video meta says, row after row without padding.
void read_masks(GstAnalyticsRelationMeta* relations, Decoded* frame) {
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  while (gst_analytics_relation_meta_iterate(
      relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(), &found)) {
    GstBuffer* mask =
        gst_analytics_segmentation_mtd_get_mask(&found, nullptr, nullptr, nullptr, nullptr);
    const GstVideoMeta* size = gst_buffer_get_video_meta(mask);
    GstMapInfo map;
    if (size && gst_buffer_map(mask, &map, GST_MAP_READ)) {
      add_halves(map.data, size->width, size->height, frame);
      gst_buffer_unmap(mask, &map);
    }
    gst_buffer_unref(mask);
  }
}

std::string checksum(const GstVideoInfo& info, GstBuffer* buffer) {
  GstVideoFrame pixels;
  if (!gst_video_frame_map(&pixels, &info, buffer, GST_MAP_READ)) return {};
  GChecksum* sum = g_checksum_new(G_CHECKSUM_MD5);
  const auto* row = static_cast<const guchar*>(GST_VIDEO_FRAME_PLANE_DATA(&pixels, 0));
  for (gint y = 0; y < info.height; ++y, row += GST_VIDEO_FRAME_PLANE_STRIDE(&pixels, 0)) {
    g_checksum_update(sum, row, info.width);
  }
  std::string text = g_checksum_get_string(sum);
  g_checksum_free(sum);
  gst_video_frame_unmap(&pixels);
  return text;
}

Decoded read(GstPad* pad, GstBuffer* buffer) {
  Decoded frame;
  GstVideoInfo info;
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (gst_video_info_from_caps(&info, caps)) {
    frame.width = info.width;
    frame.height = info.height;
    frame.pixels = checksum(info, buffer);
  }
  gst_caps_unref(caps);
  if (GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer)) {
    read_boxes(relations, &frame);
    read_classes(relations, &frame);
    read_masks(relations, &frame);
  }
  return frame;
}

/// Results on a launch line's frames at its end, which is added.
std::vector<Decoded> frames_of(const std::string& line) {
  std::vector<Decoded> frames;
  Pipeline pipeline(line + " ! fakesink name=out");
  GstElement* out = gst_bin_get_by_name(GST_BIN(pipeline.get()), "out");
  GstPad* pad = gst_element_get_static_pad(out, "sink");
  gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      [](GstPad* self, GstPadProbeInfo* probe, gpointer list) {
        static_cast<std::vector<Decoded>*>(list)->push_back(
            read(self, GST_PAD_PROBE_INFO_BUFFER(probe)));
        return GST_PAD_PROBE_OK;
      },
      &frames, nullptr);
  EXPECT_EQ(pipeline.play_to_the_end(), "eos") << line;
  gst_object_unref(pad);
  gst_object_unref(out);
  return frames;
}

/// GStreamer's boxes are cut to whole pixels, ours are rounded.
bool is_same(const Box& a, const Box& b) {
  constexpr double kPixels = 2;
  return std::abs(a.left - b.left) <= kPixels && std::abs(a.top - b.top) <= kPixels &&
         std::abs(a.right - b.right) <= kPixels && std::abs(a.bottom - b.bottom) <= kPixels &&
         std::abs(a.confidence - b.confidence) < 1e-6F;
}

double overlap(const Box& a, const Box& b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double both = std::max(width, 0.0) * std::max(height, 0.0);
  const auto area = [](const Box& box) { return (box.right - box.left) * (box.bottom - box.top); };
  return both / (area(a) + area(b) - both);
}

void expect_same_boxes(const std::vector<Decoded>& theirs, const std::vector<Decoded>& ours,
                       bool with_labels) {
  ASSERT_EQ(theirs.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_EQ(theirs[i].boxes.size(), ours[i].boxes.size()) << "frame " << i;
    for (std::size_t j = 0; j < ours[i].boxes.size(); ++j) {
      const Box &a = theirs[i].boxes[j], &b = ours[i].boxes[j];
      ASSERT_TRUE(is_same(a, b)) << "frame " << i << ", box " << j << ": " << a.left << " " << a.top
                                 << " " << a.confidence << ", ours: " << b.left << " " << b.top
                                 << " " << b.confidence;
      if (with_labels) {
        ASSERT_EQ(a.label, b.label) << "frame " << i << ", box " << j;
      }
    }
  }
}

/// Boxes of `some` that `others` have not; each must lie where another decoder may drop it.
std::size_t count_suppressed(const Decoded& some, const Decoded& others, std::size_t frame) {
  std::size_t count = 0;
  for (const Box& box : some.boxes) {
    const auto is_it = [&](const Box& other) { return is_same(box, other); };
    if (std::any_of(others.boxes.begin(), others.boxes.end(), is_it)) continue;
    ++count;
    const auto hides = [&](const Box& other) {
      return other.confidence > box.confidence && overlap(box, other) > 0.6;
    };
    EXPECT_TRUE(std::any_of(others.boxes.begin(), others.boxes.end(), hides))
        << "frame " << frame << ": " << box.left << " " << box.top << " " << box.confidence;
  }
  return count;
}

/// GStreamer's decoder drops a box that overlaps one of any class, and measures overlaps in whole
/// pixels; nputensordec only compares those of one class.
void expect_same_but_suppressed(const std::vector<Decoded>& theirs,
                                const std::vector<Decoded>& ours) {
  ASSERT_EQ(theirs.size(), ours.size());
  std::size_t boxes = 0, others = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    boxes += ours[i].boxes.size();
    others += count_suppressed(ours[i], theirs[i], i) + count_suppressed(theirs[i], ours[i], i);
  }
  EXPECT_GT(boxes, ours.size());
  EXPECT_LT(others * 10, boxes) << boxes << " boxes, of which another decoder drops " << others;
}

class GstDecoders : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"tensordecodebin", "yolov8tensordec", "objectdetectionoverlay"}) {
      GstElementFactory* factory = gst_element_factory_find(name);
      if (!factory) {
        GTEST_SKIP() << "GStreamer's " << name << " is not installed";
      }
      gst_object_unref(factory);
    }
  }

  static std::string clip() {
    return "filesrc location=\"" + shapes_folder + "/shapes.mp4\" ! decodebin ! videoconvertscale";
  }
  static std::string infer(const std::string& model = shapes_folder + "/shapes.xml") {
    return " ! npuinfer name=npu device=software model=\"" + model + "\"";
  }
  static std::string our_decoder(const char* iou) {
    return std::string(" ! video/x-raw,width=256,height=256 ! nputensordec threshold=0.4 ") +
           "max-detections=1000 iou-threshold=" + iou;
  }

  TempDir dir_;
};

TEST_F(GstDecoders, FoundByTensordecodebinGiveOurBoxesAndTheOverlayDrawsThem) {
  const std::vector<Decoded> theirs =
      frames_of(clip() + infer() + " ! tensordecodebin ! objectdetectionoverlay");
  const std::vector<Decoded> ours = frames_of(clip() + infer() + our_decoder("0.7"));
  ASSERT_EQ(ours.size(), kClipFrames);
  expect_same_but_suppressed(theirs, ours);
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    EXPECT_EQ(theirs[i].width, 256);
    EXPECT_EQ(theirs[i].pixels != ours[i].pixels, !theirs[i].boxes.empty()) << "frame " << i;
  }
}

// Every box, before any suppression.
TEST_F(GstDecoders, NamedOnTheLineGiveOurBoxesAndLabels) {
  const auto labels = dir_.write("labels.txt", "circle\nsquare\ntriangle\n");
  const std::vector<Decoded> theirs =
      frames_of(clip() + infer() + " ! yolov8tensordec iou-threshold=1 max-detections=1000 " +
                "label-file=" + labels.string());
  const std::vector<Decoded> ours = frames_of(clip() + infer() + our_decoder("1"));
  ASSERT_EQ(ours.size(), kClipFrames);
  expect_same_boxes(theirs, ours, true);
}

TEST_F(GstDecoders, ReadTheTensorsOfABlob) {
  const std::string blob = (dir_.path() / "shapes.blob").string();
  const std::string command = "'" + npu_compile + "' '" + shapes_folder + "/shapes.xml' -o " +
                              blob +
                              " --frame I420:256x256 --matrix bt709 --range limited >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string import = " ! npuimport name=npu device=software model=" + blob;
  const std::vector<Decoded> theirs = frames_of(clip() + import + " ! tensordecodebin");
  const std::vector<Decoded> ours = frames_of(clip() + import + our_decoder("0.7"));
  ASSERT_EQ(ours.size(), kClipFrames);
  expect_same_but_suppressed(theirs, ours);
}

// Nothing is scaled for downstreams that do not ask for tensors, and none of them takes places in
// the model's pixels for places in the frame.
TEST_F(GstDecoders, AreNotThereForFramesOfAnotherSize) {
  const std::vector<Decoded> frames = frames_of(
      "videotestsrc num-buffers=2 ! video/x-raw,width=640,height=360" + infer() + " ! queue");
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames.front().width, 640);
  Pipeline refused("videotestsrc num-buffers=2 ! video/x-raw,width=640,height=360" + infer() +
                   " ! yolov8tensordec ! fakesink name=out");
  EXPECT_NE(refused.play_to_the_end(), "eos");
  EXPECT_TRUE(refused.arrived().times.empty());
}

// Its answer does not depend on the frame's size.
TEST_F(GstDecoders, OfClassesGiveOurClass) {
  const std::string source =
      "videotestsrc num-buffers=2 pattern=red ! "
      "video/x-raw,width=64,height=48" +
      infer(shapes_folder + "/colors.xml");
  const std::vector<Decoded> theirs = frames_of(source + " ! tensordecodebin");
  const std::vector<Decoded> ours = frames_of(source + " ! nputensordec");
  ASSERT_EQ(theirs.size(), 2U);
  ASSERT_EQ(ours.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(theirs[i].classes.size(), 1U);
    ASSERT_EQ(ours[i].classes.size(), 1U);
    EXPECT_EQ(theirs[i].classes[0].first, "0");  // of the class; the decoder has no labels
    EXPECT_EQ(ours[i].classes[0].first, "red");
    EXPECT_NEAR(theirs[i].classes[0].second, ours[i].classes[0].second, 1e-6);
  }
}

// ---- Another model

/// The groups in the caps of frames at the end of a pipeline, each change once.
class SeenGroups {
 public:
  explicit SeenGroups(const Pipeline& pipeline) {
    GstElement* out = gst_bin_get_by_name(GST_BIN(pipeline.get()), "out");
    GstPad* pad = gst_element_get_static_pad(out, "sink");
    gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* probe, gpointer self) {
          static_cast<SeenGroups*>(self)->note(GST_PAD_PROBE_INFO_EVENT(probe));
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
    gst_object_unref(pad);
    gst_object_unref(out);
  }

  bool wait_for(const std::string& group) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(30), [&] { return last_ == group; });
  }

 private:
  void note(GstEvent* event) {
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return;
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const GValue* groups = gst_structure_get_value(gst_caps_get_structure(caps, 0), "tensors");
    const std::scoped_lock lock(mutex_);
    last_ = groups ? gst_structure_nth_field_name(gst_value_get_structure(groups), 0) : "none";
    came_.notify_all();
  }

  std::mutex mutex_;  // guards last_
  std::condition_variable came_;
  std::string last_;
};

TEST_F(GstDecoders, AreToldOfAnotherModelsTensors) {
  Pipeline pipeline("videotestsrc ! video/x-raw,width=256,height=256" + infer() +
                    " ! fakesink name=out");
  SeenGroups groups(pipeline);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  EXPECT_TRUE(groups.wait_for("yolo-v8-out"));
  GstElement* npu = gst_bin_get_by_name(GST_BIN(pipeline.get()), "npu");
  g_object_set(npu, "model", (shapes_folder + "/colors.xml").c_str(), nullptr);
  gst_object_unref(npu);
  EXPECT_TRUE(groups.wait_for("classification-generic-softmaxed-out"));
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

// A cascade's models each add their group.
TEST_F(GstDecoders, OfACascadeDecodeBothModels) {
  const std::vector<Decoded> frames =
      frames_of(clip() + infer() + " ! npuinfer device=software model=\"" + shapes_folder +
                "/colors.xml\" ! video/x-raw,width=256,height=256 ! yolov8tensordec ! "
                "classifiertensordecoder");
  ASSERT_EQ(frames.size(), kClipFrames);
  EXPECT_TRUE(std::all_of(frames.begin(), frames.end(),
                          [](const Decoded& frame) { return frame.classes.size() == 1; }));
  EXPECT_TRUE(std::any_of(frames.begin(), frames.end(),
                          [](const Decoded& frame) { return !frame.boxes.empty(); }));
}

// ---- Masks

/// A YOLO that finds one object in the middle of every picture of 64x64, whose mask is the left
/// half; written with its .bin.
std::string write_mask_model(const TempDir& dir) {
  constexpr int kBoxes = 84, kValues = 4 + 2 + 2;  // two classes, two coefficients
  constexpr int kProtos = 16;
  dir.write("metadata.yaml",
            "description: a YOLO\ntask: segment\nimgsz:\n- 64\n- 64\nnames:\n  0: a\n  1: b\n");
  std::vector<float> boxes(kBoxes * kValues), protos(2 * kProtos * kProtos);
  const float object[kValues] = {32, 32, 32, 32, 0.9F, 0.1F, 8, 0};
  for (std::size_t value = 0; value < kValues; ++value) boxes[value * kBoxes + 40] = object[value];
  for (std::size_t at = 0; at < kProtos * kProtos; ++at) {
    protos[at] = at % kProtos < 8 ? 1.0F : -1.0F;
  }
  const std::int64_t axes[] = {1, 2, 3};
  // The numbers are the outputs; the picture's mean times zero is added.
  IrWriter ir("masks");
  const auto image = ir.parameter("images", "f32", {1, 3, 64, 64});
  const auto mean = ir.layer(
      "ReduceMean",
      {image, ir.constant("axes", "i64", {3}, {reinterpret_cast<const char*>(axes), sizeof axes})},
      {.data = "keep_dims=\"false\"", .shape = IrShape{1}});
  const auto zero = ir.binary("Multiply", mean, ir.constant("zero", std::vector{0.0F}, {1}));
  ir.result(ir.binary("Add", ir.constant("boxes", boxes, {1, kValues, kBoxes}), zero, "output0"));
  ir.result(
      ir.binary("Add", ir.constant("protos", protos, {1, 2, kProtos, kProtos}), zero, "output1"));
  return ir.write(dir.path(), "masks").string();
}

TEST_F(GstDecoders, OfMasksGiveOurMask) {
  const std::string source =
      "videotestsrc num-buffers=2 ! videoconvertscale" + infer(write_mask_model(dir_));
  const std::vector<Decoded> theirs = frames_of(source + " ! tensordecodebin");
  const std::vector<Decoded> ours =
      frames_of(source + " ! video/x-raw,width=64,height=64 ! nputensordec");
  ASSERT_EQ(theirs.size(), 2U);
  expect_same_boxes(theirs, ours, false);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(theirs[i].mask_halves.size(), 2U);
    ASSERT_EQ(ours[i].mask_halves.size(), 2U);
    for (const Decoded& frame : {theirs[i], ours[i]}) {
      EXPECT_GT(frame.mask_halves[0], 0.9);
      EXPECT_LT(frame.mask_halves[1], 0.1);
    }
  }
}

}  // namespace
}  // namespace npu::test

#else

TEST(GstDecoders, NeedGStreamer128) {
  GTEST_SKIP() << "GStreamer has tensor decoders from 1.28 on: scripts/lane.sh sid";
}

#endif

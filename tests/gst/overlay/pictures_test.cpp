// Compares npuoverlay's drawings with pictures that people have checked: pictures/. Text is left
// out, because fonts differ between systems. NPU_REWRITE_PICTURES=1 writes the pictures anew, to be
// checked again; drawings that differ are left in NPU_OTHER_PICTURES.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "meta/npumeta.h"

#include "element_harness.hpp"
#include "picture.hpp"
#include "results.hpp"

namespace gstnpu::test::pictures_test {
namespace {

constexpr int kWidth = 320, kHeight = 180;
constexpr npu::vision::FrameSize kSize{kWidth, kHeight};

// ---- Frames

std::string caps_in(const std::string& format) {
  const std::string color = format == "RGB" ? "sRGB" : "bt709";
  return caps_of(format.c_str(), kWidth, kHeight) + ",colorimetry=" + color;
}

guint8 rounded(double value) {
  return static_cast<guint8>(std::clamp(std::lround(value), 0L, 255L));
}

// BT.709, limited range, exactly: versions of GStreamer convert otherwise. A plane's rows are as
// long as the frame is wide.
constexpr double kRed = 0.2126, kBlue = 0.0722, kGreen = 1 - kRed - kBlue;

std::vector<guint8> nv12_of(const Picture& picture) {
  std::vector<guint8> luma, chroma;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const guint8* rgb = picture.at(x, y);
      const double light = kRed * rgb[0] + kGreen * rgb[1] + kBlue * rgb[2];
      luma.push_back(rounded(16 + 219 / 255.0 * light));
      if (x % 2 != 0 || y % 2 != 0) continue;  // the backdrop has no edges in between
      chroma.push_back(rounded(128 + 224 / 255.0 * (rgb[2] - light) / (2 - 2 * kBlue)));
      chroma.push_back(rounded(128 + 224 / 255.0 * (rgb[0] - light) / (2 - 2 * kRed)));
    }
  }
  luma.insert(luma.end(), chroma.begin(), chroma.end());
  return luma;
}

Picture picture_of_nv12(const std::vector<guint8>& nv12) {
  Picture picture{kWidth, kHeight, {}};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const guint8* chroma =
          &nv12.at(static_cast<std::size_t>((kHeight + y / 2) * kWidth + x / 2 * 2));
      const double light = (nv12[static_cast<std::size_t>(y * kWidth + x)] - 16) * 255 / 219.0;
      const double blue = light + (chroma[0] - 128) * 255 / 224.0 * (2 - 2 * kBlue);
      const double red = light + (chroma[1] - 128) * 255 / 224.0 * (2 - 2 * kRed);
      const double green = (light - kRed * red - kBlue * blue) / kGreen;
      picture.rgb.insert(picture.rgb.end(), {rounded(red), rounded(green), rounded(blue)});
    }
  }
  return picture;
}

Picture picture_of(GstBuffer* frame, const std::string& format) {
  std::vector<guint8> bytes(gst_buffer_get_size(frame));
  gst_buffer_extract(frame, 0, bytes.data(), bytes.size());
  if (format == "NV12") return picture_of_nv12(bytes);
  return {kWidth, kHeight, std::move(bytes)};
}

/// Sky above, lawn below.
BufferRef backdrop(const std::string& format, guint index) {
  constexpr guint8 kSky[] = {66, 96, 150}, kLawn[] = {84, 124, 72};
  Picture picture{kWidth, kHeight, std::vector<guint8>(std::size_t{3} * kWidth * kHeight)};
  for (std::size_t i = 0; i < picture.rgb.size(); ++i) {
    const guint8* color = i < picture.rgb.size() / 2 ? kSky : kLawn;
    picture.rgb[i] = color[i % 3];
  }
  const std::vector<guint8> bytes = format == "NV12" ? nv12_of(picture) : std::move(picture.rgb);
  BufferRef frame = frame_of(format.c_str(), kWidth, kHeight, 0, index);
  EXPECT_EQ(gst_buffer_fill(frame.get(), 0, bytes.data(), bytes.size()), bytes.size());
  return frame;
}

/// Edges of a box in pixels.
Edges box(double x, double y, double width, double height) {
  return {x / kWidth, y / kHeight, (x + width) / kWidth, (y + height) / kHeight};
}

// ---- Scenes

/// Over each other, at the frame's corner, turned, and small.
void add_boxes(GstBuffer* frame, guint) {
  add_object(frame, "person", box(30, 40, 60, 110), 0.9);
  add_object(frame, "car", box(70, 90, 120, 70), 0.8);
  add_object(frame, "bird", box(-12, -8, 40, 30), 0.7);
  add_object(frame, "cup", box(150, 30, 7, 7), 0.6);
  add_object(frame, "far", box(180, 50, 1, 1), 0.5);
  turn(add_object(frame, "ship", box(210, 30, 90, 90), 0.4),
       {255.0 / kWidth, 75.0 / kHeight, 90.0 / kWidth, 40.0 / kHeight, 0.5});
}

constexpr guint kMaskSide = 28;

std::vector<guint8> mask_of(const std::function<bool(double x, double y)>& has) {
  std::vector<guint8> values;
  for (guint i = 0; i < kMaskSide * kMaskSide; ++i) {
    const double x = (i % kMaskSide + 0.5) / kMaskSide, y = (i / kMaskSide + 0.5) / kMaskSide;
    values.push_back(has(x, y) ? 255 : 0);
  }
  return values;
}

/// A disc, a ring over it, and a triangle that stands out of the frame.
void add_masks(GstBuffer* frame, guint) {
  const auto radius = [](double x, double y) { return std::hypot(x - 0.5, y - 0.5); };
  const auto add = [frame](const char* label, const Edges& edges, double confidence,
                           const std::vector<guint8>& values) {
    add_mask(add_object(frame, label, edges, confidence), edges, kMaskSide, kMaskSide, values);
  };
  add("disc", box(20, 20, 110, 110), 0.9,
      mask_of([&](double x, double y) { return radius(x, y) < 0.5; }));
  add("ring", box(90, 60, 100, 100), 0.8,
      mask_of([&](double x, double y) { return radius(x, y) < 0.5 && radius(x, y) > 0.25; }));
  add("roof", box(230, 90, 120, 120), 0.7,
      mask_of([](double x, double y) { return y > 2 * std::abs(x - 0.5); }));
}

/// Adds a person with key points in COCO's order; `unseen` of them are missing.
void add_person(GstBuffer* frame, double x, double y, guint unseen) {
  constexpr double kPoints[][2] = {{20, 6},  {22, 4},  {18, 4},  {25, 5},  {15, 5},  {30, 20},
                                   {10, 20}, {38, 34}, {4, 36},  {34, 50}, {10, 50}, {27, 54},
                                   {13, 54}, {32, 76}, {10, 74}, {30, 98}, {4, 94}};
  std::vector<double> points;
  for (guint i = 0; i < std::size(kPoints); ++i) {
    points.insert(points.end(), {(x + kPoints[i][0]) / kWidth, (y + kPoints[i][1]) / kHeight,
                                 i < unseen ? 0.0 : 0.9});
  }
  constexpr std::size_t kPairs = 16;
  constexpr guint32 kSkeleton[kPairs][2] = {
      {15, 13}, {13, 11}, {16, 14}, {14, 12}, {11, 12}, {5, 11}, {6, 12}, {5, 6},
      {5, 7},   {7, 9},   {6, 8},   {8, 10},  {0, 1},   {0, 2},  {1, 3},  {2, 4}};
  std::vector<guint32> skeleton;
  for (const auto& pair : kSkeleton) skeleton.insert(skeleton.end(), {pair[0], pair[1]});
  const double confidence = 0.9 - x / 1000;  // an order
  add_key_points(add_object(frame, "person " + std::to_string(static_cast<int>(x)),
                            box(x, y, 42, 104), confidence),
                 points, skeleton);
}

void add_persons(GstBuffer* frame, guint) {
  add_person(frame, 40, 40, 0);
  add_person(frame, 140, 50, 5);
  add_person(frame, 290, 60, 0);
}

/// One walks along an arc, one straight on, one stands still.
void add_walkers(GstBuffer* frame, guint index) {
  const double turned = std::numbers::pi * index / 40;
  const double x = 160 - 110 * std::cos(turned), y = 150 - 110 * std::sin(turned);
  set_identity(add_object(frame, "one", box(x - 10, y - 24, 20, 24), 0.9), 1);
  set_identity(add_object(frame, "two", box(300 - 6.0 * index, 110, 24, 40), 0.8), 2);
  set_identity(add_object(frame, "three", box(150, 60, 20, 20), 0.7), 4);
}

/// A road between lawns under the sky, which is background, and a house.
void add_classes(GstBuffer* frame, guint) {
  constexpr guint kColumns = 32, kRows = 18;
  std::vector<guint16> classes;
  for (guint i = 0; i < kColumns * kRows; ++i) {
    const int x = static_cast<int>(i % kColumns), y = static_cast<int>(i / kColumns);
    const bool is_house = x > 20 && x < 28 && y > 3 && y < 11;
    const bool is_road = y > 7 && std::abs(x - 14) < y - 6;
    classes.push_back(is_road ? 1 : is_house ? 3 : y > 8 ? 2 : 0);
  }
  add_map(frame, kSize,
          {.area = {0, 0, kWidth, kHeight},
           .object_id = {},
           .classes = {kColumns, kRows, std::move(classes)}},
          {"background", "road", "lawn", "house"});
}

/// Adds the depth of hills, where a model saw only a part of the frame.
void add_depth(GstBuffer* frame, guint) {
  constexpr guint kColumns = 32, kRows = 18;
  std::vector<float> values;
  for (guint i = 0; i < kColumns * kRows; ++i) {
    const guint x = i % kColumns, y = i / kColumns;
    values.push_back(static_cast<float>(y + 4 * std::sin(x / 4.0)));
  }
  add_map(frame, kSize,
          {.area = {101, 41, 221, 131},
           .object_id = {},
           .classes = {},
           .values = {kColumns, kRows, std::move(values)}});
}

/// One walks over the line into the zone.
void add_visitor(GstBuffer* frame, guint index) {
  set_identity(add_object(frame, "visitor", box(210 - 20.0 * index, 70, 30, 60)), 3);
}

constexpr const char* kPlaces =
    R"({"lines": [{"name": "gate", "points": [[0.56, 0.95], [0.5, 0.1]]}],
        "zones": [{"name": "street", "points": [[0.05, 0.3], [0.4, 0.2], [0.45, 0.9], [0.1, 0.95]]}]})";

struct Scene : Named {
  guint frames;  // of which the last is looked at
  void (*add)(GstBuffer* frame, guint index);
  const char* places = nullptr;          // of npucount in front
  std::vector<Area> with_text = {};      // which differs from system to system
  const char* other_property = nullptr;  // what is drawn differs with it, if only a little
  const char* other_value = nullptr;
};

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all{
      {"boxes", 1, add_boxes, nullptr, {}, "line-width", "3"},
      {"masks", 1, add_masks, nullptr, {}, "mask-opacity", "0.45"},
      {"skeletons", 1, add_persons, nullptr, {}, "line-width", "3"},
      {"trails", 28, add_walkers, nullptr, {}, "trail-anchor", "center"},
      {"classes", 1, add_classes, nullptr, {}, "mask-opacity", "0.45"},
      {"depth", 1, add_depth, nullptr, {}, "mask-opacity", "0.45"},
      // The counts of the zone and of the line.
      {"places",
       6,
       add_visitor,
       kPlaces,
       {{16, 34, 180, 24}, {168, 92, 152, 24}},
       "line-width",
       "3"},
  };
  return all;
}

/// The scene's last frame.
Picture drawn(const Scene& scene, const std::string& format,
              const std::function<void(GstElement*)>& change = {}) {
  std::optional<ElementHarness> counting;
  if (scene.places) {
    counting.emplace("npucount", [&](GstElement* element) {
      g_object_set(element, "places", scene.places, nullptr);
    });
    counting->set_caps(caps_in(format));
  }
  ElementHarness harness("npuoverlay", [&](GstElement* element) {
    g_object_set(element, "labels", FALSE, "trail-length", 600, nullptr);
    if (change) {
      change(element);
    }
  });
  harness.set_caps(caps_in(format));
  Picture last;
  for (guint i = 0; i < scene.frames; ++i) {
    BufferRef frame = backdrop(format, i);
    scene.add(frame.get(), i);
    if (counting) {
      EXPECT_EQ(counting->push(std::move(frame)), GST_FLOW_OK);
      frame = counting->pull();
    }
    EXPECT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    last = picture_of(harness.pull().get(), format);
  }
  return last;
}

// ---- Tests

std::string folder_of(const char* variable) {
  const char* folder = std::getenv(variable);
  if (!folder) throw std::runtime_error(std::string("set ") + variable + " to a folder");
  return std::string(folder) + "/";
}

bool rewrites() {
  return g_strcmp0(std::getenv("NPU_REWRITE_PICTURES"), "1") == 0;
}

/// Difference of smooth edges between versions of cairo.
constexpr Difference kSame{0.25, 0.001};
bool are_alike(const Difference& found) {
  return found.mean <= kSame.mean && found.share <= kSame.share;
}

class Pictures : public testing::TestWithParam<std::tuple<Scene, const char*>> {
 protected:
  const Scene& scene() const { return std::get<0>(GetParam()); }
  std::string format() const { return std::get<1>(GetParam()); }
  std::string file() const { return std::string(scene().name) + "-" + format() + ".png"; }
  std::string stored() const { return folder_of("NPU_STORED_PICTURES") + file(); }
};

TEST_P(Pictures, LookAsStored) {
  const Picture picture = drawn(scene(), format());
  if (rewrites()) {
    write_png(picture, stored());
    GTEST_SKIP() << stored() << " is written anew: look at it";
  }
  const Difference found = difference(picture, read_png(stored()), scene().with_text);
  if (!are_alike(found)) {
    write_png(picture, folder_of("NPU_OTHER_PICTURES") + file());
  }
  EXPECT_LE(found.mean, kSame.mean) << "look at " << folder_of("NPU_OTHER_PICTURES") << file();
  EXPECT_LE(found.share, kSame.share) << "look at " << folder_of("NPU_OTHER_PICTURES") << file();
}

// Else what is stored would say nothing.
TEST_P(Pictures, DifferWhereAPropertyDoes) {
  if (rewrites()) {
    GTEST_SKIP();
  }
  const Picture picture = drawn(scene(), format(), [this](GstElement* element) {
    gst_util_set_object_arg(G_OBJECT(element), scene().other_property, scene().other_value);
  });
  const Difference found = difference(picture, read_png(stored()), scene().with_text);
  EXPECT_FALSE(are_alike(found)) << found.mean << " " << found.share;
}

INSTANTIATE_TEST_SUITE_P(
    All, Pictures, testing::Combine(testing::ValuesIn(scenes()), testing::Values("RGB", "NV12")),
    [](const auto& row) {
      return std::string(std::get<0>(row.param).name) + "_" + std::get<1>(row.param);
    });

class StoredPictures : public testing::TestWithParam<Scene> {};

// But for edges: pixels of NV12 share chroma.
TEST_P(StoredPictures, LookAlikeInBothFormats) {
  if (rewrites()) {
    GTEST_SKIP();
  }
  const std::string path = folder_of("NPU_STORED_PICTURES") + GetParam().name;
  const Difference found =
      difference(read_png(path + "-RGB.png"), read_png(path + "-NV12.png"), GetParam().with_text);
  EXPECT_LE(found.mean, 3);
  EXPECT_LE(found.share, 0.05);
}

INSTANTIATE_TEST_SUITE_P(All, StoredPictures, testing::ValuesIn(scenes()), by_name);

bool is_near(const guint8* pixel, const std::array<int, 3>& color) {
  return std::equal(color.begin(), color.end(), pixel,
                    [](int wanted, guint8 found) { return std::abs(wanted - found) <= 2; });
}

/// Color of a label's plate, through which the frame shines a little.
std::array<int, 3> plate_of(const guint8* color, const guint8* under) {
  std::array<int, 3> plate{};
  for (std::size_t i = 0; i < 3; ++i) plate[i] = (220 * color[i] + 35 * under[i]) / 255;
  return plate;
}

// The text is as the system's fonts have it; its plate is not.
TEST(LabelsOfPictures, StandAboveTheirObjectsInTheirColor) {
  const Scene& boxes = scenes().front();
  const Picture without = drawn(boxes, "RGB");
  const Picture with = drawn(
      boxes, "RGB", [](GstElement* element) { g_object_set(element, "labels", TRUE, nullptr); });
  for (const auto& [left, top] : {std::pair{30, 40}, {150, 30}}) {  // the person and the cup
    const guint8* color = without.at(left, top + 3);
    EXPECT_TRUE(is_near(with.at(left, top + 3), {color[0], color[1], color[2]}));
    const std::array<int, 3> plate = plate_of(color, without.at(left, top - 1));
    int paper = 0, ink = 0;
    for (int y = top - 9; y < top; ++y) {
      EXPECT_TRUE(is_near(with.at(left, y), plate)) << left << "," << y;
      EXPECT_TRUE(is_near(with.at(left - 1, y), {66, 96, 150})) << "left of it";
      for (int x = left; x < left + 20; ++x) {
        (is_near(with.at(x, y), plate) ? paper : ink) += 1;
      }
    }
    EXPECT_GT(paper, 40);
    EXPECT_GT(ink, 20);
    EXPECT_TRUE(is_near(with.at(left, top - 20), {66, 96, 150})) << "above it";
  }
}

}  // namespace
}  // namespace gstnpu::test::pictures_test

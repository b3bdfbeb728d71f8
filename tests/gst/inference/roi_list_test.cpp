// Parts of frames that the CPU scales for the NPU: objects (inference-region=roi-list), and crops
// of many sizes.
#include <gtest/gtest.h>
#include <meta/npumeta.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <future>
#include <mutex>

#include <npucore/npucore.hpp>

#include "element_harness.hpp"
#include "hand_made_frames.hpp"

namespace gstnpu::test::roi_list_test {
namespace {

constexpr int kModelSize = 16;

/// The first component of a ramp: whatever part of it is scaled linearly, the geometry tells what
/// each of the model's pixels has to be.
double level_at(double x, double y) {
  return x + y + 20;
}

/// A grey picture: R'G'B' of these levels, or Y' of BT.601 in limited range.
BufferRef ramp(const char* name, guint width, guint height, guint index = 0) {
  GstVideoInfo levels, info;
  gst_video_info_set_format(&info, gst_video_format_from_string(name), width, height);
  const bool is_yuv = GST_VIDEO_INFO_IS_YUV(&info);
  gst_video_info_set_format(&levels, is_yuv ? GST_VIDEO_FORMAT_AYUV : GST_VIDEO_FORMAT_ARGB, width,
                            height);
  levels.colorimetry = is_yuv ? info.colorimetry : levels.colorimetry;
  const BufferRef from(gst_buffer_new_allocate(nullptr, levels.size, nullptr));
  BufferRef to(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame in, out;
  gst_video_frame_map(&in, &levels, from.get(), GST_MAP_WRITE);
  gst_video_frame_map(&out, &info, to.get(), GST_MAP_WRITE);
  for (guint y = 0; y < height; ++y) {
    auto* row = static_cast<guint8*>(in.data[0]) + y * static_cast<guint>(levels.stride[0]);
    for (guint x = 0; x < width; ++x) {
      const auto level = static_cast<guint8>(level_at(x, y));
      const guint8 other = is_yuv ? 128 : level;
      const guint8 pixel[] = {255, level, other, other};
      std::copy(std::begin(pixel), std::end(pixel), row + x * 4);
    }
  }
  GstVideoConverter* converter = gst_video_converter_new(&levels, &info, nullptr);
  gst_video_converter_frame(converter, &in, &out);
  gst_video_converter_free(converter);
  gst_video_frame_unmap(&out);
  gst_video_frame_unmap(&in);
  GST_BUFFER_PTS(to.get()) = gst_util_uint64_scale(index, GST_SECOND, 30);
  return to;
}

gint add_roi(const BufferRef& frame, guint x, guint y, guint w, guint h, gint id = 0,
             const char* label = "thing") {
  auto* roi = gst_buffer_add_video_region_of_interest_meta(frame.get(), label, x, y, w, h);
  roi->id = id;
  return id;
}

struct Part {
  guint x, y, w, h;
  gint id = 0;
  const char* label = "thing";
};

/// A ramp of 120x100 with these objects.
BufferRef ramp_with(const char* format, const std::vector<Part>& parts, guint index = 0) {
  BufferRef frame = ramp(format, 120, 100, index);
  for (const Part& part : parts) {
    add_roi(frame, part.x, part.y, part.w, part.h, part.id, part.label);
  }
  return frame;
}

struct Result {
  const GstNpuInferenceMeta* meta;
  std::vector<float> pixels;
};

std::vector<Result> results_of(GstBuffer* frame) {
  std::vector<Result> results;
  GstNpuTensor tensor = {};
  for (guint i = 0; gst_npu_buffer_get_tensor(frame, i, &tensor); ++i) {
    GstMapInfo map;
    gst_memory_map(tensor.memory, &map, GST_MAP_READ);
    const auto* values = reinterpret_cast<const float*>(map.data);
    results.push_back(
        {gst_buffer_get_npu_inference_meta_id(frame, gst_npu_buffer_get_tensor_inference(frame, i)),
         {values, values + tensor.dims[1] * tensor.dims[2] * tensor.dims[3]}});
    gst_memory_unmap(tensor.memory, &map);
  }
  return results;
}

struct Area {
  double x, y, w, h;
};

/// The level that the model sees.
double identity(double level) {
  return level;
}
/// GStreamer's matrix of 8 bits loses two levels, and P010 gets half a one where 8 bits become 10.
double from_limited(double level) {
  return (level - 16) * 255 / 219 - 2;
}
double from_limited_p010(double level) {
  return from_limited(level) + 2.5;
}

auto seen_of(const std::string& format) -> double (*)(double) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()), 8, 8);
  if (!GST_VIDEO_INFO_IS_YUV(&info)) return identity;
  return format == "P010_10LE" ? from_limited_p010 : from_limited;
}

/// Compares every pixel of the model whose taps lie inside `area` with the ramp; `left` and `top`:
/// where the geometry's frame begins in it. Filters have few bits, so that single pixels may be two
/// levels off; all together they tell a shift of half a pixel. Returns how many there were.
int expect_ramp(const Result& result, const Area& area, double left = 0, double top = 0,
                double (*seen)(double) = identity, double most_off = 0.75) {
  const GstNpuInferenceMeta& meta = *result.meta;
  const double reach_x = std::max(meta.scale_x, 1.0) + 1, reach_y = std::max(meta.scale_y, 1.0) + 1;
  int compared = 0;
  double sum = 0, worst = 0;
  for (int row = 0; row < kModelSize; ++row) {
    for (int column = 0; column < kModelSize; ++column) {
      const double x = (column + 0.5 - meta.offset_x) * meta.scale_x - 0.5;
      const double y = (row + 0.5 - meta.offset_y) * meta.scale_y - 0.5;
      const bool is_inside = x >= area.x + reach_x && x <= area.x + area.w - 1 - reach_x &&
                             y >= area.y + reach_y && y <= area.y + area.h - 1 - reach_y;
      if (!is_inside) continue;
      for (int channel = 0; channel < 3; ++channel) {
        const auto at =
            static_cast<std::size_t>((channel * kModelSize + row) * kModelSize + column);
        const double error = result.pixels.at(at) - seen(level_at(left + x, top + y));
        sum += error / 3;
        worst = std::max(worst, std::abs(error));
      }
      ++compared;
    }
  }
  EXPECT_LT(std::abs(sum / std::max(compared, 1)), most_off) << compared << " pixels";
  EXPECT_LT(worst, 3);
  return compared;
}

Area area_of(const GstNpuInferenceMeta& meta) {
  return {static_cast<double>(meta.region_x), static_cast<double>(meta.region_y),
          static_cast<double>(meta.region_w), static_cast<double>(meta.region_h)};
}

/// The model's card says that it sees 16 pixels of pictures whose shorter side has `edge`.
void write_crop_card(const TempDir& folder, const char* edge) {
  folder.write("preprocessor_config.json",
               std::string(R"({"do_center_crop": true, "crop_size": 16, "size": )") + edge + "}");
}

class RoiList : public testing::Test {
 protected:
  std::function<void(GstElement*)> configured(const char* more = nullptr,
                                              const char* value = nullptr) {
    const std::string path = dir_.write("pixels.xml", pixels_ir(kModelSize, kModelSize)).string();
    return [=](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
      gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
      if (more) {
        gst_util_set_object_arg(G_OBJECT(element), more, value);
      }
    };
  }
  TempDir dir_;
};

// ---- What the model sees

class RoiListFormats : public RoiList, public testing::WithParamInterface<const char*> {};

TEST_P(RoiListFormats, EachObjectIsSeenWhereItsMetaSays) {
  ElementHarness harness("npuinfer", configured(), caps_of(GetParam(), 120, 100));
  // Smaller and larger than the model, of odd numbers, and all of the frame.
  BufferRef frame =
      ramp_with(GetParam(), {{10, 8, 40, 60, 5}, {61, 33, 37, 13, 9}, {0, 0, 120, 100, 2}});
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  const std::vector<Result> results = results_of(out.get());
  ASSERT_EQ(results.size(), 3u);
  const gint ids[] = {5, 9, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_NE(results[i].meta, nullptr);
    EXPECT_TRUE(results[i].meta->is_region);
    EXPECT_EQ(results[i].meta->object_id, ids[i]);
    EXPECT_GT(expect_ramp(results[i], area_of(*results[i].meta), 0, 0, seen_of(GetParam())), 20)
        << i;
  }
  EXPECT_NEAR(results[1].meta->region_x, 61, 1);
  EXPECT_NEAR(results[1].meta->region_x + results[1].meta->region_w, 98, 1);
  EXPECT_EQ(harness.compilations(), 1u);
}

// As wide as high, from the middle of each.
TEST_P(RoiListFormats, ACropIsTheMiddleOfEachObject) {
  for (const char* const edge : {"16", "20"}) {
    write_crop_card(dir_, edge);
    ElementHarness harness("npuinfer", configured(), caps_of(GetParam(), 120, 100));
    ASSERT_EQ(
        harness.push(ramp_with(GetParam(), {{10, 8, 40, 60}, {31, 33, 87, 13}, {0, 0, 120, 100}})),
        GST_FLOW_OK)
        << edge;
    const BufferRef out = harness.pull();
    const std::vector<Result> results = results_of(out.get());
    ASSERT_EQ(results.size(), 3u) << edge;
    const double share = 16 / std::stod(edge);
    for (const Result& result : results) {
      const GstNpuInferenceMeta& meta = *result.meta;
      const Area area = area_of(meta);
      // Cut at the nearest whole sample: half a pixel of the frame off each way, at most.
      expect_ramp(result, area, 0, 0, seen_of(GetParam()), 0.75 + 0.5 + 0.5);
      EXPECT_NEAR((8 - meta.offset_x) * meta.scale_x, area.x + area.w / 2, 2) << edge;
      EXPECT_NEAR((8 - meta.offset_y) * meta.scale_y, area.y + area.h / 2, 2) << edge;
      EXPECT_NEAR(16 * meta.scale_x, std::min(area.w, area.h) * share, 2.5) << edge;
      EXPECT_NEAR(16 * meta.scale_y, std::min(area.w, area.h) * share, 2.5) << edge;
    }
  }
}

// GStreamer's own filters made it up to 47 levels lighter or darker at some ratios.
TEST_P(RoiListFormats, AreNeitherLighterNorDarkerHoweverSmallTheyBecome) {
  constexpr guint kSize = 400;
  ElementHarness harness("npuinfer", configured(), caps_of(GetParam(), kSize, kSize));
  BufferRef frame = frame_of(GetParam(), kSize, kSize, 128);
  add_roi(frame, 0, 0, kModelSize, kModelSize);
  for (guint size = kModelSize + 1; size <= kSize; size += size < 100 ? 1 : 13) {
    add_roi(frame, 0, 0, size, size);
  }
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  const std::vector<Result> results = results_of(out.get());
  ASSERT_GT(results.size(), 100u);
  const float level = results[0].pixels[0];  // as it is, not scaled
  for (const Result& result : results) {
    const auto [least, most] = std::minmax_element(result.pixels.begin(), result.pixels.end());
    EXPECT_NEAR(*least, level, 3) << result.meta->region_w;
    EXPECT_NEAR(*most, level, 3) << result.meta->region_w;
  }
}

// GStreamer left columns of 16-bit formats unconverted.
TEST_P(RoiListFormats, AreWholeWhereOneSideGrowsAndTheOtherShrinks) {
  constexpr guint kSize = 100;
  ElementHarness harness("npuinfer", configured(), caps_of(GetParam(), kSize, kSize));
  BufferRef frame = frame_of(GetParam(), kSize, kSize, 128);
  add_roi(frame, 0, 0, kModelSize, kModelSize);
  for (guint size = 2; size <= kSize; size += 7) {
    for (guint other = 2; other <= kSize; other += 7) add_roi(frame, 0, 0, size, other);
  }
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  const std::vector<Result> results = results_of(out.get());
  ASSERT_GT(results.size(), 200u);
  const float level = results[0].pixels[0];
  for (const Result& result : results) {
    const auto [least, most] = std::minmax_element(result.pixels.begin(), result.pixels.end());
    EXPECT_NEAR(*least, level, 3) << result.meta->region_w << "x" << result.meta->region_h;
    EXPECT_NEAR(*most, level, 3) << result.meta->region_w << "x" << result.meta->region_h;
  }
}

TEST_P(RoiListFormats, HaveTheirColours) {
  const std::string format = GetParam();
  if (format.starts_with("GRAY")) return;
  GstVideoInfo levels, info;
  gst_video_info_set_format(&levels, GST_VIDEO_FORMAT_ARGB, 32, 32);
  gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()), 32, 32);
  const guint8 pixel[] = {255, 200, 40, 90};
  std::vector<guint8> from(levels.size);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = pixel[i % 4];
  BufferRef in(gst_buffer_new_memdup(from.data(), from.size()));
  BufferRef frame(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame read, write;
  gst_video_frame_map(&read, &levels, in.get(), GST_MAP_READ);
  gst_video_frame_map(&write, &info, frame.get(), GST_MAP_WRITE);
  GstVideoConverter* converter = gst_video_converter_new(&levels, &info, nullptr);
  gst_video_converter_frame(converter, &read, &write);
  gst_video_converter_free(converter);
  gst_video_frame_unmap(&write);
  gst_video_frame_unmap(&read);
  ElementHarness harness("npuinfer", configured(), caps_of(format.c_str(), 32, 32));
  add_roi(frame, 3, 5, 20, 21);
  ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
  const BufferRef out = harness.pull();
  const std::vector<float> pixels = first_tensor(out.get());
  constexpr std::size_t kPlane = std::size_t{kModelSize} * kModelSize;
  ASSERT_EQ(pixels.size(), 3 * kPlane);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(pixels[channel * kPlane + kPlane / 2], pixel[1 + channel], 6) << channel;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoiListFormats,
                         testing::Values("RGB", "BGR", "RGBx", "BGRA", "ARGB", "xBGR", "NV12",
                                         "NV21", "I420", "YV12", "NV16", "YUY2", "UYVY",
                                         "P010_10LE", "GRAY8", "GRAY16_LE"),
                         [](const auto& row) { return std::string(row.param); });

// Each object would be scaled to a picture of 4000 by 4000 pixels.
TEST_F(RoiList, ACropThatSeesNextToNothingIsAnError) {
  write_crop_card(dir_, "4000");
  ElementHarness harness("npuinfer", configured(), caps_of("RGB", 120, 100));
  EXPECT_EQ(harness.push(ramp_with("RGB", {{10, 10, 20, 20}})), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_ERROR), "crop_share"));
}

/// A frame with one object of 60x30, inferred.
BufferRef with_a_wide_object(const std::function<void(GstElement*)>& configure) {
  ElementHarness harness("npuinfer", configure, caps_of("NV12", 120, 100));
  harness.push(ramp_with("NV12", {{20, 30, 60, 30}}));
  return harness.pull();
}

TEST_F(RoiList, ALetterboxKeepsTheAspectRatio) {
  const BufferRef out = with_a_wide_object(configured("resize-mode", "letterbox"));
  const std::vector<Result> results = results_of(out.get());
  ASSERT_EQ(results.size(), 1u);
  const GstNpuInferenceMeta& meta = *results[0].meta;
  EXPECT_DOUBLE_EQ(meta.scale_x, 3.75);
  EXPECT_DOUBLE_EQ(meta.scale_y, 3.75);
  EXPECT_DOUBLE_EQ(meta.offset_x, -20 / 3.75);
  EXPECT_DOUBLE_EQ(meta.offset_y, 4 - 30 / 3.75) << "the border, and what is above the object";
  EXPECT_NEAR(results[0].pixels.at(0), 114, 0.5);
  EXPECT_NEAR(results[0].pixels.at(4 * kModelSize - 1), 114, 0.5);
  EXPECT_NEAR(results[0].pixels.at(12 * kModelSize), 114, 0.5);
  EXPECT_GT(std::abs(results[0].pixels.at(4 * kModelSize) - 114), 20);
  EXPECT_GT(expect_ramp(results[0], area_of(meta), 0, 0, from_limited), 20);
}

TEST_F(RoiList, AWindowHasItsBorderOnOneSide) {
  const BufferRef out = with_a_wide_object(configured("resize-mode", "fit-to-window"));
  const std::vector<Result> results = results_of(out.get());
  ASSERT_EQ(results.size(), 1u);
  const GstNpuInferenceMeta& meta = *results[0].meta;
  EXPECT_DOUBLE_EQ(meta.scale_y, 3.75);
  EXPECT_DOUBLE_EQ(meta.offset_x, -20 / 3.75);
  EXPECT_DOUBLE_EQ(meta.offset_y, -30 / 3.75) << "no border above";
  EXPECT_NEAR(results[0].pixels.at(8 * kModelSize), 114, 0.5);
  EXPECT_NEAR(results[0].pixels.at(kModelSize * kModelSize - 1), 114, 0.5);
  EXPECT_GT(std::abs(results[0].pixels.at(0) - 114), 20);
  EXPECT_GT(expect_ramp(results[0], area_of(meta), 0, 0, from_limited), 20);
}

// The crop begins once in the middle of a sample and once at its start.
TEST_P(RoiListFormats, ACropMovesTheObjects) {
  for (const guint odd : {0U, 1U}) {
    ElementHarness harness("npuinfer", configured(), caps_of(GetParam(), 80, 60));
    BufferRef frame = ramp(GetParam(), 120, 100);
    gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE,
                              gst_video_format_from_string(GetParam()), 120, 100);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
    crop->x = 32 + odd;
    crop->y = 26 + odd;
    crop->width = 80;
    crop->height = 60;
    add_roi(frame, 31, 30, 200, 200, 1);
    add_roi(frame, 0, 0, 50, 45, 2);
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    const std::vector<Result> results = results_of(out.get());
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].meta->region_x + results[0].meta->region_w, 80u) << "clipped";
    for (const Result& result : results) {
      EXPECT_GT(expect_ramp(result, area_of(*result.meta), 32 + odd, 26 + odd, seen_of(GetParam())),
                20)
          << odd;
    }
  }
}

TEST_F(RoiList, ABlobTakesObjectsOfAnyFrames) {
  npu::Model model = npu::Model::read(dir_.write("pixels.xml", pixels_ir(kModelSize, kModelSize)));
  npu::Preprocess preprocess =
      model.default_preprocess(npu::FrameLayout::tight(npu::PixelFormat::kNV12, 64, 48));
  preprocess.resize = npu::ResizeMode::kLetterbox;
  model.add_preprocess(preprocess);
  const std::string blob = (dir_.path() / "pixels.blob").string();
  npu::CompiledModel::compile(npu::Device::open(npu::DeviceKind::kSoftware), model)
      .export_blob(blob);
  ElementHarness harness("npuimport", [&](GstElement* element) {
    g_object_set(element, "model", blob.c_str(), "device", "software", nullptr);
    gst_util_set_object_arg(G_OBJECT(element), "inference-region", "roi-list");
  });
  harness.set_caps(caps_of("RGB", 120, 100));
  harness.push(ramp_with("RGB", {{10, 20, 80, 70}, {5, 5, 30, 90}}));
  const BufferRef out = harness.pull();
  ASSERT_NE(out, nullptr);
  const std::vector<Result> results = results_of(out.get());
  ASSERT_EQ(results.size(), 2u);
  EXPECT_GT(expect_ramp(results[0], area_of(*results[0].meta)), 20);
  EXPECT_GT(expect_ramp(results[1], area_of(*results[1].meta)), 5);
}

// ---- Frames and their order

TEST_F(RoiList, FramesGoOutInOrderWhateverTheyHold) {
  for (const char* requests : {"1", "2", "16"}) {
    ElementHarness harness("npuinfer", configured("nireq", requests), caps_of("RGB", 120, 100));
    const guint counts[] = {3, 0, 20, 1, 0, 5};
    for (guint i = 0; i < 6; ++i) {
      BufferRef frame = ramp("RGB", 120, 100, i);
      for (guint k = 0; k < counts[i]; ++k) add_roi(frame, 2 * k, k, 30, 40);
      ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    }
    for (guint i = 0; i < 6; ++i) {
      const BufferRef out = harness.pull();
      EXPECT_EQ(GST_BUFFER_PTS(out.get()), gst_util_uint64_scale(i, GST_SECOND, 30));
      const std::vector<Result> results = results_of(out.get());
      ASSERT_EQ(results.size(), counts[i]);
      for (guint k = 0; k < counts[i]; ++k) {
        EXPECT_EQ(results[k].meta->region_x, 2 * k);
        EXPECT_GT(expect_ramp(results[k], area_of(*results[k].meta)), 20);
      }
    }
    EXPECT_EQ(harness.stat("frames"), 6u);
    EXPECT_EQ(harness.stat("inferred"), 4u);
    EXPECT_EQ(harness.stat("no-objects"), 2u);
    EXPECT_EQ(harness.stat("regions"), 29u);
    EXPECT_EQ(harness.stat("copied"), 29u);
    EXPECT_EQ(harness.stat("copied-region"), 29u);
    EXPECT_EQ(harness.compilations(), 1u);
    EXPECT_TRUE(harness.messages(GST_MESSAGE_WARNING).empty());
  }
}

// On a device that takes its time: what waits behind another inference takes longer than the device
// does for it.
TEST_F(RoiList, ObjectsOfAFrameAreInFlightTogetherOnASlowDevice) {
  for (const guint requests : {1U, 4U}) {
    ElementHarness harness("npuinfer", [&, set = configured()](GstElement* element) {
      set(element);
      g_object_set(element, "nireq", requests, nullptr);
    });
    harness.set_caps(caps_of("RGB", 120, 100));
    BufferRef frame = ramp("RGB", 120, 100);
    for (guint i = 0; i < 24; ++i) add_roi(frame, i, i, 30, 40);
    harness.push(std::move(frame));
    ASSERT_NE(harness.pull(), nullptr);
    const guint64 all = harness.stat("inference-time"), own = harness.stat("device-time");
    EXPECT_EQ(all > 2 * own, requests > 1) << requests << " requests: " << all << " and " << own;
  }
}

TEST_F(RoiList, ObjectsOfOneIdGetIdsOfTheirOwn) {
  ElementHarness harness("npuinfer", configured(), caps_of("RGB", 120, 100));
  BufferRef frame = ramp("RGB", 120, 100);
  for (guint i = 0; i < 3; ++i) add_roi(frame, 10 * i, 0, 20, 20, i == 1 ? 7 : 0);
  harness.push(std::move(frame));
  const BufferRef out = harness.pull();
  for (const Result& result : results_of(out.get())) {
    const auto* roi =
        gst_buffer_get_video_region_of_interest_meta_id(out.get(), result.meta->object_id);
    ASSERT_NE(roi, nullptr);
    EXPECT_EQ(roi->x, result.meta->region_x);
  }
}

TEST_F(RoiList, AddsToWhatAModelBeforeHasLeft) {
  ElementHarness first("npuinfer", with(configured(), {{"inference-region", "full-frame"}}));
  ElementHarness second("npuinfer", configured());
  first.set_caps(caps_of("RGB", 120, 100));
  second.set_caps(caps_of("RGB", 120, 100));
  first.push(ramp("RGB", 120, 100));
  BufferRef frame = first.pull();
  add_roi(frame, 40, 30, 50, 60);
  second.push(std::move(frame));
  const BufferRef out = second.pull();
  const std::vector<Result> results = results_of(out.get());
  ASSERT_EQ(results.size(), 2u);
  EXPECT_FALSE(results[0].meta->is_region);
  EXPECT_TRUE(results[1].meta->is_region);
  EXPECT_GT(expect_ramp(results[0], {0, 0, 120, 100}), 20);
  EXPECT_GT(expect_ramp(results[1], area_of(*results[1].meta)), 20);
}

// ---- Hostile and unwanted objects

// Those behind tell of it, too.
TEST_F(RoiList, TellsOnceThatTheAnswerOfTheModelBeforeIsLost) {
  ElementHarness harness("npuinfer", configured(), caps_of("RGB", 120, 100));
  for (guint i = 0; i < 2; ++i) {
    BufferRef frame = ramp_with("RGB", {{10, 10, 30, 30}}, i);
    gstnpu_test::attach(frame.get(), gstnpu_test::yolo_tensor({{8, 8, 4, 4, 0.9F}}));
    gstnpu_test::lose_inference(frame.get(), true);
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    EXPECT_TRUE(gst_npu_buffer_has_lost_answer(harness.pull().get()));
  }
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_WARNING), "Put npuinfer in front"));
}

TEST_F(RoiList, SkipsAndCountsObjectsThatCannotBe) {
  ElementHarness harness("npuinfer", configured(), caps_of("NV12", 120, 100));
  harness.push(ramp_with("NV12", {{10, 10, 0, 20},
                                  {120, 10, 20, 20},
                                  {G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT},
                                  {119, 99, 1, 1}}));
  const BufferRef out = harness.pull();
  EXPECT_EQ(results_of(out.get()).size(), 1u);
  EXPECT_EQ(harness.stat("regions-refused"), 3u);
  EXPECT_EQ(harness.stat("inferred"), 1u);
  harness.push(ramp_with("NV12", {{10, 10, 0, 20}}));
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 0u);
  EXPECT_EQ(harness.stat("no-objects"), 1u);
}

TEST_F(RoiList, SkipsThousandsOfObjects) {
  ElementHarness harness("npuinfer", configured(), caps_of("GRAY8", 32, 32));
  BufferRef frame = frame_of("GRAY8", 32, 32, 40);
  for (guint i = 0; i < 3000; ++i) add_roi(frame, i % 16, i % 13, 9, 8);
  harness.push(std::move(frame));
  const BufferRef out = harness.pull();
  EXPECT_EQ(harness.stat("regions") + harness.stat("regions-refused"), 3000u);
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(out.get()), harness.stat("regions"));
  EXPECT_GT(harness.stat("regions-refused"), 2000u);
}

TEST_F(RoiList, TakesOnlyObjectsOfItsClass) {
  ElementHarness harness("npuinfer", configured("object-class", "cat,dog"),
                         caps_of("RGB", 120, 100));
  for (const char* label : {"cat", "bird"}) {
    harness.push(ramp_with("RGB", {{10, 10, 20, 20, 0, label}, {30, 10, 20, 20, 1, "fish"}}));
  }
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 1u);
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 0u);
  EXPECT_EQ(harness.stat("no-objects"), 1u);
}

TEST_F(RoiList, WaitsItsInterval) {
  ElementHarness harness("npuinfer", configured("roi-interval", "3"), caps_of("RGB", 120, 100));
  for (guint i = 0; i < 7; ++i) {
    harness.push(ramp_with("RGB", {{10, 10, 20, 20}}, i));
    EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), i % 3 == 0 ? 1u : 0u);
  }
  EXPECT_EQ(harness.stat("skipped"), 4u);
}

// A live stream drops what comes before the model is compiled, which takes longer in a helper.
TEST_F(RoiList, ADroppedFrameDoesNotCountForTheInterval) {
  for (const bool is_tracked : {false, true}) {
    ElementHarness harness(
        "npuinfer", with(configured("drop", "busy"), {{"roi-interval", "4294967295"},
                                                      {"properties", "NPUCORE_COMPILE=helper"}}));
    gst_harness_set_upstream_latency(harness.get(), GST_SECOND / 30);
    harness.set_caps(caps_of("RGB", 120, 100));
    for (guint i = 0; i < 3000 && harness.stat("inferred") == 0; ++i) {
      BufferRef frame = ramp_with("RGB", {{10, 10, 20, 20}}, i);
      if (is_tracked) {
        auto* roi = gst_buffer_get_video_region_of_interest_meta_id(frame.get(), 0);
        gst_video_region_of_interest_meta_add_param(
            roi, gst_structure_new("object_id", "id", G_TYPE_INT, 7, nullptr));
      }
      ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
      g_usleep(10 * 1000);
    }
    EXPECT_GT(harness.stat("dropped"), 0u);
    EXPECT_EQ(harness.stat("inferred"), 1u) << "those after it are not due, nor counted as dropped";
  }
}

// As a synchronising sink does that has a frame before its time.
class BlockedSink {
 public:
  explicit BlockedSink(GstElement* element) : pad_(gst_element_get_static_pad(element, "src")) {
    probe_ = gst_pad_add_probe(
        pad_, GST_PAD_PROBE_TYPE_BUFFER,
        [](GstPad*, GstPadProbeInfo*, gpointer self) {
          auto* sink = static_cast<BlockedSink*>(self);
          std::unique_lock lock(sink->mutex_);
          sink->has_frame_ = true;
          sink->changed_.notify_all();
          sink->changed_.wait(lock, [sink] { return sink->is_open_; });
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  }
  ~BlockedSink() {
    open();
    gst_pad_remove_probe(pad_, probe_);
    gst_object_unref(pad_);
  }
  BlockedSink(const BlockedSink&) = delete;
  BlockedSink& operator=(const BlockedSink&) = delete;

  void wait_for_frame() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return has_frame_; });
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  GstPad* const pad_;
  gulong probe_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_frame_ = false, is_open_ = false;
};

BufferRef frame_with_objects(guint objects, guint index) {
  BufferRef frame = ramp("RGB", 120, 100, index);
  for (guint i = 0; i < objects; ++i) add_roi(frame, i, i, 30, 40);
  return frame;
}

TEST_F(RoiList, ObjectsThatWaitForASinkLeaveTheDeviceToOthers) {
  ElementHarness harness("npuinfer",
                         with(configured("drop", "busy"), {{"nireq", "2"}, {"preload", "true"}}));
  BlockedSink sink(harness.element());
  gst_harness_set_upstream_latency(harness.get(), GST_SECOND / 30);
  harness.set_caps(caps_of("RGB", 120, 100));
  ASSERT_EQ(harness.push(frame_with_objects(5, 0)), GST_FLOW_OK);
  sink.wait_for_frame();
  auto pushed =
      std::async(std::launch::async, [&] { return harness.push(frame_with_objects(5, 1)); });
  EXPECT_EQ(pushed.wait_for(std::chrono::seconds(20)), std::future_status::ready)
      << "it waits for the sink, while nothing is on the device";
  sink.open();
  EXPECT_EQ(pushed.get(), GST_FLOW_OK);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 5u);
  }
  EXPECT_EQ(harness.stat("dropped"), 0u);
}

TEST_F(RoiList, FramesWithoutObjectsPassWhileOthersRunOnASlowDevice) {
  ElementHarness harness("npuinfer",
                         with(configured("drop", "busy"), {{"nireq", "32"}, {"preload", "true"}}));
  gst_harness_set_upstream_latency(harness.get(), GST_SECOND / 30);
  harness.set_caps(caps_of("RGB", 120, 100));
  ASSERT_EQ(harness.push(frame_with_objects(30, 0)), GST_FLOW_OK);
  for (guint i = 1; i < 6; ++i) EXPECT_EQ(harness.push(frame_with_objects(0, i)), GST_FLOW_OK);
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 30u);
  for (guint i = 1; i < 6; ++i) EXPECT_NE(harness.pull(), nullptr);
  EXPECT_EQ(harness.stat("dropped"), 0u);
  EXPECT_EQ(harness.stat("no-objects"), 5u);
  EXPECT_EQ(harness.stat("frames"), 6u);
}

TEST_F(RoiList, PreloadCompilesForObjectsWhateverFramesWillCome) {
  ElementHarness harness("npuinfer", configured("preload", "true"));
  EXPECT_EQ(harness.compilations(), 1u);
  harness.set_caps(caps_of("NV12", 120, 100));
  harness.push(ramp_with("NV12", {{10, 10, 20, 20}}));
  EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 1u);
  EXPECT_EQ(harness.compilations(), 0u);
}

// ---- Refusals and ends

TEST_F(RoiList, RequiredZeroCopyRefusesTheFirstObject) {
  ElementHarness harness("npuinfer", configured("zero-copy", "require"), caps_of("RGB", 120, 100));
  EXPECT_EQ(harness.push(ramp("RGB", 120, 100)), GST_FLOW_OK) << "nothing to copy";
  EXPECT_EQ(harness.push(ramp_with("RGB", {{10, 10, 20, 20}})), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_ERROR), "inference-region=roi-list"));
  EXPECT_EQ(harness.compilations(), 0u);
}

TEST_F(RoiList, AModelWithoutASizeNeedsOne) {
  const std::string path = dir_.write("open.xml", npu::test::dynamic_ir(16)).string();
  ElementHarness harness("npuinfer", with(configured(), {{"model", path.c_str()}}),
                         caps_of("RGB", 120, 100));
  EXPECT_EQ(harness.push(ramp_with("RGB", {{10, 10, 20, 20}})), GST_FLOW_ERROR);
  EXPECT_TRUE(has(harness.only_message(GST_MESSAGE_ERROR), "input-shape"));
}

TEST_F(RoiList, AFlushTakesFramesWithTheirObjects) {
  ElementHarness harness("npuinfer", configured(), caps_of("RGB", 120, 100));
  for (int round = 0; round < 20; ++round) {
    BufferRef frame = ramp("RGB", 120, 100);
    for (guint i = 0; i < 30; ++i) add_roi(frame, i, i, 20, 20);
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    gst_harness_push_event(harness.get(), gst_event_new_flush_stop(FALSE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  }
  while (harness.waiting() > 0) {
    EXPECT_EQ(gst_npu_buffer_get_num_tensors(harness.pull().get()), 30u);
  }
}

// ---- Crops of the whole frame

class Crops : public testing::Test {
 protected:
  std::function<void(GstElement*)> with_model() {
    const std::string path = dir_.write("pixels.xml", pixels_ir(kModelSize, kModelSize)).string();
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }
  static BufferRef cropped(guint x, guint y, guint width, guint height) {
    BufferRef frame = ramp("RGB", 120, 100);
    gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 120,
                              100);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
    crop->x = x;
    crop->y = y;
    crop->width = width;
    crop->height = height;
    return frame;
  }
  /// Pushes a crop and compares what the model saw with the ramp.
  static void expect_crop(ElementHarness& harness, guint x, guint y, guint width, guint height) {
    ASSERT_EQ(harness.push(cropped(x, y, width, height)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    const std::vector<Result> results = results_of(out.get());
    ASSERT_EQ(results.size(), 1u);
    EXPECT_FALSE(results[0].meta->is_region);
    const Area area = {0, 0, static_cast<double>(width), static_cast<double>(height)};
    EXPECT_GT(expect_ramp(results[0], area, x, y), 20);
  }
  TempDir dir_;
};

TEST_F(Crops, OfManySizesShareAGraph) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 120, 100));
  for (guint i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(expect_crop(harness, i % 23, i % 7, 20 + i, 79 - i));
  }
  EXPECT_EQ(harness.compilations(), 5u);
  EXPECT_EQ(harness.stat("inferred"), 60u);
  EXPECT_EQ(harness.stat("copied-many-crops"), 56u);
}

TEST_F(Crops, OfManySizesAreToldOnce) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 120, 100));
  for (guint i = 0; i < 10; ++i) expect_crop(harness, 0, 0, 20 + i, 79);
  const auto warnings = harness.messages(GST_MESSAGE_WARNING);
  EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(),
                          [](const std::string& text) {
                            return text.find("crops are of many sizes") != std::string::npos;
                          }),
            1);
}

TEST_F(Crops, OfFewSizesHaveTheirGraphs) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 120, 100));
  for (guint i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(expect_crop(harness, 2 * (i % 9), i, 40 + 10 * (i % 4), 50));
  }
  EXPECT_EQ(harness.compilations(), 4u);
  EXPECT_EQ(harness.stat("copied-many-crops"), G_MAXUINT64) << "there is no such reason";
}

class Sizes : public Crops {
 protected:
  /// Pushes a frame of this size, after its caps.
  static void push(ElementHarness& harness, guint width, guint height) {
    harness.set_caps(caps_of("RGB", width, height));
    ASSERT_EQ(harness.push(ramp("RGB", width, height)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    const std::vector<Result> results = results_of(out.get());
    ASSERT_EQ(results.size(), 1u);
    const Area area = {0, 0, static_cast<double>(width), static_cast<double>(height)};
    EXPECT_GT(expect_ramp(results[0], area, 0, 0), 20);
  }
};

TEST_F(Sizes, OfManyKindsShareAGraph) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 40, 79));
  for (guint i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(push(harness, 40 + i, 79 - i));
  }
  ASSERT_NO_FATAL_FAILURE(push(harness, 40, 79));  // the first has a graph still
  EXPECT_EQ(harness.compilations(), 5u);
  EXPECT_EQ(harness.stat("copied-many-sizes"), 16u);
}

TEST_F(Sizes, OfManyKindsAreToldOnce) {
  ElementHarness harness("npuinfer", with_model(), caps_of("RGB", 40, 79));
  for (guint i = 0; i < 10; ++i) ASSERT_NO_FATAL_FAILURE(push(harness, 40 + i, 79 - i));
  const auto warnings = harness.messages(GST_MESSAGE_WARNING);
  EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(),
                          [](const std::string& text) {
                            return text.find("frames are of many sizes") != std::string::npos;
                          }),
            1);
}

TEST_F(Crops, OfManySizesAreCompiledWhereNothingMayBeCopied) {
  ElementHarness harness("npuinfer", with(with_model(), {{"zero-copy", "require"}}),
                         caps_of("GRAY8", 32, 32));
  for (guint i = 0; i < 6; ++i) {
    BufferRef frame = frame_in(make_dmabuf_memory(32 * 32, 90));
    gst_buffer_add_video_meta(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 32,
                              32);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame.get());
    crop->width = crop->height = 10 + i;
    ASSERT_EQ(harness.push(std::move(frame)), GST_FLOW_OK);
    ASSERT_NE(harness.pull(), nullptr);
  }
  EXPECT_EQ(harness.compilations(), 6u);
  EXPECT_EQ(harness.stat("imported"), 6u);
}

}  // namespace
}  // namespace gstnpu::test::roi_list_test

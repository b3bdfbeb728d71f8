// Compares a model's input from npuinfer, for frames of every format, padding, odd size, crop,
// matrix and range, with a converter in double precision that shares nothing with the product.
#include <gst/video/gstvideometa.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "support/frame_reference.hpp"
#include "support/samples.hpp"
#include "support/test_dmabuf.hpp"

#include "element_harness.hpp"

namespace gstnpu::test::pixels_test {
namespace {

using npu::ColorMatrix;
using npu::ColorRange;
using npu::FrameLayout;
using npu::PixelFormat;
using npu::test::every_row;

constexpr int kModelWidth = 16, kModelHeight = 12, kChannels = 3;
constexpr double kOneStep = 1;  // of 8 bits
constexpr gsize kBetweenPlanes = 64;

enum class Memory { kTight, kPadded, kCropped, kOddCrop, kOddStride };

struct Picture : Named {
  std::uint32_t width, height;
  Memory memory;
};

struct Colors : Named {
  ColorMatrix matrix;
  ColorRange range;
  const char* colorimetry;  // range:matrix:transfer:primaries, by GStreamer's numbers
};

FrameLayout layout_of(PixelFormat format, const Picture& picture, const Colors& colors) {
  const bool even = picture.memory == Memory::kCropped, odd = picture.memory == Memory::kOddCrop;
  const std::uint32_t left = even ? 4 : odd ? 5 : 0, top = even ? 6 : odd ? 3 : 0;
  auto layout = FrameLayout::tight(format, picture.width + left, picture.height + top);
  layout.width = picture.width;
  layout.height = picture.height;
  layout.crop_left = left;
  layout.crop_top = top;
  layout.matrix = colors.matrix;
  layout.range = colors.range;
  for (auto& plane : layout.planes) {
    if (picture.memory == Memory::kPadded) {
      plane.rows += 3;
      plane.stride_bytes = (plane.stride_bytes + 24) / 12 * 12;
    }
    if (picture.memory == Memory::kOddStride) {
      plane.stride_bytes += 5 + plane.stride_bytes % 2;
    }
  }
  return layout;
}

/// The frame's planes in one piece of memory.
struct Packed {
  std::vector<guint8> bytes;
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
};

Packed pack(const npu::test::Frame& frame) {
  Packed packed;
  for (std::size_t p = 0; p < frame.planes.size(); ++p) {
    packed.bytes.resize(packed.bytes.size() + kBetweenPlanes, 0xEE);
    packed.offsets[p] = packed.bytes.size();
    packed.strides[p] = static_cast<gint>(frame.layout.planes[p].stride_bytes);
    packed.bytes.insert(packed.bytes.end(), frame.planes[p].begin(), frame.planes[p].end());
  }
  return packed;
}

void describe(GstBuffer* buffer, const npu::test::Frame& frame, const Packed& packed) {
  const FrameLayout& layout = frame.layout;
  gsize offsets[GST_VIDEO_MAX_PLANES];
  gint strides[GST_VIDEO_MAX_PLANES];
  std::copy(std::begin(packed.offsets), std::end(packed.offsets), offsets);
  std::copy(std::begin(packed.strides), std::end(packed.strides), strides);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE,
                                 gst_video_format_from_string(npu::to_string(layout.format)),
                                 layout.crop_left + layout.width, layout.crop_top + layout.height,
                                 static_cast<guint>(layout.planes.size()), offsets, strides);
  if (layout.crop_left + layout.crop_top == 0) return;
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = layout.crop_left;
  crop->y = layout.crop_top;
  crop->width = layout.width;
  crop->height = layout.height;
}

/// A DMA-BUF, or a memfd that plays one.
MemoryRef dmabuf_of(const std::vector<guint8>& bytes) {
  const int fd = npu::test::make_dmabuf(bytes.size());
  {
    const npu::test::DmabufMapping mapping(fd, bytes.size());
    std::copy(bytes.begin(), bytes.end(), mapping.data());
  }
  return wrap_dmabuf(fd, bytes.size());
}

/// Memory that no device can import.
MemoryRef memory_of(const std::vector<guint8>& bytes) {
  MemoryRef memory(gst_allocator_alloc(nullptr, bytes.size(), nullptr));
  GstMapInfo map;
  EXPECT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_WRITE));
  std::copy(bytes.begin(), bytes.end(), map.data);
  gst_memory_unmap(memory.get(), &map);
  return memory;
}

std::string caps_for(const FrameLayout& layout, const Colors& colors) {
  std::string caps = caps_of(npu::to_string(layout.format), static_cast<int>(layout.width),
                             static_cast<int>(layout.height));
  if (colors.colorimetry) {
    caps += std::string(",colorimetry=(string)") + colors.colorimetry;
  }
  return caps;
}

/// The first value that is more than a step away; empty when there is none.
std::string first_wrong(const std::vector<float>& values, const npu::test::Frame& frame) {
  npu::Preprocess preprocess;
  preprocess.frame = frame.layout;
  const npu::test::Reference reference(frame, preprocess, kModelWidth, kModelHeight, kChannels);
  if (values.size() != std::size_t{kChannels} * kModelHeight * kModelWidth) return "no tensor";
  std::size_t index = 0;
  for (int c = 0; c < kChannels; ++c) {
    for (int y = 0; y < kModelHeight; ++y) {
      for (int x = 0; x < kModelWidth; ++x, ++index) {
        const double expected = reference.at(c, x, y);
        if (std::abs(static_cast<double>(values[index]) - expected) <= kOneStep) continue;
        return "channel " + std::to_string(c) + " at " + std::to_string(x) + "," +
               std::to_string(y) + ": " + std::to_string(values[index]) + " instead of " +
               std::to_string(expected);
      }
    }
  }
  return {};
}

using Row = std::tuple<PixelFormat, Picture, Colors>;

class Pixels : public testing::TestWithParam<Row> {
 protected:
  Pixels() : frame_(npu::test::noise_frame(layout(), 11)), packed_(pack(frame_)) {}

  static FrameLayout layout() {
    const auto& [format, picture, colors] = GetParam();
    return layout_of(format, picture, colors);
  }

  std::vector<float> infer(MemoryRef memory, ElementHarness& harness) const {
    BufferRef buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), memory.release());
    describe(buffer.get(), frame_, packed_);
    EXPECT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    const BufferRef out = harness.pull();
    return out ? first_tensor(out.get()) : std::vector<float>();
  }

  std::function<void(GstElement*)> with_model() const {
    const std::string path =
        dir_.write("pixels.xml", pixels_ir(kModelHeight, kModelWidth)).string();
    dir_.write("pixels.bin", "");
    return [path](GstElement* element) {
      g_object_set(element, "model", path.c_str(), "device", "software", nullptr);
    };
  }

  TempDir dir_;
  npu::test::Frame frame_;
  Packed packed_;
};

// One element gets both memories with the same picture, so that a row compiles its model once.
TEST_P(Pixels, EqualTheReferenceInPlaceAndThroughACopy) {
  ElementHarness harness("npuinfer", with_model(),
                         caps_for(frame_.layout, std::get<Colors>(GetParam())));
  EXPECT_EQ(first_wrong(infer(dmabuf_of(packed_.bytes), harness), frame_), "") << "in place";
  EXPECT_EQ(harness.stat("imported"), 1u);
  EXPECT_EQ(first_wrong(infer(memory_of(packed_.bytes), harness), frame_), "") << "a copy";
  EXPECT_EQ(harness.stat("copied"), 1u);
}

constexpr Picture kPictures[] = {
    {"tight", 24, 18, Memory::kTight},          {"odd_tight", 25, 19, Memory::kTight},
    {"padded", 24, 18, Memory::kPadded},        {"odd_padded", 25, 19, Memory::kPadded},
    {"cropped", 24, 18, Memory::kCropped},      {"odd_cropped", 25, 19, Memory::kCropped},
    {"odd_crop", 24, 18, Memory::kOddCrop},     {"odd_odd_crop", 25, 19, Memory::kOddCrop},
    {"odd_stride", 25, 19, Memory::kOddStride},
};
constexpr Colors k709Limited{"bt709_limited", ColorMatrix::kBT709, ColorRange::kLimited, "2:3:5:1"};
constexpr Colors k601Full{"bt601_full", ColorMatrix::kBT601, ColorRange::kFull, "1:4:0:0"};
constexpr Colors kOtherColors[] = {
    {"bt601_limited", ColorMatrix::kBT601, ColorRange::kLimited, "2:4:5:4"},
    {"bt709_full", ColorMatrix::kBT709, ColorRange::kFull, "1:3:5:1"},
    {"bt2020_limited", ColorMatrix::kBT2020, ColorRange::kLimited, "2:6:13:7"},
    {"bt2020_full", ColorMatrix::kBT2020, ColorRange::kFull, "1:6:13:7"},
};
constexpr Colors kOfRgb{"rgb", ColorMatrix::kBT601, ColorRange::kLimited, nullptr};

const std::vector kYuv{PixelFormat::kNV12, PixelFormat::kNV21, PixelFormat::kI420,
                       PixelFormat::kYUY2, PixelFormat::kUYVY, PixelFormat::kP010,
                       PixelFormat::kYV12, PixelFormat::kNV16};
const std::vector kRgb{PixelFormat::kRGB,  PixelFormat::kBGR,  PixelFormat::kRGBx,
                       PixelFormat::kBGRx, PixelFormat::kARGB, PixelFormat::kABGR};
const std::vector kGray{PixelFormat::kGray8, PixelFormat::kGray16};
const std::vector<Picture> kAllPictures(std::begin(kPictures), std::end(kPictures));

const auto kRows = npu::test::joined<Row>({
    every_row(kYuv, kAllPictures, std::vector{k709Limited, k601Full}),
    every_row(kYuv, std::vector{kPictures[7]},
              std::vector<Colors>(std::begin(kOtherColors), std::end(kOtherColors))),
    every_row(kRgb, kAllPictures, std::vector{kOfRgb}),
    every_row(kGray, kAllPictures, std::vector{k709Limited, k601Full}),
});

using RowOfDriver = std::tuple<bool, Row>;

npu::test::Seen seen_by(const RowOfDriver& row) {
  const auto& [strides, of_driver] = row;
  const auto& [format, picture, colors] = of_driver;
  return npu::test::pairs_of({strides ? "strides" : "no strides", npu::to_string(format),
                              std::to_string(picture.width),
                              std::to_string(static_cast<int>(picture.memory)),
                              npu::to_string(colors.matrix), npu::to_string(colors.range)});
}

/// The rows for the driver of this process: they are chosen for both kinds together.
std::vector<Row> rows_here() {
  const bool strides = std::getenv("SOFTNPU_GRAPH_EXT_VERSION") == nullptr;
  std::vector<Row> rows;
  for (const auto& [with_strides, row] :
       npu::test::sample_of(every_row(std::vector{true, false}, kRows), seen_by)) {
    if (with_strides == strides) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::string row_name(const testing::TestParamInfo<Row>& info) {
  const auto& [format, picture, colors] = info.param;
  return std::string(npu::to_string(format)) + "_" + picture.name + "_" + colors.name;
}

INSTANTIATE_TEST_SUITE_P(Table, Pixels, testing::ValuesIn(rows_here()), row_name);

}  // namespace
}  // namespace gstnpu::test::pixels_test

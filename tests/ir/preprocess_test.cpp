#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <tuple>

#include <npucore/error.hpp>

#include "support/samples.hpp"

#include "ir_files.hpp"
#include "openvino_run.hpp"
#include "preprocess_check.hpp"

namespace npu::preprocess_test {
namespace {

using test::By;
using test::difference_from_reference;
using test::every_row;
using test::ImageModel;
using test::joined;
using test::pairs_of;
using test::sample_of;
using test::Seen;

// Largest difference of pre-processing from exact arithmetic, in grey levels; f32 stays far below
// it.
constexpr double kAllowed = 0.5;
constexpr double kAllowedFloat = 0.05;

/// The plugin compiles one row of eight, by its name: what it does with such graphs is for the
/// element's own tests of pixels.
By of_this_row() {
  std::uint32_t hash = 2166136261;
  for (const char* c = testing::UnitTest::GetInstance()->current_test_info()->name(); *c; ++c) {
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619;
  }
  return hash / 65536 % 8 == 0 ? By::kPlugin : By::kInterpreter;
}

struct Size {
  std::uint32_t width, height;
};

enum class Memory { kTight, kPadded, kCropped, kOddCrop, kOddStride };

const char* name_of(Memory memory) {
  switch (memory) {
    case Memory::kTight:
      return "tight";
    case Memory::kPadded:
      return "padded";
    case Memory::kCropped:
      return "cropped";
    case Memory::kOddCrop:
      return "odd_crop";
    case Memory::kOddStride:
      return "odd_stride";
  }
  return "";
}

/// A frame of that size with memory around it that must not be seen.
FrameLayout layout_in(Memory memory, PixelFormat format, Size size) {
  const bool even = memory == Memory::kCropped, odd = memory == Memory::kOddCrop;
  const std::uint32_t left = even ? 4 : odd ? 5 : 0, top = even ? 6 : odd ? 3 : 0;
  auto layout = FrameLayout::tight(format, size.width + left, size.height + top);
  layout.width = size.width;
  layout.height = size.height;
  layout.crop_left = left;
  layout.crop_top = top;
  for (auto& plane : layout.planes) {
    if (memory == Memory::kPadded) {
      plane.rows += 3;
    }
    if (memory == Memory::kPadded) {
      plane.stride_bytes = (plane.stride_bytes + 24) / 12 * 12;
    }
    if (memory == Memory::kOddStride) {
      plane.stride_bytes += 5 + plane.stride_bytes % 2;
    }
  }
  return layout;
}

using Row = std::tuple<PixelFormat, ColorMatrix, ColorRange, Size, Memory>;

std::string row_name(const testing::TestParamInfo<Row>& info) {
  const auto& [format, matrix, range, size, memory] = info.param;
  return std::string(to_string(format)) + "_" + to_string(matrix) + "_" + to_string(range) + "_" +
         std::to_string(size.width) + "x" + std::to_string(size.height) + "_" + name_of(memory);
}

class EveryFormatTest : public testing::TestWithParam<Row> {};

TEST_P(EveryFormatTest, EqualsTheReference) {
  const auto& [format, matrix, range, size, memory] = GetParam();
  Preprocess preprocess;
  preprocess.frame = layout_in(memory, format, size);
  preprocess.frame.matrix = matrix;
  preprocess.frame.range = range;
  const auto difference = difference_from_reference(ImageModel{}, preprocess, of_this_row());
  EXPECT_LE(difference.largest, kAllowedFloat) << difference.where;
  RecordProperty("largest_difference", std::to_string(difference.largest));
}

const std::vector kYuv{PixelFormat::kNV12, PixelFormat::kI420, PixelFormat::kNV21,
                       PixelFormat::kYUY2, PixelFormat::kUYVY, PixelFormat::kP010,
                       PixelFormat::kYV12, PixelFormat::kNV16};
const std::vector kOthers{PixelFormat::kRGB,   PixelFormat::kBGR,   PixelFormat::kRGBx,
                          PixelFormat::kBGRx,  PixelFormat::kARGB,  PixelFormat::kABGR,
                          PixelFormat::kGray8, PixelFormat::kGray16};
const std::vector kMatrices{ColorMatrix::kBT601, ColorMatrix::kBT709, ColorMatrix::kBT2020};
const std::vector kRanges{ColorRange::kLimited, ColorRange::kFull};
const std::vector kSizes{Size{24, 18}, Size{25, 18}, Size{24, 19}, Size{25, 19}};
const std::vector kMemories{Memory::kTight, Memory::kPadded, Memory::kCropped, Memory::kOddStride};

const auto kFormats = joined<Row>({
    every_row(kYuv, kMatrices, kRanges, kSizes, kMemories),
    every_row(kOthers, std::vector{ColorMatrix::kBT601}, kRanges, kSizes, kMemories),
    // Chroma samples then begin in front of the picture.
    every_row(kYuv, std::vector{ColorMatrix::kBT709}, kRanges, kSizes,
              std::vector{Memory::kOddCrop}),
    // The matrix changes nothing for them, whatever the size.
    every_row(kOthers, std::vector{ColorMatrix::kBT709, ColorMatrix::kBT2020}, kRanges,
              std::vector{Size{25, 19}}, std::vector{Memory::kOddStride}),
});

Seen seen_by(const Row& row) {
  const auto& [format, matrix, range, size, memory] = row;
  return pairs_of({to_string(format), to_string(matrix), to_string(range),
                   std::to_string(size.width) + "x" + std::to_string(size.height),
                   name_of(memory)});
}

INSTANTIATE_TEST_SUITE_P(Table, EveryFormatTest, testing::ValuesIn(sample_of(kFormats, seen_by)),
                         row_name);

/// One way to use pre-processing, for each format.
struct Use : Named {
  ImageModel model;
  Size size;
  Preprocess preprocess;
};

using UseRow = std::tuple<PixelFormat, Use>;

class UseTest : public testing::TestWithParam<UseRow> {};

double allowed(const std::string& type) {
  // Rounding to whole levels takes the half.
  if (type == "u8" || type == "i8") return kAllowed + kAllowedFloat;
  return type == "f16" ? kAllowed : kAllowedFloat;
}

TEST_P(UseTest, EqualsTheReference) {
  const auto& [format, use] = GetParam();
  auto preprocess = use.preprocess;
  const auto wanted = preprocess.frame;
  preprocess.frame = layout_in(Memory::kPadded, format, use.size);
  preprocess.frame.matrix = wanted.matrix;
  preprocess.frame.range = wanted.range;
  const auto difference = difference_from_reference(use.model, preprocess, of_this_row());
  EXPECT_LE(difference.largest, allowed(use.model.type)) << difference.where;
  RecordProperty("largest_difference", std::to_string(difference.largest));
}

Preprocess with(void (*change)(Preprocess&)) {
  Preprocess preprocess;
  preprocess.frame.matrix = ColorMatrix::kBT709;
  preprocess.frame.range = ColorRange::kLimited;
  change(preprocess);
  return preprocess;
}

const auto kPlain = with([](Preprocess&) {});
const auto kFullRange = with([](Preprocess& p) { p.frame.range = ColorRange::kFull; });
const auto kBgr = with([](Preprocess& p) { p.channels = ChannelOrder::kBGR; });
const auto kLetterbox = with([](Preprocess& p) { p.resize = ResizeMode::kLetterbox; });
const auto kFitToWindow = with([](Preprocess& p) {
  p.resize = ResizeMode::kFitToWindow;
  p.pad_value = 127.5F;
});
const auto kBlackBorders = with([](Preprocess& p) {
  p.resize = ResizeMode::kLetterbox;
  p.pad_value = 0;
});
const auto kNormalized = with([](Preprocess& p) {
  p.resize = ResizeMode::kLetterbox;
  p.mean = {123.675F, 116.28F, 103.53F};
  p.scale = {58.395F, 57.12F, 57.375F};
});
const auto kNormalizedBgr = with([](Preprocess& p) {
  p.channels = ChannelOrder::kBGR;
  p.mean = {103.53F, 116.28F, 123.675F};
});
const auto kUnit = with([](Preprocess& p) { p.scale = {255}; });
const auto kUnitBorders = with([](Preprocess& p) {
  p.resize = ResizeMode::kLetterbox;
  p.scale = {255};
});
const auto kInverted = with([](Preprocess& p) { p.scale = {-1}; });
const auto kMinus128 = with([](Preprocess& p) { p.mean = {128}; });
const auto kMeanOnly = with([](Preprocess& p) { p.mean = {16}; });
const auto kBrighter = with([](Preprocess& p) { p.scale = {0.5F}; });

const ImageModel kNchw{};
const ImageModel kNchwSaid{"f32", {1, 3, 12, 3}, "[N,C,H,W]"};
const ImageModel kNhwc{"f32", {1, 12, 16, 3}, "[N,H,W,C]"};
const ImageModel kU8{"u8", {1, 3, 12, 16}, ""};
const ImageModel kU8Nhwc{"u8", {1, 12, 16, 3}, "[N,H,W,C]"};
const ImageModel kF16{"f16", {1, 3, 12, 16}, ""};
const ImageModel kGray{"f32", {1, 1, 12, 16}, ""};
const ImageModel kGrayNhwc{"u8", {1, 12, 16, 1}, "[N,H,W,C]"};
const ImageModel kLarge{"f32", {1, 3, 61, 77}, ""};
const ImageModel kSquare{"f32", {1, 3, 64, 64}, ""};
const ImageModel kOneByOne{"f32", {1, 3, 1, 1}, ""};

const std::vector kUses{
    Use{"same_size", kNchw, {16, 12}, kPlain},
    Use{"same_size_odd", {"f32", {1, 3, 13, 17}, ""}, {17, 13}, kPlain},
    Use{"same_width", kNchw, {16, 31}, kPlain}, Use{"enlarged", kLarge, {15, 9}, kPlain},
    Use{"enlarged_twice", {"f32", {1, 3, 26, 34}, ""}, {17, 13}, kPlain},
    Use{"much_smaller", kNchw, {321, 243}, kPlain},
    // As many chroma samples as results, which do not lie alike.
    Use{"half_of_odd", {"f32", {1, 3, 13, 17}, ""}, {33, 25}, kPlain},
    Use{"one_pixel_frame", kNchw, {1, 1}, kPlain},
    Use{"one_pixel_model", kOneByOne, {33, 21}, kPlain}, Use{"one_row", kNchw, {37, 1}, kLetterbox},
    Use{"one_column", kNchw, {1, 37}, kLetterbox},
    Use{"letterbox_wide", kNchw, {64, 20}, kLetterbox},
    Use{"letterbox_tall", kNchw, {21, 63}, kLetterbox},
    Use{"fit_wide", kNchw, {64, 20}, kFitToWindow}, Use{"fit_tall", kNchw, {21, 63}, kFitToWindow},
    Use{"letterbox_black", kNchw, {65, 21}, kBlackBorders},
    Use{"letterbox_exact", kNchw, {32, 24}, kLetterbox}, Use{"bgr", kNchw, {25, 19}, kBgr},
    Use{"normalized", kNchw, {51, 19}, kNormalized},
    Use{"normalized_bgr", kNchw, {25, 19}, kNormalizedBgr}, Use{"unit", kNchw, {25, 19}, kUnit},
    Use{"mean_cancels_shift", kNchw, {25, 19}, kMeanOnly},
    Use{"full_range", kNchw, {25, 19}, kFullRange},
    Use{"nchw_three_wide", kNchwSaid, {25, 19}, kPlain}, Use{"nhwc", kNhwc, {25, 19}, kNormalized},
    Use{"u8", kU8, {25, 19}, kPlain}, Use{"u8_letterbox", kU8, {25, 9}, kLetterbox},
    Use{"u8_brighter", kU8, {25, 19}, kBrighter}, Use{"u8_nhwc", kU8Nhwc, {25, 19}, kPlain},
    Use{"f16", kF16, {25, 19}, kPlain}, Use{"f16_normalized", kF16, {25, 19}, kNormalized},
    Use{"gray", kGray, {25, 19}, kPlain}, Use{"gray_full", kGray, {25, 19}, kFullRange},
    Use{"gray_unit", kGray, {25, 19}, kUnit}, Use{"gray_letterbox", kGray, {65, 20}, kLetterbox},
    Use{"gray_u8_nhwc", kGrayNhwc, {25, 19}, kPlain}};

// Sizes with a common divisor, which are scaled by polyphase filters, in every use.
const std::vector kUsesOfPolyphase{
    Use{"periods_of_27_rows", kSquare, {192, 108}, kFullRange},
    Use{"periods_letterbox", kSquare, {192, 108}, kLetterbox},
    Use{"periods_fit", kSquare, {192, 108}, kFitToWindow},
    Use{"enlarged", kSquare, {32, 24}, kPlain},
    Use{"doubled", kNchw, {8, 6}, kPlain},
    Use{"one_result", kOneByOne, {32, 20}, kPlain},
    Use{"bgr", kNchw, {24, 18}, kBgr},
    Use{"normalized", kNchw, {48, 20}, kNormalized},
    Use{"normalized_whole", {"f32", {1, 3, 20, 16}, ""}, {32, 40}, kNormalized},
    Use{"normalized_bgr", kNchw, {24, 18}, kNormalizedBgr},
    Use{"unit", kNchw, {24, 18}, kUnit},
    Use{"unit_letterbox", kNchw, {48, 20}, kUnitBorders},
    Use{"mean", kNchw, {24, 18}, kMeanOnly},
    Use{"inverted", kNchw, {24, 18}, kInverted},
    Use{"nhwc", kNhwc, {24, 18}, kNormalized},
    Use{"u8", kU8, {24, 18}, kPlain},
    Use{"u8_letterbox", kU8Nhwc, {48, 18}, kLetterbox},
    Use{"i8", {"i8", {1, 12, 16, 3}, "[N,H,W,C]"}, {24, 18}, kMinus128},
    Use{"f16", kF16, {24, 18}, kNormalized},
    Use{"gray", kGray, {24, 18}, kUnit},
    Use{"gray_letterbox", kGray, {64, 20}, kLetterbox},
    Use{"gray_u8_nhwc", kGrayNhwc, {24, 18}, kFullRange}};
const std::vector kFormatsOfPolyphase{PixelFormat::kNV12,  PixelFormat::kI420, PixelFormat::kRGB,
                                      PixelFormat::kBGRx,  PixelFormat::kYUY2, PixelFormat::kUYVY,
                                      PixelFormat::kP010,  PixelFormat::kYV12, PixelFormat::kNV16,
                                      PixelFormat::kARGB,  PixelFormat::kABGR, PixelFormat::kGray8,
                                      PixelFormat::kGray16};

std::string scaling(std::uint32_t frame, int model) {
  const auto size = static_cast<std::uint32_t>(model);
  return frame < size ? "up" : frame > size ? "down" : "none";
}

bool has_chroma(PixelFormat format) {
  return std::find(kYuv.begin(), kYuv.end(), format) != kYuv.end();
}

/// Formats of one kind differ in the order of channels only.
std::string kind_of(PixelFormat format) {
  const auto layout = FrameLayout::tight(format, 2, 2);
  return std::to_string(layout.planes.size()) + " planes, rows of " +
         std::to_string(layout.planes[0].stride_bytes) + (has_chroma(format) ? ", chroma" : "");
}

/// Each kind of format with all that uses differ in, each format with what its channels become,
/// and each use with chroma and without.
Seen seen_by(const UseRow& row) {
  const auto& [format, use] = row;
  const auto& [type, shape, layout] = use.model;
  const bool last = layout == "[N,H,W,C]";
  const auto channels = std::to_string(shape[last ? 3 : 1]);
  const Preprocess& p = use.preprocess;
  auto seen =
      pairs_of({kind_of(format), type, layout, channels, to_string(p.frame.range),
                to_string(p.channels), to_string(p.resize), std::to_string(p.mean.size()),
                std::to_string(p.scale.size()), scaling(use.size.width, shape[last ? 2 : 3]),
                scaling(use.size.height, shape[last ? 1 : 2])});
  seen.push_back(to_string(format) + channels + to_string(p.channels));
  seen.push_back(use.name + std::string(has_chroma(format) ? ", chroma" : ""));
  return seen;
}

std::string use_name(const testing::TestParamInfo<UseRow>& info) {
  const auto& [format, use] = info.param;
  return to_string(format) + std::string("_") + use.name;
}

INSTANTIATE_TEST_SUITE_P(
    Table, UseTest,
    testing::ValuesIn(sample_of(every_row(joined<PixelFormat>({kYuv, kOthers}), kUses), seen_by)),
    use_name);
INSTANTIATE_TEST_SUITE_P(
    CommonDivisors, UseTest,
    testing::ValuesIn(sample_of(every_row(kFormatsOfPolyphase, kUsesOfPolyphase), seen_by)),
    use_name);

TEST(PreprocessTest, TakesAFullHdFrameWithPitchAndPaddedHeight) {
  Preprocess preprocess = kNormalized;
  preprocess.frame.format = PixelFormat::kNV12;
  preprocess.frame.width = 1920;
  preprocess.frame.height = 1080;
  preprocess.frame.planes = {{2048, 1088}, {2048, 544}};
  const ImageModel model{"f32", {1, 3, 640, 640}, ""};
  const auto difference = difference_from_reference(model, preprocess, By::kPlugin);
  EXPECT_LE(difference.largest, kAllowedFloat) << difference.where;
}

/// The grey levels of a frame of 16x16 pixels.
std::vector<double> levels_of(PixelFormat format, const test::Bytes& frame) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 1, 16, 16}));
  auto preprocess = kFullRange;
  preprocess.frame = FrameLayout::tight(format, 16, 16);
  preprocess.frame.range = ColorRange::kFull;
  model.add_preprocess(preprocess);
  return test::run_with_openvino(model, {{model.frame_input()->plane_inputs[0], frame}});
}

/// The part of a frame that a centre crop sees, worked out by hand.
struct CropRow : Named {
  Size frame;
  ImageModel model;
  float share;
  test::Part seen;
};

using CropOf = std::tuple<PixelFormat, Memory, CropRow>;

class CropTest : public testing::TestWithParam<CropOf> {};

TEST_P(CropTest, IsTheReferenceOfTheMiddle) {
  const auto& [format, memory, row] = GetParam();
  Preprocess preprocess = kPlain;
  preprocess.resize = ResizeMode::kCrop;
  preprocess.crop_share = row.share;
  preprocess.frame = layout_in(memory, format, row.frame);
  const auto difference = difference_from_reference(row.model, preprocess, of_this_row(), row.seen);
  EXPECT_LE(difference.largest, kAllowedFloat) << difference.where;
}

const std::vector kCrops{CropRow{"wide", {192, 108}, kSquare, 1, {42, 0, 108, 108}},
                         CropRow{"tall", {90, 160}, kSquare, 1, {0, 36, 90, 90}},
                         CropRow{"share", {192, 112}, kSquare, 0.875F, {48, 8, 98, 98}},
                         CropRow{"not_square", {96, 96}, kNchw, 1, {0, 12, 96, 72}},
                         CropRow{"fits", {32, 24}, kNchw, 1, {0, 0, 32, 24}}};

Seen seen_by(const CropOf& row) {
  const auto& [format, memory, crop] = row;
  return pairs_of({to_string(format), name_of(memory), crop.name});
}

INSTANTIATE_TEST_SUITE_P(
    Table, CropTest,
    testing::ValuesIn(sample_of(every_row(std::vector{PixelFormat::kNV12, PixelFormat::kI420,
                                                      PixelFormat::kP010},
                                          std::vector{Memory::kTight, Memory::kCropped}, kCrops),
                                seen_by)),
    [](const auto& row) {
      return std::string(to_string(std::get<0>(row.param))) + "_" +
             name_of(std::get<1>(row.param)) + "_" + std::get<2>(row.param).name;
    });

// Samples that are two columns wide and one row high: a crop may begin in any row.
INSTANTIATE_TEST_SUITE_P(
    PairsOfColumns, CropTest,
    testing::ValuesIn(every_row(std::vector{PixelFormat::kNV16, PixelFormat::kYUY2},
                                std::vector{Memory::kTight, Memory::kCropped},
                                std::vector{
                                    CropRow{"odd_row", {20, 30}, kSquare, 1, {0, 5, 20, 20}}})),
    [](const auto& row) {
      return std::string(to_string(std::get<0>(row.param))) + "_" + name_of(std::get<1>(row.param));
    });

// RGB frames, to half a pixel of the frame.
TEST(PreprocessTest, CropsToTheNearestPixel) {
  Preprocess preprocess = kPlain;
  preprocess.resize = ResizeMode::kCrop;
  preprocess.crop_share = 0.875F;
  for (const auto& [width, height] : {std::pair{1920U, 1080U}, {641U, 479U}, {33U, 500U}}) {
    preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, width, height);
    auto model = test::read_ir(test::identity_ir("f32", {1, 3, 64, 64}));
    model.add_preprocess(preprocess);
    const FrameGeometry geometry = model.frame_input()->geometry;
    const double side = 0.875 * std::min(width, height);
    EXPECT_NEAR(-geometry.offset_x * geometry.scale_x, (width - side) / 2, 1);
    EXPECT_NEAR(-geometry.offset_y * geometry.scale_y, (height - side) / 2, 1);
    EXPECT_NEAR(64 * geometry.scale_x, side, 0.51);
    EXPECT_NEAR(64 * geometry.scale_y, side, 0.51);
  }
}

TEST(PreprocessTest, RefusesACropOfNothingOrMoreThanTheFrame) {
  Preprocess preprocess = kPlain;
  preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, 64, 64);
  for (const float share : {0.0F, -1.0F, 1.01F, std::numeric_limits<float>::quiet_NaN()}) {
    preprocess.crop_share = share;
    auto model = test::read_ir(test::identity_ir("f32", {1, 3, 64, 64}));
    EXPECT_THROW(model.add_preprocess(preprocess), Error) << share;
  }
}

TEST(PreprocessTest, SeesGreyOf16BitsAsThatOf8AndWhatIsInBetween) {
  constexpr double kStep = 1.0 / 257;
  test::Bytes bytes, words, more;
  for (unsigned level = 0; level < 256; ++level) {
    const auto byte = static_cast<unsigned char>(level);
    bytes.push_back(byte);
    words.insert(words.end(), {byte, byte});
    more.insert(more.end(), {static_cast<unsigned char>(level ^ 1U), byte});
  }
  const auto of_bytes = levels_of(PixelFormat::kGray8, bytes);
  const auto of_words = levels_of(PixelFormat::kGray16, words);
  const auto of_more = levels_of(PixelFormat::kGray16, more);
  ASSERT_EQ(of_words.size(), 256U);
  for (std::size_t i = 0; i < of_words.size(); ++i) {
    EXPECT_NEAR(of_words[i], of_bytes[i], kStep / 4);
    EXPECT_NEAR(of_more[i] - of_words[i], i % 2 == 0 ? kStep : -kStep, kStep / 4);
  }
}

}  // namespace
}  // namespace npu::preprocess_test

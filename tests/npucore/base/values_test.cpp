#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include <npucore/error.hpp>
#include <npucore/frame.hpp>
#include <npucore/types.hpp>

#include "base/enum_names.hpp"
#include "base/log.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

Port port(ElementType type, Shape shape) {
  return {"p", {"t1", "t2"}, type, std::move(shape)};
}

struct SizeRow {
  const char* name;
  ElementType type;
  Shape shape;
  std::size_t size_bytes;
};

class PortSize : public ::testing::TestWithParam<SizeRow> {};

TEST_P(PortSize, IsDense) {
  EXPECT_EQ(port(GetParam().type, GetParam().shape).size_bytes(), GetParam().size_bytes);
}

INSTANTIATE_TEST_SUITE_P(Rows, PortSize,
                         ::testing::Values(SizeRow{"f32", ElementType::kF32, {1, 3, 2, 2}, 48},
                                           SizeRow{"scalar", ElementType::kI64, {}, 8},
                                           SizeRow{"boolean", ElementType::kBoolean, {3}, 3},
                                           SizeRow{"i4_rounds_up", ElementType::kI4, {3}, 2},
                                           SizeRow{"u1_rounds_up", ElementType::kU1, {9}, 2},
                                           SizeRow{"u2", ElementType::kU2, {4}, 1},
                                           SizeRow{"empty", ElementType::kF16, {0, 5}, 0}),
                         by_name);

TEST(Port, WithADynamicDimensionHasNoSize) {
  expect_error(ErrorCode::kInvalidArgument, "f32[?,3] has a dynamic dimension", [] {
    port(ElementType::kF32, {-1, 3}).size_bytes();
  });
}

TEST(Port, TooLargeForTheAddressSpaceSaysSo) {
  const std::int64_t half = std::int64_t{1} << 32;
  expect_error(ErrorCode::kInvalidArgument, "larger than the address space", [&] {
    port(ElementType::kF64, {half, half}).size_bytes();
  });
}

TEST(Port, AnswersToItsNameAndTensorNames) {
  const Port p = port(ElementType::kU8, {1});
  EXPECT_TRUE(p.answers_to("p"));
  EXPECT_TRUE(p.answers_to("t2"));
  EXPECT_FALSE(p.answers_to("t3"));
}

TEST(ElementTypes, AreReadBackFromTheirNames) {
  for (int number = 0; number <= static_cast<int>(ElementType::kF8E8M0); ++number) {
    const auto type = static_cast<ElementType>(number);
    EXPECT_EQ(base::element_type_from_string(to_string(type)), type);
  }
  EXPECT_EQ(base::element_type_from_string("F32"), ElementType::kF32);
  EXPECT_EQ(base::element_type_from_string("f33"), ElementType::kUnknown);
}

TEST(Names, AreReadBack) {
  for (const char* name : {"NV12", "I420", "RGB", "BGR", "RGBx", "BGRx", "GRAY8", "NV21", "YUY2",
                           "P010_10LE", "YV12", "NV16", "ARGB", "ABGR", "UYVY", "GRAY16_LE"}) {
    EXPECT_EQ(to_string(pixel_format_from_string(name)), std::string(name));
  }
  for (const char* name : {"bt601", "bt709", "bt2020"}) {
    EXPECT_EQ(to_string(color_matrix_from_string(name)), std::string(name));
  }
  EXPECT_EQ(color_range_from_string("full"), ColorRange::kFull);
  EXPECT_EQ(resize_mode_from_string("letterbox"), ResizeMode::kLetterbox);
  EXPECT_EQ(resize_mode_from_string("fit-to-window"), ResizeMode::kFitToWindow);
  EXPECT_EQ(channel_order_from_string("BGR"), ChannelOrder::kBGR);
  EXPECT_EQ(device_kind_from_string("software"), DeviceKind::kSoftware);
  EXPECT_EQ(device_kind_from_string("NPU"), DeviceKind::kNpu) << "as OpenVINO calls it";
}

TEST(Names, ThatAreUnknownListTheValidOnes) {
  expect_error(ErrorCode::kInvalidArgument,
               "'P010' is not a pixel format: use one of NV12, I420, RGB, BGR, RGBx, BGRx, GRAY8, "
               "NV21, YUY2, P010_10LE, YV12, NV16, ARGB, ABGR, UYVY, GRAY16_LE",
               [] { pixel_format_from_string("P010"); });
}

TEST(Names, OfOtherDevicesTellWhatRunsOnTheCpu) {
  expect_error(ErrorCode::kInvalidArgument,
               "'CPU' is not a device of npucore, which runs models on NPUs: use auto, npu, or "
               "software, which runs them on the CPU",
               [] { device_kind_from_string("CPU"); });
}

struct TightRow {
  const char* name;
  PixelFormat format;
  std::uint32_t width, height;
  std::vector<PlaneLayout> planes;
};

class TightLayout : public ::testing::TestWithParam<TightRow> {};

TEST_P(TightLayout, HasNoPadding) {
  const auto& row = GetParam();
  EXPECT_EQ(FrameLayout::tight(row.format, row.width, row.height).planes, row.planes);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TightLayout,
    ::testing::Values(TightRow{"nv12", PixelFormat::kNV12, 4, 2, {{4, 2}, {4, 1}}},
                      TightRow{"nv12_odd", PixelFormat::kNV12, 5, 3, {{5, 3}, {6, 2}}},
                      TightRow{"i420_odd", PixelFormat::kI420, 5, 3, {{5, 3}, {3, 2}, {3, 2}}},
                      TightRow{"nv21_odd", PixelFormat::kNV21, 5, 3, {{5, 3}, {6, 2}}},
                      TightRow{"yv12_odd", PixelFormat::kYV12, 5, 3, {{5, 3}, {3, 2}, {3, 2}}},
                      TightRow{"nv16", PixelFormat::kNV16, 4, 3, {{4, 3}, {4, 3}}},
                      TightRow{"nv16_odd", PixelFormat::kNV16, 5, 3, {{5, 3}, {6, 3}}},
                      TightRow{"yuy2", PixelFormat::kYUY2, 4, 3, {{8, 3}}},
                      TightRow{"yuy2_odd", PixelFormat::kYUY2, 5, 3, {{12, 3}}},
                      TightRow{"uyvy_odd", PixelFormat::kUYVY, 5, 3, {{12, 3}}},
                      TightRow{"p010_odd", PixelFormat::kP010, 5, 3, {{10, 3}, {12, 2}}},
                      TightRow{"rgb", PixelFormat::kRGB, 5, 3, {{15, 3}}},
                      TightRow{"bgrx", PixelFormat::kBGRx, 5, 3, {{20, 3}}},
                      TightRow{"argb", PixelFormat::kARGB, 5, 3, {{20, 3}}},
                      TightRow{"abgr", PixelFormat::kABGR, 5, 3, {{20, 3}}},
                      TightRow{"gray8", PixelFormat::kGray8, 5, 3, {{5, 3}}},
                      TightRow{"gray16", PixelFormat::kGray16, 5, 3, {{10, 3}}}),
    by_name);

TEST(FrameLayout, DescribesItself) {
  FrameLayout frame = FrameLayout::tight(PixelFormat::kNV12, 1920, 1080);
  frame.matrix = ColorMatrix::kBT709;
  frame.planes = {{2048, 1088}, {2048, 544}};
  EXPECT_EQ(frame.describe(), "NV12 1920x1080 bt709 limited, planes 2048x1088 2048x544");
  frame.crop_left = 2;
  EXPECT_EQ(frame.describe(), "NV12 1920x1080 bt709 limited crop 2,0, planes 2048x1088 2048x544");
}

TEST(FrameLayout, CountsThePaddingIntoAPlane) {
  FrameLayout frame = FrameLayout::tight(PixelFormat::kGray8, 10, 10);
  frame.planes[0] = {16, 12};
  EXPECT_EQ(frame.plane_size_bytes(0), 192u);
  expect_error(ErrorCode::kInvalidArgument, "plane 1 was requested",
               [&] { frame.plane_size_bytes(1); });
}

struct BadRow {
  const char* name;
  void (*spoil)(FrameLayout&);
  const char* why;
};

class BadLayout : public ::testing::TestWithParam<BadRow> {};

TEST_P(BadLayout, IsRefusedByName) {
  FrameLayout frame = FrameLayout::tight(PixelFormat::kNV12, 64, 48);
  GetParam().spoil(frame);
  expect_error(ErrorCode::kInvalidArgument, GetParam().why, [&] { frame.validate(); });
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadLayout,
    ::testing::Values(
        BadRow{"no_width", [](FrameLayout& f) { f.width = 0; }, "at least 1"},
        BadRow{"plane_missing", [](FrameLayout& f) { f.planes.pop_back(); }, "2 planes, not 1"},
        BadRow{"short_stride", [](FrameLayout& f) { f.planes[0].stride_bytes = 63; },
               "plane 0 has a stride of 63 bytes, its rows need 64"},
        BadRow{"short_rows", [](FrameLayout& f) { f.planes[1].rows = 23; },
               "plane 1 has 23 rows, the picture needs 24"},
        BadRow{"odd_crop_of_a_tight_frame", [](FrameLayout& f) { f.crop_left = 1; },
               "plane 0 has a stride of 64 bytes, its rows need 65"},
        BadRow{"crop_past_the_end", [](FrameLayout& f) { f.crop_top = 2; },
               "plane 0 has 48 rows, the picture needs 50"},
        BadRow{"overflow", [](FrameLayout& f) { f.crop_left = 0xfffffffe; }, "stride of 64"}),
    by_name);

TEST(Log, GoesToTheSinkUntilItIsTakenAway) {
  std::vector<std::string> seen;
  set_log_sink([&](LogLevel level, std::string_view message) {
    seen.push_back(std::to_string(static_cast<int>(level)) + std::string(message));
  });
  EXPECT_TRUE(base::log_enabled(LogLevel::kDebug));
  base::log(LogLevel::kDebug, "d");
  base::log(LogLevel::kError, "e");
  set_log_sink({});
  base::log(LogLevel::kInfo, "to nobody");
  EXPECT_EQ(seen, (std::vector<std::string>{"3d", "0e"}));
}

TEST(Log, IsKeptForTheEndOfTheOutermostScope) {
  std::vector<std::string> seen;
  set_log_sink([&](LogLevel, std::string_view message) { seen.emplace_back(message); });
  {
    const base::LogsAfterwards outer;
    {
      const base::LogsAfterwards inner;
      base::log(LogLevel::kInfo, "1");
    }
    base::log(LogLevel::kInfo, "2");
    std::thread([] { base::log(LogLevel::kInfo, "of another thread"); }).join();
    EXPECT_EQ(seen, (std::vector<std::string>{"of another thread"}));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"of another thread", "1", "2"}));
  set_log_sink({});
}

TEST(Log, OfASinkThatThrowsIsOnStderr) {
  set_log_sink([](LogLevel, std::string_view) { throw std::runtime_error("full"); });
  testing::internal::CaptureStderr();
  {
    const base::LogsAfterwards logs;
    base::log(LogLevel::kInfo, "an old message");
  }
  std::thread([] { base::log(LogLevel::kInfo, "a message of a thread"); }).join();
  set_log_sink({});
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(has(printed, "an old message"));
  EXPECT_TRUE(has(printed, "a message of a thread"));
}

}  // namespace
}  // namespace npu::test

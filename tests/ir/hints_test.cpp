#include <gtest/gtest.h>

#include <limits>
#include <type_traits>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir_files.hpp"

namespace npu {
namespace {

using Info = std::map<std::string, std::string>;

Model model_with(const test::TempDir& dir, const Info& info) {
  std::string text;
  for (const auto& [key, value] : info) text += "<" + key + " value=\"" + value + "\" />";
  return Model::read(dir.write(
      "model.xml",
      test::identity_ir("f32", {1, 3, 8, 8}, "", "11", "<model_info>" + text + "</model_info>")));
}

Preprocess hints(const Info& info) {
  const test::TempDir dir;
  return model_with(dir, info).default_preprocess(FrameLayout::tight(PixelFormat::kNV12, 32, 18));
}

TEST(HintsTest, WithoutModelInfoNothingIsChanged) {
  const auto preprocess = hints({});
  EXPECT_EQ(preprocess.resize, ResizeMode::kStretch);
  EXPECT_EQ(preprocess.channels, ChannelOrder::kRGB);
  EXPECT_EQ(preprocess.pad_value, 114);
  EXPECT_TRUE(preprocess.mean.empty());
  EXPECT_TRUE(preprocess.scale.empty());
  EXPECT_EQ(preprocess.frame, FrameLayout::tight(PixelFormat::kNV12, 32, 18));
}

TEST(HintsTest, TakesMeanAndScale) {
  const auto preprocess =
      hints({{"mean_values", "123.675 116.28 103.5"}, {"scale_values", "[255, 2, 3.5]"}});
  EXPECT_EQ(preprocess.mean, (std::vector<float>{123.675F, 116.28F, 103.5F}));
  EXPECT_EQ(preprocess.scale, (std::vector<float>{255, 2, 3.5F}));
}

TEST(HintsTest, LetterboxesInBlackUnlessTold) {
  const auto preprocess = hints({{"resize_type", "fit_to_window_letterbox"}});
  EXPECT_EQ(preprocess.resize, ResizeMode::kLetterbox);
  EXPECT_EQ(preprocess.pad_value, 0);
  EXPECT_EQ(hints({{"resize_type", "fit_to_window_letterbox"}, {"pad_value", "114"}}).pad_value,
            114);
}

TEST(HintsTest, FitsIntoTheWindowWithBordersOnOneSide) {
  EXPECT_EQ(hints({{"resize_type", "fit_to_window"}}).resize, ResizeMode::kFitToWindow);
  const test::TempDir dir;
  EXPECT_TRUE(model_with(dir, {{"resize_type", "fit_to_window"}}).warnings().empty());
}

TEST(HintsTest, StandardIsStretch) {
  EXPECT_EQ(hints({{"resize_type", "standard"}}).resize, ResizeMode::kStretch);
  EXPECT_EQ(hints({{"resize_type", "crop"}}).resize, ResizeMode::kCrop);
}

TEST(HintsTest, ReversedChannelsAreRgbAsInTheModelApi) {
  EXPECT_EQ(hints({{"reverse_input_channels", "YES"}}).channels, ChannelOrder::kRGB);
  EXPECT_EQ(hints({{"reverse_input_channels", "True"}}).channels, ChannelOrder::kRGB);
  EXPECT_EQ(hints({{"reverse_input_channels", "NO"}}).channels, ChannelOrder::kBGR);
}

TEST(HintsTest, NamesWhatIsNoNumber) {
  for (const auto* bad : {"1 two 3", "nan", "1e999", "0x10", "1;2;3"}) {
    expect_error(ErrorCode::kInvalidArgument, "mean_values", [&] {
      hints({{"mean_values", bad}});
    });
  }
}

TEST(HintsTest, WarnsOfAResizeThatIsNotOffered) {
  const test::TempDir dir;
  const auto warnings = model_with(dir, {{"resize_type", "fill"}}).warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0], "'fill' is not offered: frames are stretched"));
  EXPECT_TRUE(model_with(dir, {{"resize_type", "standard"}}).warnings().empty());
}

template <class Whole = std::int64_t>
std::vector<std::string> warnings_of(const std::vector<std::vector<Whole>>& constants) {
  const std::string type = std::is_signed_v<Whole> ? "i64" : "u64";
  test::IrWriter ir;
  auto value = ir.parameter("x", type, {2});
  for (const auto& numbers : constants) {
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()),
                                 numbers.size() * sizeof(numbers[0]));
    const auto name = "c" + std::to_string(ir.weights().size());
    value = ir.binary("Add", value, ir.constant(name, type, {2}, bytes));
  }
  ir.result(value);
  const test::TempDir dir;
  return Model::read(ir.write(dir.path(), "model")).warnings();
}

TEST(WideNumbersTest, AreToldOnceAndByLayer) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto one = warnings_of<>({{1, 2}, {0, kMost + 1}});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(has(one[0], "layer 'c16' (Const, id 3) holds 2147483648: NPUs compute i64 and u64"));
  const auto two = warnings_of<>({{-3000000000, 0}, {0, kMost + 1}});
  ASSERT_EQ(two.size(), 1U);
  EXPECT_TRUE(has(two[0], "holds -3000000000, and 1 more hold such numbers: "));
}

TEST(WideNumbersTest, WithoutASignAreTold) {
  const auto told = warnings_of<std::uint64_t>({{5000000000, 1}});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(has(told[0], "holds 5000000000: NPUs compute i64 and u64"));
  EXPECT_TRUE(warnings_of<std::uint64_t>({{std::numeric_limits<std::uint64_t>::max(), 1}}).empty());
}

TEST(WideNumbersTest, AreNoneThatFitOrMeanTheEnd) {
  constexpr auto kNarrow = std::numeric_limits<std::int32_t>();
  constexpr auto kWide = std::numeric_limits<std::int64_t>();
  EXPECT_TRUE(warnings_of<>({{kNarrow.min(), kNarrow.max()}, {kWide.max(), kWide.min()}}).empty());
}

}  // namespace
}  // namespace npu

#include <gtest/gtest.h>

#include <cmath>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir_files.hpp"
#include "openvino_run.hpp"

namespace npu {
namespace {

using test::TempDir;

FrameLayout rgb(std::uint32_t width, std::uint32_t height) {
  return FrameLayout::tight(PixelFormat::kRGB, width, height);
}

Preprocess with_frame(const FrameLayout& frame) {
  Preprocess preprocess;
  preprocess.frame = frame;
  return preprocess;
}

/// The error of add_preprocess for such a model.
std::string refusal(const std::string& ir, Preprocess preprocess) {
  auto model = test::read_ir(ir);
  try {
    model.add_preprocess(preprocess);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

struct Refused : Named {
  std::string ir;
  const char* expected;
  void (*change)(Preprocess&) = [](Preprocess&) {};
};

class RefusedImageInputTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedImageInputTest, SaysWhy) {
  auto preprocess = with_frame(rgb(16, 12));
  GetParam().change(preprocess);
  const auto message = refusal(GetParam().ir, preprocess);
  EXPECT_TRUE(has(message, GetParam().expected));
}

std::string two_pictures() {
  test::IrWriter ir;
  const auto left = ir.parameter("left", "f32", {1, 3, 4, 4});
  const auto right = ir.parameter("right", "f32", {1, 3, 4, 4});
  ir.result(left, "a");
  ir.result(right, "b");
  return ir.xml();
}

std::string two_planes() {
  test::IrWriter ir;
  ir.result(ir.parameter("y", "u8", {1, 8, 8, 1}), "a");
  ir.result(ir.parameter("uv", "u8", {1, 4, 4, 2}), "b");
  return ir.xml();
}

const auto kGood = test::identity_ir("f32", {1, 3, 4, 4});

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedImageInputTest,
    testing::Values(
        Refused{"no_picture", test::identity_ir("f32", {1, 10}), "has no input of rank 4"},
        Refused{"two_pictures", two_pictures(),
                "its inputs are: 'left' f32[1,3,4,4], 'right' f32[1,3,4,4]"},
        Refused{"two_planes", two_planes(), "takes each plane of a picture by an input of its own"},
        Refused{"no_such_input", kGood, "has no input 'camera'; its inputs are: 'picture' f32",
                [](Preprocess& p) { p.input = "camera"; }},
        Refused{"named_input_is_no_picture", test::identity_ir("f32", {1, 10}),
                "a picture has four dimensions", [](Preprocess& p) { p.input = "picture"; }},
        Refused{"dynamic", test::identity_ir("f32", {1, 3, -1, 4}),
                "input 'picture' f32[1,3,?,4] of "},
        Refused{"dynamic_says_which", test::identity_ir("f32", {1, 3, -1, 4}),
                "its dimension 2 is dynamic: reshape the model to a size first"},
        Refused{"batch", test::identity_ir("f32", {8, 3, 4, 4}), "its batch is 8"},
        Refused{"huge", test::identity_ir("f32", {1, 3, 16385, 4}), "larger than 16384"},
        Refused{"integers", test::identity_ir("i32", {1, 3, 4, 4}),
                "frames can be converted only to"},
        Refused{"quantised", test::identity_ir("i8", {1, 3, 4, 4}),
                "is i8, and an IR does not tell how its values are quantised: give mean"},
        Refused{"four_channels", test::identity_ir("f32", {1, 4, 8, 8}), "3 or 1 channels"},
        Refused{"four_channels_said", test::identity_ir("f32", {1, 4, 8, 3}, "[N,C,H,W]"),
                "3 or 1 channels"},
        Refused{"two_means", kGood, "mean has 2 values, but the model's picture has 3 channels",
                [](Preprocess& p) {
                  p.mean = {1, 2};
                }},
        Refused{"four_scales", kGood, "scale has 4 values",
                [](Preprocess& p) {
                  p.scale = {1, 2, 3, 4};
                }},
        Refused{"scale_zero", kGood, "scale must not contain 0",
                [](Preprocess& p) { p.scale = {0}; }},
        Refused{"scale_tiny", kGood, "make values that f32 cannot hold",
                [](Preprocess& p) { p.scale = {1e-37F}; }},
        Refused{"mean_nan", kGood, "mean holds nan", [](Preprocess& p) { p.mean = {NAN}; }},
        Refused{"bright_border", kGood, "pad_value is 300",
                [](Preprocess& p) { p.pad_value = 300; }},
        Refused{"bad_frame", kGood, "stride",
                [](Preprocess& p) { p.frame.planes[0].stride_bytes = 1; }}),
    by_name);

TEST(AddPreprocessTest, WorksOnlyOnce) {
  auto model = test::read_ir(kGood);
  model.add_preprocess(with_frame(rgb(8, 8)));
  EXPECT_THROW(model.add_preprocess(with_frame(rgb(8, 8))), Error);
}

TEST(AddPreprocessTest, AFailureLeavesTheModelAsItWas) {
  auto model = test::read_ir(kGood);
  auto bad = with_frame(rgb(8, 8));
  bad.scale = {0};
  EXPECT_THROW(model.add_preprocess(bad), Error);
  EXPECT_EQ(model.inputs()[0].type, ElementType::kF32);
  EXPECT_NO_THROW(model.add_preprocess(with_frame(rgb(8, 8))));
}

TEST(AddPreprocessTest, ChoosesTheInputByNameAndKeepsTheOrder) {
  auto model = test::read_ir(two_pictures());
  auto preprocess = with_frame(FrameLayout::tight(PixelFormat::kI420, 8, 8));
  preprocess.input = "right";
  model.add_preprocess(preprocess);
  std::vector<std::string> names;
  for (const auto& input : model.inputs()) names.push_back(input.name);
  EXPECT_EQ(names, (std::vector<std::string>{"left", "right/y", "right/u", "right/v"}));
  EXPECT_EQ(model.frame_input()->plane_inputs,
            (std::vector<std::string>{"right/y", "right/u", "right/v"}));
}

TEST(AddPreprocessTest, PutsThePlanesInThePlaceOfTheReplacedInput) {
  auto model = test::read_ir(two_pictures());
  auto preprocess = with_frame(FrameLayout::tight(PixelFormat::kNV12, 8, 8));
  preprocess.input = "left";
  model.add_preprocess(preprocess);
  std::vector<std::string> names;
  for (const auto& input : model.inputs()) names.push_back(input.name);
  EXPECT_EQ(names, (std::vector<std::string>{"left/y", "left/uv", "right"}));
}

TEST(AddPreprocessTest, PlaneInputsAreU8WithTheirPitchAndRows) {
  auto model = test::read_ir(kGood);
  auto frame = FrameLayout::tight(PixelFormat::kNV12, 1920, 1080);
  frame.planes = {{2048, 1088}, {2048, 544}};
  model.add_preprocess(with_frame(frame));
  ASSERT_EQ(model.inputs().size(), 2U);
  EXPECT_EQ(model.inputs()[0].tensor_names, std::vector<std::string>{"image/y"});
  EXPECT_EQ(model.inputs()[0].type, ElementType::kU8);
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 1088, 2048, 1}));
  EXPECT_EQ(model.inputs()[1].tensor_names, std::vector<std::string>{"image/uv"});
  EXPECT_EQ(model.inputs()[1].shape, (Shape{1, 544, 1024, 2}));
}

TEST(AddPreprocessTest, PackedFormatsKeepTheInputsName) {
  auto model = test::read_ir(kGood);
  model.add_preprocess(with_frame(FrameLayout::tight(PixelFormat::kBGRx, 8, 6)));
  EXPECT_EQ(model.inputs()[0].name, "picture");
  EXPECT_EQ(model.inputs()[0].tensor_names, std::vector<std::string>{"image"});
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 6, 8, 4}));
}

TEST(AddPreprocessTest, AGrayModelTakesOnlyTheLumaPlane) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 1, 4, 4}));
  model.add_preprocess(with_frame(FrameLayout::tight(PixelFormat::kNV12, 8, 8)));
  EXPECT_EQ(model.frame_input()->plane_inputs, std::vector<std::string>{"image/y"});
}

TEST(AddPreprocessTest, TellsWhereTheFrameLies) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 640, 640}));
  auto preprocess = with_frame(FrameLayout::tight(PixelFormat::kNV12, 1920, 1080));
  preprocess.resize = ResizeMode::kLetterbox;
  model.add_preprocess(preprocess);
  const auto& geometry = model.frame_input()->geometry;
  EXPECT_EQ(geometry.model_width, 640U);
  EXPECT_EQ(geometry.model_height, 640U);
  EXPECT_EQ(geometry.offset_x, 0);
  EXPECT_EQ(geometry.offset_y, 140);
  EXPECT_EQ(geometry.scale_x, 3);
  EXPECT_EQ(geometry.scale_y, 3);
}

TEST(AddPreprocessTest, AStretchedFrameHasTwoScales) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 320, 640}));
  auto preprocess = with_frame(FrameLayout::tight(PixelFormat::kNV12, 1920, 1200));
  preprocess.resize = ResizeMode::kStretch;
  model.add_preprocess(preprocess);
  const auto& geometry = model.frame_input()->geometry;
  EXPECT_EQ(geometry.scale_x, 3);
  EXPECT_EQ(geometry.scale_y, 3.75);
}

TEST(AddPreprocessTest, WorksInVersion10) {
  auto model = test::read_ir(test::identity_ir("f32", {1, 3, 1, 2}, "", "10"));
  model.add_preprocess(with_frame(rgb(4, 2)));
  const test::Bytes row{10, 20, 30, 10, 20, 30, 40, 50, 60, 40, 50, 60};
  test::Bytes frame = row;
  frame.insert(frame.end(), row.begin(), row.end());
  EXPECT_EQ(test::run_with_openvino(model, {{"image", frame}}),
            (std::vector<double>{10, 40, 20, 50, 30, 60}));
}

TEST(AddPreprocessTest, FeedsEveryConsumerOfTheInput) {
  const TempDir dir;
  test::IrWriter ir;
  const auto picture = ir.parameter("picture", "f32", {1, 3, 2, 2}, "", "image");
  ir.result(ir.binary("Add", picture, ir.layer("Negative", {picture})));
  auto model = Model::read(ir.write(dir.path(), "model"));
  model.add_preprocess(with_frame(rgb(2, 2)));
  const test::Bytes frame{1, 2, 3, 40, 50, 60, 7, 8, 9, 100, 110, 255};
  EXPECT_EQ(test::run_with_openvino(model, {{"image", frame}}), std::vector<double>(12, 0.0));
}

}  // namespace
}  // namespace npu

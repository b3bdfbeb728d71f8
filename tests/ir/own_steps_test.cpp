// Models whose graph does pre-processing itself, written by OpenVINO.
#include <gtest/gtest.h>

#include <functional>
#include <openvino/core/preprocess/pre_post_process.hpp>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset13.hpp>
#include <openvino/pass/serialize.hpp>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "support/expect.hpp"
#include "support/temp_dir.hpp"

#include "openvino_run.hpp"

namespace npu {
namespace {

using ov::preprocess::PrePostProcessor;
using test::TempDir;

/// A network that takes f32 pictures of 6 rows and 8 columns, with `steps` in front.
Model model_with(const TempDir& dir, const std::function<void(PrePostProcessor&)>& steps) {
  const auto picture =
      std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::PartialShape{1, 3, 6, 8});
  picture->output(0).set_names({"picture"});
  const auto network = std::make_shared<ov::opset13::Relu>(picture);
  auto model = std::make_shared<ov::Model>(ov::OutputVector{network}, ov::ParameterVector{picture});
  PrePostProcessor processor(model);
  processor.input().model().set_layout("NCHW");
  steps(processor);
  model = processor.build();
  const auto xml = dir.path() / "model.xml";
  ov::pass::Serialize(xml.string(), (dir.path() / "model.bin").string()).run_on_model(model);
  return Model::read(xml);
}

Preprocess wanted(const std::vector<float>& mean, const std::vector<float>& scale) {
  Preprocess preprocess;
  preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, 8, 6);
  preprocess.mean = mean;
  preprocess.scale = scale;
  return preprocess;
}

TEST(OwnSteps, AreNotDoneTwice) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_layout("NCHW");
    to.input().preprocess().mean({10, 20, 30}).scale(255);
  });
  Preprocess preprocess = wanted({10, 20, 30}, {255});
  const auto told = model.leave_out_own_steps(&preprocess);
  EXPECT_TRUE(preprocess.mean.empty());
  EXPECT_TRUE(preprocess.scale.empty());
  EXPECT_EQ(told, (std::vector<std::string>{
                      "the scale 255 is left out: the graph does that itself",
                      "the mean 10, 20, 30 is left out: the graph does that itself"}));
}

// OpenVINO multiplies the scale into the weights, and leaves the mean.
TEST(OwnSteps, BehindAMeanTheScaleIsTheGraphsToo) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_layout("NCHW");
    to.input().preprocess().mean({10, 20, 30});
  });
  Preprocess preprocess = wanted({10, 20, 30}, {2, 3, 4});
  EXPECT_EQ(model.leave_out_own_steps(&preprocess).size(), 2U);
  EXPECT_TRUE(preprocess.scale.empty());
}

TEST(OwnSteps, InReverseOrderTurnTheChannels) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_layout("NCHW");
    to.input().preprocess().mean({30, 20, 10});
  });
  Preprocess preprocess = wanted({10, 20, 30}, {});
  preprocess.channels = ChannelOrder::kRGB;
  model.leave_out_own_steps(&preprocess);
  EXPECT_EQ(preprocess.channels, ChannelOrder::kBGR);
}

TEST(OwnSteps, WithBothPlanesInOneInputAreRefused) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input()
        .tensor()
        .set_element_type(ov::element::u8)
        .set_color_format(ov::preprocess::ColorFormat::NV12_SINGLE_PLANE);
    to.input()
        .preprocess()
        .convert_color(ov::preprocess::ColorFormat::RGB)
        .convert_element_type(ov::element::f32);
  });
  Preprocess preprocess = wanted({}, {255});
  try {
    model.leave_out_own_steps(&preprocess);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.what(), "NV12 or I420 in one plane"));
  }
}

// A network that works at half of its input's size still answers in pixels of that.
TEST(OwnSteps, OfANetworkThatScalesInsideAreNone) {
  const TempDir dir;
  const auto picture =
      std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::PartialShape{1, 3, 12, 16});
  const auto sizes = ov::opset13::Constant::create(ov::element::i64, {2}, {6, 8});
  const auto axes = ov::opset13::Constant::create(ov::element::i64, {2}, {2, 3});
  ov::opset13::Interpolate::InterpolateAttrs how;
  how.mode = ov::opset13::Interpolate::InterpolateMode::LINEAR_ONNX;
  how.shape_calculation_mode = ov::opset13::Interpolate::ShapeCalcMode::SIZES;
  const auto half = std::make_shared<ov::opset13::Interpolate>(picture, sizes, axes, how);
  const auto model = std::make_shared<ov::Model>(
      ov::OutputVector{std::make_shared<ov::opset13::Relu>(half)}, ov::ParameterVector{picture});
  const auto xml = dir.path() / "model.xml";
  ov::pass::Serialize(xml.string(), (dir.path() / "model.bin").string()).run_on_model(model);
  EXPECT_EQ(Model::read(xml).own_picture_size(), std::nullopt);
}

// As ov::save_model() leaves the demo's detector, with weights in f16.
TEST(OwnSteps, InTheWeightsAreSeen) {
  const TempDir dir;
  const auto picture =
      std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::PartialShape{1, 3, 6, 8});
  picture->output(0).set_names({"picture"});
  const auto weights = ov::opset13::Constant::create(
      ov::element::f32, {4, 3, 3, 3}, std::vector<float>(std::size_t{4} * 3 * 3 * 3, 0.3F));
  const auto network = std::make_shared<ov::opset13::Convolution>(
      picture, weights, ov::Strides{1, 1}, ov::CoordinateDiff{1, 1}, ov::CoordinateDiff{1, 1},
      ov::Strides{1, 1});
  auto model = std::make_shared<ov::Model>(ov::OutputVector{network}, ov::ParameterVector{picture});
  ov::save_model(model, (dir.path() / "plain.xml").string());  // its weights become f16
  model = ov::Core().read_model((dir.path() / "plain.xml").string());
  PrePostProcessor processor(model);
  processor.input().model().set_layout("NCHW");
  processor.input().tensor().set_layout("NCHW");
  processor.input().preprocess().scale(255);
  ov::save_model(processor.build(), (dir.path() / "scaled.xml").string());
  const auto left_out = [&](const char* file) {
    Preprocess preprocess = wanted({}, {255});
    return Model::read(dir.path() / file).leave_out_own_steps(&preprocess).size();
  };
  EXPECT_EQ(left_out("plain.xml"), 0U);
  EXPECT_EQ(left_out("scaled.xml"), 1U);
}

// The graph's own normalisation is of values from 0 to 1, which another step makes.
TEST(OwnSteps, OfOtherNumbersAreOthers) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_layout("NCHW");
    to.input().preprocess().mean(0.5F).scale(0.25F);
  });
  Preprocess preprocess = wanted({}, {255});
  EXPECT_TRUE(model.leave_out_own_steps(&preprocess).empty());
  EXPECT_EQ(preprocess.scale, std::vector<float>{255});
}

TEST(OwnSteps, AreExpectedOfAModelThatTakesGreyLevels) {
  const TempDir dir;
  const Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_element_type(ov::element::u8).set_layout("NHWC");
    to.input().preprocess().convert_element_type(ov::element::f32);
  });
  Preprocess preprocess = wanted({}, {255});
  EXPECT_EQ(
      model.leave_out_own_steps(&preprocess),
      std::vector<std::string>{"the scale 255 is left out: the model takes grey levels (u8)"});
}

TEST(OwnSteps, AreToldByTheModelApi) {
  const TempDir dir;
  Model model =
      model_with(dir, [](PrePostProcessor& to) { to.input().tensor().set_layout("NCHW"); });
  model.set_model_info("embedded_processing", "True");
  Preprocess preprocess = wanted({1}, {2});
  EXPECT_EQ(model.leave_out_own_steps(&preprocess).size(), 3U) << "and the order of channels";
  EXPECT_EQ(preprocess.channels, ChannelOrder::kBGR);
}

// Answers of such a model are in pixels of the picture that it scales to.
TEST(OwnSteps, OfScalingDecideTheModelsPixels) {
  const TempDir dir;
  Model model = model_with(dir, [](PrePostProcessor& to) {
    to.input().tensor().set_spatial_static_shape(12, 32).set_layout("NCHW");
    to.input().preprocess().resize(ov::preprocess::ResizeAlgorithm::RESIZE_LINEAR).scale(255);
  });
  Preprocess preprocess;
  preprocess.frame = FrameLayout::tight(PixelFormat::kRGB, 32, 32);
  preprocess.resize = ResizeMode::kLetterbox;
  model.add_preprocess(preprocess);
  const FrameGeometry& geometry = model.frame_input()->geometry;
  EXPECT_EQ(geometry.model_width, 8U);
  EXPECT_EQ(geometry.model_height, 6U);
  // A picture of 12 columns between borders of 10, a quarter as wide; half as high.
  EXPECT_DOUBLE_EQ(geometry.offset_x, 2.5);
  EXPECT_DOUBLE_EQ(geometry.offset_y, 0);
  EXPECT_DOUBLE_EQ(geometry.scale_x, 32.0 / 12 * 4);
  EXPECT_DOUBLE_EQ(geometry.scale_y, 32.0 / 12 * 2);
}

}  // namespace
}  // namespace npu

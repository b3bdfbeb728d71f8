// Models whose graph does pre-processing itself, written by OpenVINO.
#include <gtest/gtest.h>

#include <functional>
#include <map>
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
  EXPECT_EQ(Model::read(xml).model_info().at(kInnerSizeKey), "8x6") << "for decoders to judge";
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

using Value = ov::Output<ov::Node>;
using Steps = std::function<Value(const Value&)>;

std::shared_ptr<ov::opset13::Constant> whole(const std::vector<std::int64_t>& numbers) {
  return ov::opset13::Constant::create(ov::element::i64, {numbers.size()}, numbers);
}

std::shared_ptr<ov::opset13::Constant> real(float number) {
  return ov::opset13::Constant::create(ov::element::f32, {}, {number});
}

Value over_255(const Value& value) {
  return std::make_shared<ov::opset13::Divide>(value, real(255));
}

/// A network of one convolution behind `steps`, for f32 pictures of 6 rows and 8 columns.
std::shared_ptr<ov::Model> network_behind(const Steps& steps) {
  const auto picture =
      std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::PartialShape{1, 3, 6, 8});
  picture->output(0).set_names({"picture"});
  const auto weights = ov::opset13::Constant::create(
      ov::element::f32, {4, 3, 3, 3}, std::vector<float>(std::size_t{4} * 3 * 3 * 3, 0.3F));
  const auto network = std::make_shared<ov::opset13::Convolution>(
      steps(picture), weights, ov::Strides{1, 1}, ov::CoordinateDiff{1, 1},
      ov::CoordinateDiff{1, 1}, ov::Strides{1, 1});
  return std::make_shared<ov::Model>(ov::OutputVector{network}, ov::ParameterVector{picture});
}

Model saved(const TempDir& dir, const std::shared_ptr<ov::Model>& model) {
  ov::save_model(model, (dir.path() / "saved.xml").string());
  return Model::read(dir.path() / "saved.xml");
}

Value gathered(const Value& value) {
  return std::make_shared<ov::opset13::Gather>(value, whole({2, -2, 0}), whole({1}));
}

Value sliced(const Value& value) {
  return std::make_shared<ov::opset13::Slice>(value, whole({-1}), whole({-100}), whole({-1}),
                                              whole({1}));
}

Value sliced_with_strides(const Value& value) {
  return std::make_shared<ov::opset13::StridedSlice>(
      value, whole({0, -1, 0}), whole({0, -4, 0}), whole({1, -1, 1}),
      std::vector<std::int64_t>{1, 0, 1}, std::vector<std::int64_t>{1, 0, 1});
}

Value split(const Value& value) {
  const auto axis = ov::opset13::Constant::create(ov::element::i64, {}, {1});
  const auto parts = std::make_shared<ov::opset13::Split>(value, axis, 3);
  return std::make_shared<ov::opset13::Concat>(
      ov::OutputVector{parts->output(2), parts->output(1), parts->output(0)}, 1);
}

TEST(OwnSteps, ThatTurnTheChannelsAreNotDoneTwice) {
  for (const auto& turn : {gathered, sliced, sliced_with_strides, split}) {
    const TempDir dir;
    const Model model =
        saved(dir, network_behind([&](const Value& picture) { return over_255(turn(picture)); }));
    Preprocess preprocess = wanted({10, 20, 30}, {255});
    std::map<std::string, std::string> doubts;
    const auto told = model.leave_out_own_steps(&preprocess, &doubts);
    EXPECT_EQ(told, (std::vector<std::string>{"the scale 255 is left out: the graph does that "
                                              "itself",
                                              "channels go in as BGR: the graph turns them"}));
    EXPECT_EQ(preprocess.channels, ChannelOrder::kBGR);
    EXPECT_EQ(preprocess.mean, (std::vector<float>{30, 20, 10})) << "for the order that goes in";
    EXPECT_EQ(doubts.size(), 1U);
    EXPECT_TRUE(has(doubts["channels"], "turns the picture's channels, so they go in as BGR"));
  }
}

// OpenVINO moves this turn into the convolution's weights.
TEST(OwnSteps, ThatTurnTheChannelsInTheWeightsAreSeen) {
  const TempDir dir;
  const auto prepared = [&](bool turns) {
    PrePostProcessor processor(network_behind([](const Value& picture) { return picture; }));
    processor.input().model().set_layout("NCHW");
    processor.input().tensor().set_element_type(ov::element::u8).set_layout("NHWC");
    auto& steps = processor.input().preprocess();
    if (turns) {
      steps.reverse_channels();
    }
    steps.convert_element_type(ov::element::f32).scale(255);
    Preprocess preprocess = wanted({}, {255});
    saved(dir, processor.build()).leave_out_own_steps(&preprocess);
    return preprocess.channels;
  };
  EXPECT_EQ(prepared(true), ChannelOrder::kBGR);
  EXPECT_EQ(prepared(false), ChannelOrder::kRGB);
}

TEST(OwnSteps, ThatTurnTwiceDoNot) {
  const TempDir dir;
  const Model model =
      saved(dir, network_behind([](const Value& picture) { return gathered(split(picture)); }));
  Preprocess preprocess = wanted({}, {});
  EXPECT_TRUE(model.leave_out_own_steps(&preprocess).empty());
  EXPECT_EQ(preprocess.channels, ChannelOrder::kRGB);
}

Value quantised(const Value& value) {
  return std::make_shared<ov::opset13::FakeQuantize>(value, real(0), real(255), real(0), real(255),
                                                     256);
}

Value quantised_over_255(const Value& value) {
  return std::make_shared<ov::opset13::FakeQuantize>(value, real(0), real(255), real(0), real(1),
                                                     256);
}

Value by_a_power(const Value& value) {
  return std::make_shared<ov::opset13::Multiply>(
      value, std::make_shared<ov::opset13::Power>(real(255), real(-1)));
}

TEST(OwnSteps, BehindLayersThatChangeNothingAreSeen) {
  const auto behind_relu = [](const Value& picture) {
    return over_255(std::make_shared<ov::opset13::Relu>(picture));
  };
  const auto behind_reshape = [](const Value& picture) {
    return over_255(std::make_shared<ov::opset13::Reshape>(picture, whole({1, 3, 6, 8}), false));
  };
  const auto behind_quantisation = [](const Value& picture) {
    return over_255(quantised(picture));
  };
  const auto behind_split = [](const Value& picture) { return over_255(split(picture)); };
  for (const Steps& steps : {Steps(behind_relu), Steps(behind_reshape), Steps(behind_quantisation),
                             Steps(behind_split), Steps(quantised_over_255), Steps(by_a_power)}) {
    const TempDir dir;
    Preprocess preprocess = wanted({}, {255});
    saved(dir, network_behind(steps)).leave_out_own_steps(&preprocess);
    EXPECT_TRUE(preprocess.scale.empty());
  }
}

// x / 255 + x * 0: whether the second part matters, nobody looks.
TEST(OwnSteps, ThatCannotBeToldAreDoubted) {
  const TempDir dir;
  const auto model = saved(dir, network_behind([](const Value& picture) -> Value {
                             const auto none =
                                 std::make_shared<ov::opset13::Multiply>(picture, real(0));
                             return std::make_shared<ov::opset13::Add>(over_255(picture), none);
                           }));
  Preprocess preprocess = wanted({}, {255});
  std::map<std::string, std::string> doubts;
  EXPECT_TRUE(model.leave_out_own_steps(&preprocess, &doubts).empty());
  EXPECT_EQ(preprocess.scale, std::vector<float>{255});
  EXPECT_TRUE(has(doubts["scale"], "the scale 255 is applied, but layer"));
  EXPECT_TRUE(has(doubts["scale"], "may do that, too"));
  EXPECT_EQ(model.leave_out_own_steps(&preprocess).size(), 1U) << "told all the same";
  preprocess.scale = {17};
  model.leave_out_own_steps(&preprocess, &doubts);
  EXPECT_TRUE(doubts.empty()) << "other numbers are the network's own";
}

TEST(OwnSteps, BehindAnUnknownLayerAreDoubted) {
  const TempDir dir;
  const auto model =
      saved(dir, network_behind([](const Value& picture) {
              return gathered(over_255(std::make_shared<ov::opset13::SoftPlus>(picture)));
            }));
  Preprocess preprocess = wanted({}, {255});
  std::map<std::string, std::string> doubts;
  model.leave_out_own_steps(&preprocess, &doubts);
  EXPECT_EQ(doubts.size(), 2U);
  EXPECT_TRUE(has(doubts["scale"], "(SoftPlus, id"));
  EXPECT_TRUE(has(doubts["channels"], "may turn the picture's channels"));
  EXPECT_EQ(preprocess.channels, ChannelOrder::kRGB);
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

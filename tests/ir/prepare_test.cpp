#include "ir/prepare.hpp"

#include <gtest/gtest.h>

#include <openvino/openvino.hpp>
#include <openvino/opsets/opset16.hpp>
#include <openvino/pass/serialize.hpp>

#include "ir_files.hpp"
#include "openvino_run.hpp"

namespace npu::ir::prepare_test {
namespace {

using ov::opset16::Constant;
using ov::opset16::Parameter;
using ov::opset16::Result;
using Interpolate4 = ov::op::v4::Interpolate;
using Interpolate11 = ov::op::v11::Interpolate;

constexpr CompilerVersion kNewCompiler{8, 0, 16}, kNoOpset11{8, 0, 8}, kNoIdentity{7, 26, 16};

/// Reads back what OpenVINO wrote.
Model model_of(const ov::OutputVector& outputs, const ov::ParameterVector& parameters) {
  const test::TempDir dir;
  const auto model = std::make_shared<ov::Model>(outputs, parameters, "made");
  ov::pass::Serialize(dir.path() / "model.xml", dir.path() / "model.bin").run_on_model(model);
  return Model::read(dir.path() / "model.xml");
}

std::shared_ptr<Parameter> picture() {
  auto parameter = std::make_shared<Parameter>(ov::element::f32, ov::Shape{1, 1, 3, 4});
  parameter->output(0).set_names({"image"});
  return parameter;
}

test::Bytes twelve_floats() {
  std::vector<float> values;
  for (int i = 0; i < 12; ++i) values.push_back(static_cast<float>(i * i));
  test::Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string text_of(const Model& model, CompilerVersion version) {
  return to_text(prepare(impl_of(model), version).xml);
}

void expect_same_results(const Model& model, CompilerVersion one, CompilerVersion other) {
  const std::map<std::string, test::Bytes> inputs{{"image", twelve_floats()}};
  const auto expected = test::run_with_openvino(model, inputs, one);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(test::run_with_openvino(model, inputs, other), expected);
  EXPECT_EQ(test::run_weightless_with_openvino(model, inputs, other), expected);
}

struct Resize : Named {
  Interpolate4::InterpolateMode mode;
  Interpolate4::ShapeCalcMode by;
  bool with_axes;
};

ov::Output<ov::Node> resized(const ov::Output<ov::Node>& input, const Resize& row) {
  Interpolate11::InterpolateAttrs attributes(row.mode, row.by, {0, 0, 0, 0}, {0, 0, 0, 0});
  attributes.coordinate_transformation_mode = Interpolate4::CoordinateTransformMode::HALF_PIXEL;
  const bool sizes = row.by == Interpolate4::ShapeCalcMode::SIZES;
  const std::vector<float> scales =
      row.with_axes ? std::vector<float>{2, 1.5} : std::vector<float>{1, 1, 2, 1.5};
  const std::vector<std::int64_t> wanted =
      row.with_axes ? std::vector<std::int64_t>{6, 6} : std::vector<std::int64_t>{1, 1, 6, 6};
  const ov::Output<ov::Node> how =
      sizes ? Constant::create(ov::element::i64, {wanted.size()}, wanted)->output(0)
            : Constant::create(ov::element::f32, {scales.size()}, scales)->output(0);
  if (!row.with_axes) return std::make_shared<Interpolate11>(input, how, attributes);
  const auto axes = Constant::create(ov::element::i64, {2}, std::vector<std::int64_t>{2, 3});
  return std::make_shared<Interpolate11>(input, how, axes, attributes);
}

class InterpolateTest : public testing::TestWithParam<Resize> {};

TEST_P(InterpolateTest, MeansTheSameInTheOlderOpset) {
  const auto input = picture();
  const auto model = model_of({resized(input, GetParam())}, {input});
  const auto text = text_of(model, kNoOpset11);
  EXPECT_FALSE(has(text, "opset11"));
  EXPECT_TRUE(has(text_of(model, kNewCompiler), "opset11"));
  expect_same_results(model, kNewCompiler, kNoOpset11);
}

INSTANTIATE_TEST_SUITE_P(
    Table, InterpolateTest,
    testing::Values(Resize{"sizes_with_axes", Interpolate4::InterpolateMode::LINEAR_ONNX,
                           Interpolate4::ShapeCalcMode::SIZES, true},
                    Resize{"scales_with_axes", Interpolate4::InterpolateMode::LINEAR,
                           Interpolate4::ShapeCalcMode::SCALES, true},
                    Resize{"sizes_of_all_axes", Interpolate4::InterpolateMode::CUBIC,
                           Interpolate4::ShapeCalcMode::SIZES, false},
                    Resize{"scales_of_all_axes", Interpolate4::InterpolateMode::NEAREST,
                           Interpolate4::ShapeCalcMode::SCALES, false}),
    by_name);

/// Intel's compiler refuses that: the pads are 0 whatever the size of the picture.
TEST(PrepareTest, PadsOfFiltersOfSingleElementsAreExplicit) {
  const auto input = picture();
  const auto convolution = [&](ov::Shape filter, ov::op::PadType pads) {
    const auto weights = ov::op::v0::Constant::create(
        ov::element::f32, filter, std::vector<float>(ov::shape_size(filter), 2));
    return std::make_shared<ov::op::v1::Convolution>(
        input, weights, ov::Strides{2, 2}, ov::CoordinateDiff{0, 0}, ov::CoordinateDiff{0, 0},
        ov::Strides{1, 1}, pads);
  };
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
    return found;
  };
  for (const auto pads : {ov::op::PadType::SAME_UPPER, ov::op::PadType::SAME_LOWER}) {
    const auto model =
        model_of({convolution({1, 1, 1, 1}, pads), convolution({1, 1, 3, 3}, pads)}, {input});
    const auto text = text_of(model, kNewCompiler);
    EXPECT_EQ(count(text, "auto_pad=\"same_"), 1U);
    EXPECT_EQ(count(text, "auto_pad=\"explicit\" pads_begin=\"0, 0\" pads_end=\"0, 0\""), 1U);
    // 0, 4, 64, 100 of 0, 1, 4, ..., doubled
    const auto results = test::run_with_openvino(model, {{"image", twelve_floats()}}, kNewCompiler);
    EXPECT_EQ(results, (std::vector<double>{0, 8, 128, 200}));
  }
}

TEST(PrepareTest, PillowsModesHaveNoOlderForm) {
  const auto input = picture();
  const auto model = model_of({resized(input, {"", Interpolate4::InterpolateMode::BILINEAR_PILLOW,
                                               Interpolate4::ShapeCalcMode::SIZES, true})},
                              {input});
  EXPECT_TRUE(has(text_of(model, kNoOpset11), "opset11"));
}

TEST(PrepareTest, ACompilerOfUnknownOpsetGetsTheModelAsItIs) {
  const auto input = picture();
  const auto model = model_of({resized(input, {"", Interpolate4::InterpolateMode::LINEAR,
                                               Interpolate4::ShapeCalcMode::SIZES, true})},
                              {input});
  EXPECT_TRUE(has(text_of(model, {8, 0, 0}), "opset11"));
}

TEST(PrepareTest, InterpolateInABodyIsRewrittenToo) {
  const auto inner = std::make_shared<Parameter>(ov::element::f32, ov::Shape{1, 1, 3, 4});
  const auto small =
      std::make_shared<Result>(resized(inner, {"", Interpolate4::InterpolateMode::LINEAR_ONNX,
                                               Interpolate4::ShapeCalcMode::SCALES, true}));
  const auto body =
      std::make_shared<ov::Model>(ov::ResultVector{small}, ov::ParameterVector{inner});
  const auto input = picture();
  const auto loop = std::make_shared<ov::opset16::TensorIterator>();
  loop->set_body(body);
  loop->set_sliced_input(inner, input, 0, 1, 1, -1, 0);
  const auto output = loop->get_concatenated_slices(small, 0, 1, 1, -1, 0);
  const auto model = model_of({output}, {input});
  EXPECT_FALSE(has(text_of(model, kNoOpset11), "opset11"));
  expect_same_results(model, kNewCompiler, kNoOpset11);
}

TEST(PrepareTest, IdentityGoesForOldCompilers) {
  const auto input = picture();
  const auto identity = std::make_shared<ov::opset16::Identity>(input);
  const auto twice = std::make_shared<ov::opset16::Add>(identity, identity);
  const auto model = model_of({std::make_shared<ov::opset16::Identity>(twice)}, {input});
  EXPECT_FALSE(has(text_of(model, kNoIdentity), "Identity"));
  EXPECT_TRUE(has(text_of(model, {7, 27, 16}), "Identity"));
  expect_same_results(model, kNewCompiler, kNoIdentity);
}

TEST(PrepareTest, TheValueInFrontOfAnIdentityTakesItsNames) {
  const auto input = picture();
  const auto sum = std::make_shared<ov::opset16::Add>(input, input);
  const auto identity = std::make_shared<ov::opset16::Identity>(sum);
  sum->output(0).set_names({"sum"});
  identity->output(0).set_names({"same"});
  const auto model = model_of({identity}, {input});
  EXPECT_TRUE(has(text_of(model, kNoIdentity), "names=\"sum,same\""));
}

TEST(PrepareTest, FlagsNameTheLayerInFrontOfAnIdentity) {
  const auto input = picture();
  const auto sum = std::make_shared<ov::opset16::Add>(input, input);
  sum->set_friendly_name("sum");
  const auto identity = std::make_shared<ov::opset16::Identity>(sum);
  identity->set_friendly_name("same");
  const auto model = model_of({identity}, {input});
  EXPECT_EQ(flag_ports(model, kNoIdentity).outputs.at(0).name, "sum");
  EXPECT_EQ(flag_ports(model, kNewCompiler).outputs.at(0).name, "same");
}

TEST(PrepareTest, WeightlessMeansTheSameAsClassic) {
  const auto input = picture();
  const auto large = Constant::create(ov::element::f32, {1, 1, 3, 4},
                                      std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto sum = std::make_shared<ov::opset16::Add>(input, large);
  const auto small = Constant::create(ov::element::f32, {}, std::vector<float>{0.5F});
  const auto model = model_of({std::make_shared<ov::opset16::Multiply>(sum, small)}, {input});
  const std::map<std::string, test::Bytes> inputs{{"image", twelve_floats()}};
  const auto expected = test::run_with_openvino(model, inputs, kNewCompiler);
  for (const std::size_t threshold : {0, 5, 1000}) {
    EXPECT_EQ(test::run_weightless_with_openvino(model, inputs, kNewCompiler, threshold), expected)
        << threshold;
  }
}

}  // namespace
}  // namespace npu::ir::prepare_test

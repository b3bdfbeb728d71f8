#include <gtest/gtest.h>

#include <cstring>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset8.hpp>
#include <openvino/pass/serialize.hpp>

#include <npucore/error.hpp>

#include "ir/graph/bounds.hpp"

#include "ir_files.hpp"
#include "openvino_run.hpp"

namespace npu::reshape_test {
namespace {

using ov::opset8::Constant;
using ov::opset8::Parameter;

/// Mean over height and width of a 1x1 convolution of "image", plus "offset".
Model averages(const ov::PartialShape& image_shape) {
  const auto image = std::make_shared<Parameter>(ov::element::f32, image_shape);
  image->set_friendly_name("pixels");
  image->output(0).set_names({"image"});
  image->set_layout("NCHW");
  const auto offset = std::make_shared<Parameter>(ov::element::f32, ov::PartialShape{1, 2});
  offset->set_friendly_name("offset");
  offset->output(0).set_names({"offset"});
  const auto weights =
      Constant::create(ov::element::f32, {2, 3, 1, 1}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const auto mixed = std::make_shared<ov::opset8::Convolution>(
      image, weights, ov::Strides{1, 1}, ov::CoordinateDiff{0, 0}, ov::CoordinateDiff{0, 0},
      ov::Strides{1, 1});
  const auto axes = Constant::create(ov::element::i64, {2}, std::vector<std::int64_t>{2, 3});
  const auto mean = std::make_shared<ov::opset8::ReduceMean>(mixed, axes, false);
  const auto sum = std::make_shared<ov::opset8::Add>(mean, offset);
  const test::TempDir dir;
  const auto model = std::make_shared<ov::Model>(ov::OutputVector{sum, mixed},
                                                 ov::ParameterVector{image, offset}, "averages");
  ov::pass::Serialize(dir.path() / "model.xml", dir.path() / "model.bin").run_on_model(model);
  return Model::read(dir.path() / "model.xml");
}

test::Bytes zeros(std::size_t floats) {
  return test::Bytes(floats * sizeof(float));
}

TEST(ReshapeTest, GivesADynamicInputItsSize) {
  auto model = averages({1, 3, -1, -1});
  model.reshape({{"image", {1, 3, 4, 5}}});
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 3, 4, 5}));
  EXPECT_NO_THROW(model.check_supported());
}

TEST(ReshapeTest, TakesLayerNamesToo) {
  auto model = averages({1, 3, -1, -1});
  model.reshape({{"pixels", {1, 3, 4, 5}}});
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 3, 4, 5}));
}

TEST(ReshapeTest, OpenVinoInfersAllOtherShapesAnew) {
  auto model = averages({1, 3, -1, -1});
  model.reshape({{"image", {1, 3, 2, 2}}});
  test::Bytes ones;
  for (int i = 0; i < 12; ++i) ones.insert(ones.end(), {0, 0, 0x80, 0x3f});
  EXPECT_EQ(test::run_with_openvino(model, {{"image", ones}, {"offset", zeros(2)}}),
            (std::vector<double>{6, 15}));
}

TEST(ReshapeTest, AnotherSizeOfAStaticModelIsInferredAnewToo) {
  auto model = averages({1, 3, 8, 8});
  model.reshape({{"image", {1, 3, 1, 1}}});
  EXPECT_EQ(test::run_with_openvino(model, {{"image", zeros(3)}, {"offset", zeros(2)}}).size(), 2U);
}

TEST(ReshapeTest, InsideItsBoundsWhatWasStaticStaysKnown) {
  auto model = averages({ov::Dimension(1, 8), 3, -1, -1});
  model.reshape({{"image", {2, 3, 4, 5}}});
  EXPECT_EQ(model.outputs()[1].shape, (Shape{-1, 2, -1, -1}));
}

TEST(ReshapeTest, OtherwiseNothingBehindItIsKnown) {
  auto model = averages({1, 3, 8, 8});
  model.reshape({{"image", {1, 3, 4, 4}}});
  EXPECT_EQ(model.outputs()[1].shape, (Shape{-1, -1, -1, -1}));
}

TEST(ReshapeTest, TheSameShapeChangesNothing) {
  auto model = averages({1, 3, 8, 8});
  model.reshape({{"image", {1, 3, 8, 8}}});
  EXPECT_EQ(model.outputs()[1].shape, (Shape{1, 2, 8, 8}));
}

TEST(ReshapeTest, ACopyKeepsItsShape) {
  auto model = averages({1, 3, 8, 8});
  const auto copy = model;
  model.reshape({{"image", {1, 3, 4, 4}}});
  EXPECT_EQ(copy.inputs()[0].shape, (Shape{1, 3, 8, 8}));
}

TEST(ReshapeTest, BoundedDimensionsAreCompiledAtTheirBound) {
  const auto model = averages({1, 3, ov::Dimension(1, 2), ov::Dimension(1, 3)});
  EXPECT_NO_THROW(model.check_supported());
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 3, -1, -1}));
  EXPECT_EQ(test::run_with_openvino(model, {{"image", zeros(18)}, {"offset", zeros(2)}}).size(),
            2U);
}

TEST(ReshapeTest, FramesGoInAtTheNewSize) {
  auto model = averages({1, 3, -1, -1});
  model.reshape({{"image", {1, 3, 6, 4}}});
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  EXPECT_EQ(model.frame_input()->geometry.model_width, 4U);
  EXPECT_EQ(model.frame_input()->geometry.model_height, 6U);
  EXPECT_NO_THROW(model.check_supported());
}

TEST(ReshapeTest, FramesGoInAtTheBoundOfABoundedSize) {
  auto model = averages({1, 3, ov::Dimension(1, 6), ov::Dimension(1, 4)});
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  EXPECT_EQ(model.frame_input()->geometry.model_height, 6U);
  EXPECT_NO_THROW(model.check_supported());
}

struct Refused : Named {
  std::map<std::string, Shape> shapes;
  ErrorCode code;
  std::vector<std::string> expected;
};

class ReshapeRefusedTest : public testing::TestWithParam<Refused> {};

TEST_P(ReshapeRefusedTest, SaysWhyAndChangesNothing) {
  auto model = averages({1, 3, -1, -1});
  try {
    model.reshape(GetParam().shapes);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().code);
    for (const auto& part : GetParam().expected) {
      EXPECT_TRUE(has(error.what(), part));
    }
  }
  EXPECT_EQ(model.inputs()[0].shape, (Shape{1, 3, -1, -1}));
}

INSTANTIATE_TEST_SUITE_P(
    Table, ReshapeRefusedTest,
    testing::Values(Refused{"unknown_input",
                            {{"picture", {1, 3, 4, 4}}},
                            ErrorCode::kNotFound,
                            {"no input 'picture'", "'pixels' [1,3,?,?]", "'offset' [1,2]"}},
                    Refused{"other_rank",
                            {{"image", {3, 4, 4}}},
                            ErrorCode::kInvalidArgument,
                            {"input 'pixels'", "[3,4,4] has 3 dimensions", "has 4"}},
                    Refused{"still_dynamic",
                            {{"image", {1, 3, 4, -1}}},
                            ErrorCode::kInvalidArgument,
                            {"input 'pixels'", "dimension 3", "is -1"}},
                    Refused{"zero",
                            {{"image", {1, 3, 0, 4}}},
                            ErrorCode::kInvalidArgument,
                            {"dimension 2", "is 0"}},
                    Refused{"twice",
                            {{"image", {1, 3, 4, 4}}, {"pixels", {1, 3, 4, 4}}},
                            ErrorCode::kInvalidArgument,
                            {"'pixels' is named twice"}},
                    Refused{"the_other_one_is_wrong",
                            {{"image", {1, 3, 4, 4}}, {"offset", {0, 0}}},
                            ErrorCode::kInvalidArgument,
                            {"input 'offset'"}}),
    by_name);

TEST(ReshapeTest, FramesKeepTheirShape) {
  auto model = averages({1, 3, 4, 4});
  model.add_preprocess(model.default_preprocess(FrameLayout::tight(PixelFormat::kRGB, 8, 8)));
  EXPECT_TRUE(has(thrown_by([&] {
                    model.reshape({{model.inputs()[0].name, model.inputs()[0].shape}});
                  }),
                  "reshape before adding pre-processing"));
}

TEST(ReshapeTest, AnInputOfDynamicRankTakesAnyShape) {
  auto text = test::identity_ir("f32", {1, 3, 4, 4});
  text.replace(text.find("shape=\"1,3,4,4\""), 15, "shape=\"...\"");
  auto model = test::read_ir(text);
  model.reshape({{"image", {5, 6}}});
  EXPECT_EQ(model.inputs()[0].shape, (Shape{5, 6}));
  EXPECT_NO_THROW(model.check_supported());
}

TEST(BoundsTest, ReadsAllSpellings) {
  const auto bounds = ir::parse_bounds("3, ?,1..8,2..,..8");
  ASSERT_TRUE(bounds);
  ASSERT_EQ(bounds->size(), 5U);
  const std::vector<std::optional<std::int64_t>> most{3, {}, 8, {}, 8};
  const std::vector<std::int64_t> least{3, 0, 1, 2, 0};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ((*bounds)[i].most, most[i]) << i;
    EXPECT_EQ((*bounds)[i].least, least[i]) << i;
  }
}

}  // namespace
}  // namespace npu::reshape_test

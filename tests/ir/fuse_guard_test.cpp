#include <gtest/gtest.h>

#include <npucore/model.hpp>

#include "ir_files.hpp"

namespace npu {
namespace {

// BT.601 limited range as the compilers put it in, and BT.709 limited range.
const std::vector<float> kBt601{1.164F, 0, 1.596F, 1.164F, -.391F, -.813F, 1.164F, 2.018F, 0};
const std::vector<float> kBt601Bias{-222.912F, 135.488F, -276.928F};
const std::vector<float> kBt709{1.16438F,  0,        1.79274F, 1.16438F, -.213249F,
                                -.532909F, 1.16438F, 2.1124F,  0};
const std::vector<float> kBt709Bias{-248.101F, 76.878F, -289.018F};

/// A model with its own colour conversion, with room to spoil each part of it.
struct Conversion {
  std::vector<float> matrix = kBt709, bias = kBt709Bias;
  std::string limit_type = "Clamp", min = "0", max = "255";
  std::string convolution_type = "Convolution";
  std::string join_type = "Concat";
  std::string luma_type = "Reshape";
  std::string chroma_type = "Interpolate";
  bool swap_add = false;
  int limits = 1;
};

test::IrWriter write(const Conversion& conversion) {
  test::IrWriter ir;
  const auto y = ir.parameter("y", "u8", {1, 1, 1, 1}), uv = ir.parameter("uv", "u8", {1, 1, 1, 1});
  const auto floats = [&](const std::vector<float>& values) {
    return ir.constant("", values, {static_cast<int>(values.size())});
  };
  const auto order = floats({0});
  const auto luma = ir.layer("Convert", {ir.layer(conversion.luma_type, {y, order})});
  const auto planar = ir.layer("Transpose", {ir.layer("Convert", {uv}), order});
  const auto chroma = ir.layer(conversion.chroma_type, {planar, order});
  const auto joined = ir.layer(conversion.join_type, {luma, chroma});
  const auto color =
      ir.layer(conversion.convolution_type, {joined, floats(conversion.matrix)}, {.name = "csc"});
  const auto bias = floats(conversion.bias);
  const auto sum =
      conversion.swap_add ? ir.layer("Add", {bias, color}) : ir.layer("Add", {color, bias});
  for (int i = 1; i < conversion.limits; ++i) {
    ir.layer("Clamp", {sum}, {.data = "min=\"0\" max=\"1\""});
  }
  if (conversion.limit_type == "FakeQuantize") {
    const auto low = floats({std::stof(conversion.min)}),
               high = floats({std::stof(conversion.max)});
    ir.result(ir.layer("FakeQuantize", {sum, low, high, low, high}, {.data = "levels=\"256\""}));
  } else {
    ir.result(ir.layer(conversion.limit_type, {sum},
                       {.data = "min=\"" + conversion.min + "\" max=\"" + conversion.max + "\""}));
  }
  return ir;
}

std::vector<std::string> warnings_of(const Conversion& conversion) {
  const test::TempDir dir;
  return Model::read(write(conversion).write(dir.path(), "model")).warnings();
}

struct Row : Named {
  Conversion conversion;
};

class WarnsTest : public testing::TestWithParam<Row> {};
class SilentTest : public testing::TestWithParam<Row> {};

TEST_P(WarnsTest, NamesTheConvolutionAndTheCure) {
  const auto warnings = warnings_of(GetParam().conversion);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0], "'csc'"));
  EXPECT_TRUE(has(warnings[0], "BT.601"));
  EXPECT_TRUE(has(warnings[0], "let npucore convert"));
}

TEST(WarnsOnceTest, HoweverManyLimitOneConversion) {
  Conversion conversion;
  conversion.limits = 1000;
  EXPECT_EQ(warnings_of(conversion).size(), 1U);
}

TEST_P(SilentTest, SaysNothing) {
  EXPECT_EQ(warnings_of(GetParam().conversion), std::vector<std::string>{});
}

Conversion changed(void (*change)(Conversion&)) {
  Conversion conversion;
  change(conversion);
  return conversion;
}

void use_601(Conversion& c) {
  c.matrix = kBt601;
  c.bias = kBt601Bias;
}

INSTANTIATE_TEST_SUITE_P(
    Table, WarnsTest,
    testing::Values(
        Row{"bt709", {}}, Row{"bt709_to_one", changed([](Conversion& c) { c.max = "1"; })},
        Row{"fake_quantize", changed([](Conversion& c) { c.limit_type = "FakeQuantize"; })},
        Row{"convolution_on_the_right", changed([](Conversion& c) { c.swap_add = true; })},
        Row{"luma_by_transpose", changed([](Conversion& c) { c.luma_type = "Transpose"; })},
        Row{"bt601_with_another_bias", changed([](Conversion& c) {
              use_601(c);
              c.bias[1] += 8;
            })},
        Row{"bt601_with_one_other_weight", changed([](Conversion& c) {
              use_601(c);
              c.matrix[5] = -.6F;
            })},
        Row{"bt601_to_bgr", changed([](Conversion& c) {
              use_601(c);
              c.matrix = {1.164F, 2.018F, 0, 1.164F, -.391F, -.813F, 1.164F, 0, 1.596F};
              c.bias = {-276.928F, 135.488F, -222.912F};
            })}),
    by_name);

INSTANTIATE_TEST_SUITE_P(
    Table, SilentTest,
    testing::Values(
        Row{"bt601", changed(use_601)}, Row{"bt601_scaled", changed([](Conversion& c) {
                                              use_601(c);
                                              for (auto& value : c.matrix) value /= 255;
                                              for (auto& value : c.bias) value /= 255;
                                            })},
        Row{"another_range", changed([](Conversion& c) {
              c.min = "-16";
              c.max = "239";
            })},
        Row{"no_limit", changed([](Conversion& c) { c.limit_type = "ReLU"; })},
        Row{"no_convolution", changed([](Conversion& c) { c.convolution_type = "MatMul"; })},
        Row{"no_concat", changed([](Conversion& c) { c.join_type = "Add"; })},
        Row{"chroma_at_full_size", changed([](Conversion& c) { c.chroma_type = "ReLU"; })},
        Row{"more_weights", changed([](Conversion& c) { c.matrix.resize(18); })}),
    by_name);

TEST(OwnPreprocessingTest, IsNeverTakenForTheTrap) {
  const test::TempDir dir;
  const auto path = dir.write("model.xml", test::identity_ir("u8", {1, 3, 8, 8}));
  for (const auto format :
       {PixelFormat::kNV12, PixelFormat::kI420, PixelFormat::kNV21, PixelFormat::kYUY2,
        PixelFormat::kUYVY, PixelFormat::kP010, PixelFormat::kYV12, PixelFormat::kNV16}) {
    auto model = Model::read(path);
    auto preprocess = model.default_preprocess(FrameLayout::tight(format, 32, 18));
    preprocess.frame.matrix = ColorMatrix::kBT709;
    model.add_preprocess(preprocess);
    EXPECT_EQ(model.warnings(), std::vector<std::string>{}) << to_string(format);
  }
}

}  // namespace
}  // namespace npu

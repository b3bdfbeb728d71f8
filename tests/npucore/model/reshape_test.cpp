#include <gtest/gtest.h>

#include <npucore/compiled_model.hpp>

#include "support/tiny_ir.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

class Reshaped : public OnSoftwareNpu {
 protected:
  Model model(const std::string& xml) {
    write_file(folder_.path() / "model.bin", {"\x00\x00\x80\x3f", 4});
    write_file(folder_.path() / "model.xml", xml);
    return Model::read(folder_.path() / "model.xml");
  }
  TempDir folder_;
};

/// weighted_ir with this shape of its input; its constant is 1.
std::string with_input_shape(const std::string& shape) {
  return replaced(weighted_ir(4, 8), "shape=\"1,3,4,8\"", "shape=\"" + shape + "\"");
}

TEST_F(Reshaped, ADynamicModelRunsAtTheSizeItWasGiven) {
  auto dynamic = model(with_input_shape("1,3,?,?"));
  dynamic.reshape({{"image", {1, 3, 2, 5}}});
  const auto compiled = CompiledModel::compile(device_, dynamic);
  EXPECT_EQ(compiled.inputs()[0].shape, (Shape{1, 3, 2, 5}));
  auto request = compiled.create_request();
  auto* values = reinterpret_cast<float*>(request.input(0).data());
  for (int i = 0; i < 30; ++i) values[i] = static_cast<float>(i);
  request.infer();
  const auto* sums = reinterpret_cast<const float*>(request.output(0).data());
  for (int i = 0; i < 30; ++i) EXPECT_EQ(sums[i], static_cast<float>(i + 1));
}

TEST_F(Reshaped, OutputsAreUnknownInTheModelAndKnownOnceCompiled) {
  auto other = model(weighted_ir(4, 8));
  other.reshape({{"image", {1, 3, 6, 6}}});
  EXPECT_EQ(other.outputs()[0].shape, (Shape{-1, -1, -1, -1}));
  EXPECT_EQ(CompiledModel::compile(device_, other).outputs()[0].shape, (Shape{1, 3, 6, 6}));
}

TEST_F(Reshaped, AnUnsetDimensionIsNamedBeforeTheDriverSeesIt) {
  expect_error(ErrorCode::kUnsupported,
               "input 'image' has the dynamic dimension 2 (H) without a bound in its shape "
               "[1,3,?,8]",
               [&] { CompiledModel::compile(device_, model(dynamic_ir(8))); });
}

TEST_F(Reshaped, AModelThatAllowsNoOtherSizeIsTheCompilersError) {
  const std::int64_t pattern[] = {1, 96};
  IrWriter ir;
  const auto image = ir.parameter("image", "f32", {1, 3, 4, 8});
  const auto wanted =
      ir.constant("pattern", "i64", {2}, {reinterpret_cast<const char*>(pattern), sizeof pattern});
  ir.result(ir.layer("Reshape", {image, wanted},
                     {.data = "special_zero=\"false\"", .shape = IrShape{1, 96}}));
  auto fixed = Model::read(ir.write(folder_.path(), "fixed"));
  EXPECT_EQ(CompiledModel::compile(device_, fixed).outputs()[0].shape, (Shape{1, 96}));
  fixed.reshape({{"image", {1, 3, 5, 5}}});
  try {
    CompiledModel::compile(device_, fixed);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.driver_log(), "[1,3,5,5]"));
  }
}

}  // namespace
}  // namespace npu::test

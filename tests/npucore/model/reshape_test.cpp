#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include <npucore/compiled_model.hpp>

#include "support/tiny_ir.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

class Reshaped : public OnSoftwareNpu {
 protected:
  Model model(const std::string& xml, const std::string& weights = one()) {
    write_file(folder_.path() / "model.bin", weights);
    write_file(folder_.path() / "model.xml", xml);
    return Model::read(folder_.path() / "model.xml");
  }
  static std::string one() { return {"\x00\x00\x80\x3f", 4}; }
  TempDir folder_;
};

/// weighted_ir with this shape of its input; its constant is 1.
std::string with_input_shape(const std::string& shape) {
  auto xml = weighted_ir(4, 8);
  const std::string written = "shape=\"1,3,4,8\"";
  return xml.replace(xml.find(written), written.size(), "shape=\"" + shape + "\"");
}

/// Its Reshape wants 96 elements, whatever the input has.
std::string fixed_pattern_ir() {
  const std::string dims = "<dim>1</dim><dim>3</dim><dim>4</dim><dim>8</dim>";
  auto xml = weighted_ir(4, 8);
  const auto replace = [&](const std::string& from, const std::string& to) {
    xml.replace(xml.find(from), from.size(), to);
  };
  replace(R"(element_type="f32" shape="" offset="0" size="4")",
          R"(element_type="i64" shape="2" offset="0" size="16")");
  replace(R"(<port id="0" precision="FP32"/>)",
          R"(<port id="0" precision="I64"><dim>2</dim></port>)");
  replace(R"(name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>)",
          R"(name="flat" type="Reshape" version="opset1"><data special_zero="false"/>)");
  replace(R"(<port id="2" precision="FP32">)" + dims,
          R"(<port id="2" precision="FP32"><dim>1</dim><dim>96</dim>)");
  return xml;
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

TEST_F(Reshaped, BoundedDimensionsAreCompiledAtTheirBound) {
  const auto compiled = CompiledModel::compile(device_, model(with_input_shape("1,3,1..4,2..8")));
  EXPECT_EQ(compiled.inputs()[0].shape, (Shape{1, 3, 4, 8}));
  EXPECT_EQ(compiled.outputs()[0].shape, (Shape{1, 3, 4, 8}));
}

TEST_F(Reshaped, AnUnsetDimensionIsNamedBeforeTheDriverSeesIt) {
  expect_error(ErrorCode::kUnsupported,
               "input 'image' has the dynamic dimension 2 (H) without a bound in its shape "
               "[1,3,?,8]",
               [&] { CompiledModel::compile(device_, model(dynamic_ir(8))); });
}

TEST_F(Reshaped, AModelThatAllowsNoOtherSizeIsTheCompilersError) {
  const std::array<std::int64_t, 2> pattern{1, 96};
  std::string bytes(sizeof pattern, '\0');
  std::memcpy(bytes.data(), pattern.data(), sizeof pattern);
  auto fixed = model(fixed_pattern_ir(), bytes);
  EXPECT_EQ(CompiledModel::compile(device_, fixed).outputs()[0].shape, (Shape{1, 96}));
  fixed.reshape({{"image", {1, 3, 5, 5}}});
  try {
    CompiledModel::compile(device_, fixed);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(error.driver_log().find("[1,3,5,5]"), std::string::npos) << error.driver_log();
  }
}

}  // namespace
}  // namespace npu::test

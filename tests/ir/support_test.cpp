#include <gtest/gtest.h>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir_files.hpp"

namespace npu {
namespace {

struct Unsupported : Named {
  std::string text;
  std::vector<std::string> expected;
};

std::string two_layers(const std::string& type, const std::vector<int>& in,
                       const std::vector<int>& out, const std::string& operation,
                       const std::string& output_type = "f32") {
  test::IrWriter ir;
  ir.result(ir.layer(operation, {ir.parameter("data", type, in)},
                     {.name = "middle", .type = output_type, .shape = out, .opset = "opset3"}));
  return ir.xml();
}

class UnsupportedTest : public testing::TestWithParam<Unsupported> {};

TEST_P(UnsupportedTest, NamesWhatItIs) {
  const auto model = test::read_ir(GetParam().text);
  try {
    model.check_supported();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    for (const auto& part : GetParam().expected) {
      EXPECT_TRUE(has(error.what(), part));
    }
  }
}

std::string dynamic_rank() {
  auto text = test::identity_ir("f32", {1, 3, 4, 4});
  return text.replace(text.find("shape=\"1,3,4,4\""), 15, "shape=\"...\"");
}

INSTANTIATE_TEST_SUITE_P(
    Table, UnsupportedTest,
    testing::Values(
        Unsupported{"dynamic_batch",
                    test::identity_ir("f32", {-1, 3, 4, 4}),
                    {"input 'picture'", "dynamic dimension 0 without a bound", "[?,3,4,4]",
                     "reshape the model to one"}},
        Unsupported{"dynamic_width_of_a_layout",
                    test::identity_ir("f32", {1, 3, 4, -1}, "[N,C,H,W]"),
                    {"input 'picture'", "dynamic dimension 3 (W)"}},
        Unsupported{"dynamic_rank", dynamic_rank(), {"input 'picture'", "dynamic rank"}},
        Unsupported{"string_input",
                    two_layers("string", {2}, {2}, "StringTensorUnpack"),
                    {"input 'data'", "element type string"}},
        Unsupported{"string_output",
                    two_layers("f32", {2}, {2}, "StringTensorPack", "string"),
                    {"output 'middle'", "element type string"}},
        Unsupported{"unknown_type",
                    two_layers("f7", {2}, {2}, "ReLU"),
                    {"input 'data'", "an element type that npucore does not know"}},
        Unsupported{"no_elements",
                    test::identity_ir("f32", {1, 0, 4, 4}),
                    {"input 'picture'", "has no elements"}},
        Unsupported{"nine_dimensions",
                    test::identity_ir("f32", {1, 1, 1, 1, 1, 1, 1, 1, 1}),
                    {"input 'picture'", "9 dimensions"}},
        Unsupported{"size_by_value",
                    two_layers("f32", {2}, {1, -1}, "NonZero", "i64"),
                    {"layer 'middle' (NonZero, id 1)", "dimension 1", "only known at run time"}}),
    by_name);

/// A Range up to a number of type `source`, added to the input: a converter that has not computed
/// that number writes -1 behind it.
std::string range_up_to(const std::string& source) {
  test::IrWriter ir;
  const auto data = ir.parameter("data", "f32", {4});
  const auto size = ir.layer(source, {data}, {.type = "i64", .shape = test::IrShape{1}});
  const auto number = ir.layer("Convert", {size}, {.type = "f32", .shape = test::IrShape{}});
  const auto range =
      ir.layer("Range", {number, number, number}, {.shape = test::IrShape{-1}, .opset = "opset4"});
  ir.result(ir.layer("Add", {data, range}, {.shape = test::IrShape{-1}}));
  return ir.xml();
}

TEST(SupportTest, AcceptsSizesThatOnlyTheCompilerComputes) {
  const test::TempDir dir;
  EXPECT_NO_THROW(Model::read(dir.write("a.xml", range_up_to("ShapeOf"))).check_supported());
  EXPECT_THROW(Model::read(dir.write("b.xml", range_up_to("ReduceSum"))).check_supported(), Error);
}

TEST(SupportTest, AcceptsWhatIsStatic) {
  const auto model = test::read_ir(test::identity_ir("f32", {1, 3, 4, 4}));
  EXPECT_NO_THROW(model.check_supported());
}

}  // namespace
}  // namespace npu

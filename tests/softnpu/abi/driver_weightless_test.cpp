// Constants without elements, through the loader: copied and by address.
#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

// Where the bytes of a constant are: copied into the text, absent, or in place in the weights.
enum class Bytes { kCopied, kNone, kInPlace };

const float kFactor = 2;
constexpr char kOneByte = 0;

// y = 2 * x, whose factor of shape [1] is made a scalar by a target shape without elements: the
// constant has one byte all the same, as OpenVINO writes it.
IrWriter scalar_ir(Bytes factor, Bytes no_dimensions) {
  IrWriter ir("scalar");
  const auto x = ir.parameter("x", "f32", {1, 4});
  const auto two = factor == Bytes::kCopied
                       ? ir.constant("factor", std::vector{kFactor}, {1})
                       : ir.constant_in_place("factor", "f32", {1}, &kFactor, sizeof kFactor);
  const auto none =
      no_dimensions == Bytes::kInPlace
          ? ir.constant_in_place("no_dimensions", "i64", {0}, &kOneByte, 1)
          : ir.constant("no_dimensions", "i64", {0},
                        std::string_view(&kOneByte, no_dimensions == Bytes::kCopied ? 1 : 0));
  const auto scalar = ir.layer("Reshape", {two, none},
                               {.data = "special_zero=\"false\"", .shape = IrWriter::Shape{}});
  ir.result(ir.binary("Multiply", x, scalar, "product"), "y");
  return ir;
}

class EmptyConstant : public Driver {
 protected:
  // The results of the graph, and of what its native binary makes.
  void expect_twice(const std::string& buffer, const char* flags) {
    const std::vector<float> twice = {20, 40, 60, 80};
    Graph graph;
    ASSERT_EQ(client_.compile_ir(buffer, graph, flags), ZE_RESULT_SUCCESS) << client_.log;
    EXPECT_EQ(client_.run(graph), twice);
    const std::string binary(client_.binary_in_place(graph));
    graph = Graph();
    EXPECT_EQ(client_.run(client_.load(binary)), twice);
  }
};

TEST_F(EmptyConstant, CompilesFromAClassicBuffer) {
  expect_twice(buffer_of(scalar_ir(Bytes::kCopied, Bytes::kCopied)), "");
}

TEST_F(EmptyConstant, CompilesFromAClassicBufferWithoutItsByte) {
  expect_twice(buffer_of(scalar_ir(Bytes::kCopied, Bytes::kNone)), "");
}

TEST_F(EmptyConstant, CompilesByAddress) {
  const IrWriter ir = scalar_ir(Bytes::kInPlace, Bytes::kInPlace);
  expect_twice(weightless_buffer(kCompiler, ir.xml()), kByAddress);
}

TEST_F(EmptyConstant, MayBeTheOnlyConstant) {
  IrWriter ir;
  const auto factor = ir.parameter("factor", "f32", {1});
  const auto none = ir.constant_in_place("no_dimensions", "i64", {0}, &kOneByte, 1);
  ir.result(ir.layer("Reshape", {factor, none},
                     {.data = "special_zero=\"false\"", .shape = IrWriter::Shape{}}));
  Graph graph;
  EXPECT_EQ(client_.compile_ir(weightless_buffer(kCompiler, ir.xml()), graph, kByAddress),
            ZE_RESULT_SUCCESS)
      << client_.log;
}

}  // namespace
}  // namespace softnpu_test

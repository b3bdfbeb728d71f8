// Inputs and outputs by name, and their elements as spans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test::typed_tensor_test {
namespace {

class TypedTensors : public OnSoftwareNpu {
 protected:
  CompiledModel compile(const Model& model, const std::string& properties = {}) {
    CompileOptions options;
    options.properties = Properties::parse(properties);
    return CompiledModel::compile(device_, model, options);
  }
  CompiledModel affine_model(const std::string& properties = {}) {
    return compile(Model::read(write_affine_model(folder_.path())), properties);
  }
  TempDir folder_;
};

TEST_F(TypedTensors, AreFoundByNameAndTensorName) {
  Request request = affine_model().create_request();
  const std::span<float> input = request.input("x").as<float>();
  ASSERT_EQ(input.size(), kAffineElements);
  std::fill(input.begin(), input.end(), 3.F);
  request.infer();
  const std::span<const float> output = request.output("y").as<const float>();
  ASSERT_EQ(output.size(), kAffineElements);
  EXPECT_EQ(output[kAffineElements - 1], affine(3));
  EXPECT_EQ(request.input("input").data(), request.input(0).data());
  EXPECT_EQ(request.output("positive").data(), request.output(0).data());
  EXPECT_EQ(request.output(0).type(), ElementType::kF32);
}

TEST_F(TypedTensors, OfUnknownNamesAreRefusedWithTheNamesThatThereAre) {
  Request request = affine_model().create_request();
  const Tensor tensor = Tensor::allocate(device_, kAffineElements * 4, MemoryUse::kOutput);
  const auto expect = [](const std::string& words, const auto& call) {
    expect_error(ErrorCode::kNotFound, words, call);
  };
  expect("no input is called 'z'; there are: input, x", [&] { request.input("z"); });
  expect("no output is called 'x'; there are: positive, y", [&] { request.output("x"); });
  expect("no input is called 'y'", [&] { request.set_input("y", tensor); });
  expect("no output is called 'x'", [&] { request.set_output("x", tensor); });
}

TEST_F(TypedTensors, AreBoundByName) {
  Request request = affine_model().create_request();
  const Tensor input = Tensor::allocate(device_, kAffineElements * 4, MemoryUse::kInput);
  const Tensor output = Tensor::allocate(device_, kAffineElements * 4, MemoryUse::kOutput);
  std::ranges::fill(input.as<float>(), 5.F);
  request.set_input("x", input);
  request.set_output("positive", output);
  request.infer();
  EXPECT_EQ(output.as<float>()[7], affine(5));
}

TEST_F(TypedTensors, OfAnotherTypeAreRefusedWithBothTypes) {
  Request request = affine_model().create_request();
  const Tensor output = request.output("y");
  expect_error(ErrorCode::kInvalidArgument,
               "a tensor of 192 bytes, elements of f32, is no span of f16 (2 bytes each)",
               [&] { (void)output.as<Half>(); });
  expect_error(ErrorCode::kInvalidArgument, "elements of f32, is no span of i32 (4 bytes each)",
               [&] { (void)output.as<std::int32_t>(); });
}

/// A tensor of the application's is as long as it likes; the rest of it is no element.
TEST_F(TypedTensors, EndWithTheirPort) {
  Request request = affine_model().create_request();
  const Tensor large = Tensor::allocate(device_, 3 * kAffineElements * 4, MemoryUse::kOutput);
  request.set_output("y", large.slice(64, 2 * kAffineElements * 4));
  EXPECT_EQ(request.output("y").as<float>().size(), kAffineElements);
  EXPECT_EQ(request.output("y").data(), large.data() + 64);
}

TEST_F(TypedTensors, OfABatchHaveAllItsItems) {
  Request request = affine_model().create_request(3);
  EXPECT_EQ(request.input("x").as<float>().size(), 3 * kAffineElements);
  EXPECT_EQ(request.output("y").as<float>().size(), 3 * kAffineElements);
}

TEST_F(TypedTensors, WithStridesAreRefused) {
  constexpr std::size_t kStrides[] = {3 * 4 * 8 * 4, 4 * 8 * 4, 8 * 4, 4};
  Request request = affine_model("NPU_ENABLE_STRIDES_FOR=x").create_request();
  request.set_input("x", Tensor::allocate(device_, kStrides[0], MemoryUse::kInput), kStrides);
  expect_error(ErrorCode::kInvalidArgument, "of 384 bytes, elements of f32, is no span of f32",
               [&] { (void)request.input("x").as<float>(); });
  expect_error(ErrorCode::kInvalidArgument, "it has strides",
               [&] { (void)request.input("x").slice(0, 64).as<float>(); });
}

TEST_F(TypedTensors, OfHostMemoryAreItsOwn) {
  Request request = affine_model().create_request();
  const std::unique_ptr<void, void (*)(void*)> page(std::aligned_alloc(4096, 4096), std::free);
  request.set_output(0, HostMemory{page.get(), 4096});
  request.infer();
  EXPECT_EQ(request.output("y").as<float>().size(), kAffineElements);
  EXPECT_EQ(static_cast<void*>(request.output("y").data()), page.get());
}

TEST_F(TypedTensors, OfBytesAreWhateverFits) {
  const Tensor bytes = Tensor::allocate(device_, 10, MemoryUse::kInput);
  EXPECT_EQ(bytes.type(), ElementType::kUnknown);
  EXPECT_EQ(bytes.as<std::uint8_t>().size(), 10U);
  EXPECT_EQ(bytes.as<Half>().size(), 5U);
  EXPECT_EQ(bytes.slice(4, 4).as<float>().size(), 1U);
  expect_error(ErrorCode::kInvalidArgument,
               "a tensor of 10 bytes, of no type, is no span of f32 (4 bytes each): its end cuts",
               [&] { (void)bytes.as<float>(); });
  expect_error(ErrorCode::kInvalidArgument, "its address is no multiple",
               [&] { (void)bytes.slice(2, 4).as<float>(); });
  EXPECT_TRUE(Tensor().as<float>().empty());
}

TEST_F(TypedTensors, OfStatesHaveTheirType) {
  Request request = compile(Model::read(write_sum_model(folder_.path()))).create_request();
  std::ranges::fill(request.input("x").as<float>(), 1.F);
  request.infer();
  State sum = request.states().at(0);
  EXPECT_EQ(sum.get().as<float>()[3], 41.F);
  sum.set(Tensor::allocate(device_, 4096, MemoryUse::kOutput));
  EXPECT_EQ(sum.get().as<float>().size(), 4U);
  EXPECT_THROW((void)sum.get().as<double>(), Error);
}

TEST_F(TypedTensors, OfHalfPrecisionAreConverted) {
  IrWriter ir("halves");
  const auto x = ir.parameter("x", "f16", {1, 4});
  ir.result(ir.binary("Add", x, x, "y"));
  Request request = compile(Model::read(ir.write(folder_.path(), "halves"))).create_request();
  const std::vector<float> values{0.5F, -2, 1000, 0.1F};
  convert(values, request.input("x").as<Half>());
  request.infer();
  std::vector<float> results(4);
  convert(request.output("y").as<const Half>(), results);
  EXPECT_EQ(results[0], 1);
  EXPECT_EQ(results[1], -4);
  EXPECT_EQ(results[2], 2000);
  EXPECT_NEAR(results[3], 0.2, 1e-4);
}

}  // namespace
}  // namespace npu::test::typed_tensor_test

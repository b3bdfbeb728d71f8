// Models with variables. The reference is what OpenVINO's CPU plugin defines: sum = sum + input.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test {
namespace {

using Values = std::array<float, 4>;

Values values_of(const Tensor& tensor) {
  Values values;
  std::memcpy(values.data(), tensor.data(), sizeof(values));
  return values;
}

class States : public OnSoftwareNpu {
 protected:
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_sum_model(folder_.path())));
  }
  static Values step(Request& request, const Values& input) {
    std::memcpy(request.input(0).data(), input.data(), sizeof(input));
    request.infer();
    return values_of(request.output(0));
  }
  TempDir folder_;
};

TEST_F(States, AreNeitherInputsNorOutputs) {
  const CompiledModel sum = model();
  EXPECT_EQ(sum.inputs().size(), 1u);
  EXPECT_EQ(sum.outputs().size(), 1u);
  Request request = sum.create_request();
  const auto states = request.states();
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(states[0].name(), "sum");
  EXPECT_EQ(states[0].type(), ElementType::kF32);
  EXPECT_EQ(states[0].shape(), (Shape{1, 4}));
  EXPECT_EQ(states[0].size_bytes(), 16u);
}

/// The next value of the state is computed behind the part.
TEST_F(States, KeepTheirValueInAPartOfAModel) {
  IrWriter ir("parts");
  const auto x =
      ir.layer("ReLU", {ir.parameter("input", "f32", {1, 4}, "", "x")}, {.name = "first"});
  const auto begin = ir.constant("begin", std::vector<float>{10, 20, 30, 40}, {1, 4});
  const auto sum = ir.binary("Add", ir.read_value("sum", "f32", {1, 4}, {begin}), x, "add");
  const auto next = ir.layer("ReLU", {sum}, {.name = "next"});
  ir.assign("sum", next);
  ir.result(next, "result");
  const Model whole = Model::read(ir.write(folder_.path(), "parts"));
  const std::array<Values, 3> second_answers = {Values{1, 2, 3, 4}, Values{11, 22, 33, 44},
                                                Values{12, 24, 36, 48}};
  for (std::size_t count = 1; count <= 3; ++count) {
    Model part = whole;
    part.keep_first(count);
    Request request = CompiledModel::compile(device_, part).create_request();
    step(request, {1, 2, 3, 4});
    EXPECT_EQ(step(request, {1, 2, 3, 4}), second_answers[count - 1]) << count;
  }
}

TEST_F(States, AreKeptFromInferenceToInference) {
  Request request = model().create_request();
  const Values begin = values_of(request.states()[0].get());
  for (float steps = 1; steps <= 5; ++steps) {
    const Values sum = step(request, {1, 2, 3, 4});
    for (std::size_t i = 0; i < sum.size(); ++i) {
      EXPECT_EQ(sum[i], begin[i] + steps * static_cast<float>(i + 1));
    }
    EXPECT_EQ(values_of(request.states()[0].get()), sum);
  }
}

TEST_F(States, BeginWithTheModelsInitialValues) {
  const CompiledModel sum = model();
  Request request = sum.create_request();
  EXPECT_EQ(values_of(request.states()[0].get()), (Values{10, 20, 30, 40}));
  EXPECT_EQ(step(request, {1, 2, 3, 4}), (Values{11, 22, 33, 44}));
  const auto blob = folder_.path() / "sum.blob";
  sum.export_blob(blob);
  Request imported = CompiledModel::import(device_, blob).create_request();
  EXPECT_EQ(step(imported, {1, 2, 3, 4}), (Values{11, 22, 33, 44}));
}

TEST_F(States, OfOneSizeBeginEachWithItsOwnValues) {
  const std::pair<std::string, Values> begin[] = {
      {"one", {1, 2, 3, 4}}, {"two", {5, 6, 7, 8}}, {"three", {9, 10, 11, 12}}};
  IrWriter ir;
  const auto x = ir.parameter("x", "f32", {1, 4});
  for (const auto& [id, values] : begin) {
    const auto initial = ir.constant(id + "/begin", {values.begin(), values.end()}, {1, 4});
    const auto sum = ir.binary("Add", ir.read_value(id, "f32", {1, 4}, {initial}), x);
    ir.assign(id, sum);
    ir.result(sum, id + "/now");
  }
  const auto model = Model::read(ir.write(folder_.path(), "three"));
  Request request = CompiledModel::compile(device_, model).create_request();
  std::map<std::string, Values> found;
  for (const State& state : request.states()) found[state.name()] = values_of(state.get());
  EXPECT_EQ(found, (std::map<std::string, Values>(std::begin(begin), std::end(begin))));
}

TEST_F(States, BelongToTheirRequest) {
  const CompiledModel sum = model();
  Request first = sum.create_request();
  Request second = sum.create_request();
  const Values once = step(first, {1, 1, 1, 1});
  step(first, {1, 1, 1, 1});
  EXPECT_EQ(step(second, {1, 1, 1, 1}), once);
}

TEST_F(States, CanBeSetAndReset) {
  Request request = model().create_request();
  State state = request.states()[0];
  const Values begin = values_of(state.get());
  const Values own = {100, 200, 300, 400};
  state.set(std::as_bytes(std::span(own)));
  EXPECT_EQ(step(request, {1, 1, 1, 1}), (Values{101, 201, 301, 401}));
  state.reset();
  EXPECT_EQ(values_of(state.get()), begin);
  expect_error(ErrorCode::kInvalidArgument, "has 16 bytes",
               [&] { state.set(std::as_bytes(std::span(own).first(3))); });
}

TEST_F(States, CanLiveInATensorOfTheCaller) {
  Request request = model().create_request();
  State state = request.states()[0];
  const Tensor memory = Tensor::allocate(device_, 16, MemoryUse::kOutput);
  std::memset(memory.data(), 0, 16);
  state.set(memory);
  EXPECT_EQ(state.get().data(), memory.data());
  step(request, {1, 2, 3, 4});
  step(request, {1, 2, 3, 4});
  EXPECT_EQ(values_of(memory), (Values{2, 4, 6, 8}));
  EXPECT_EQ(request.copies(), 0u);
  const Tensor small = Tensor::allocate(device_, 8, MemoryUse::kOutput);
  expect_error(ErrorCode::kInvalidArgument, "has 8 bytes", [&] { state.set(small); });
}

TEST_F(States, BeginAgainAfterALostDevice) {
  Request request = model().create_request();
  const Values begin = values_of(request.states()[0].get());
  step(request, {5, 5, 5, 5});
  set_fault("zeFenceHostSynchronize:DEVICE_LOST@1");
  expect_error(ErrorCode::kDeviceLost, "is lost", [&] { request.infer(); });
  set_fault("");
  const Values sum = step(request, {1, 1, 1, 1});
  EXPECT_EQ(sum[0], begin[0] + 1);
}

TEST_F(States, HaveNoBatch) {
  expect_error(ErrorCode::kUnsupported, "has states", [&] { model().create_request(2); });
}

}  // namespace
}  // namespace npu::test

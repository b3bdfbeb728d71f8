#include "ir/states.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <openvino/op/util/variable.hpp>
#include <openvino/openvino.hpp>
#include <openvino/opsets/opset3.hpp>
#include <openvino/opsets/opset8.hpp>
#include <openvino/pass/serialize.hpp>

#include <npucore/error.hpp>

#include "ir_files.hpp"

namespace npu::ir::states_test {
namespace {

using ov::opset8::Constant;
using Variable = ov::op::util::Variable;

constexpr std::size_t kElements = 3;

ov::Output<ov::Node> numbers(const ov::element::Type& type, const std::vector<float>& values) {
  return Constant::create(type, {values.size()}, values)->output(0);
}

/// Writes a model with one state "sum" of three f32 whose first value is `initial`.
std::filesystem::path write_model(const test::TempDir& dir, const ov::Output<ov::Node>& initial,
                                  const ov::ParameterVector& more_inputs = {}) {
  const auto input =
      std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{kElements});
  const auto variable = std::make_shared<Variable>(
      ov::op::util::VariableInfo{ov::Shape{kElements}, ov::element::f32, "sum"});
  const auto read = std::make_shared<ov::opset8::ReadValue>(initial, variable);
  const auto sum = std::make_shared<ov::opset8::Add>(read, input);
  const auto assign = std::make_shared<ov::opset8::Assign>(sum, variable);
  auto inputs = more_inputs;
  inputs.push_back(input);
  const auto model =
      std::make_shared<ov::Model>(ov::OutputVector{sum}, ov::SinkVector{assign}, inputs, "made");
  ov::pass::Serialize(dir.path() / "model.xml", dir.path() / "model.bin").run_on_model(model);
  return dir.path() / "model.xml";
}

std::vector<StateValue> states_of(const ov::Output<ov::Node>& initial,
                                  const ov::ParameterVector& more_inputs = {}) {
  const test::TempDir dir;
  return initial_states(Model::read(write_model(dir, initial, more_inputs)));
}

ov::Output<ov::Node> broadcast(float number) {
  const auto shape = Constant::create(ov::element::i64, {1}, std::vector<std::int64_t>{kElements});
  return std::make_shared<ov::opset8::Broadcast>(
      Constant::create(ov::element::f32, {}, std::vector<float>{number}), shape);
}

std::vector<float> floats(const StateValue& state) {
  std::vector<float> values(state.initial.size() / sizeof(float));
  std::memcpy(values.data(), state.initial.data(), state.initial.size());
  return values;
}

TEST(StatesTest, AModelWithoutStatesHasNone) {
  const test::TempDir dir;
  EXPECT_TRUE(
      initial_states(Model::read(dir.write("model.xml", test::identity_ir("f32", {1})))).empty());
}

TEST(StatesTest, AConstantIsTheInitialValue) {
  const auto states = states_of(numbers(ov::element::f32, {1, 2, 3}));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].id, "sum");
  EXPECT_EQ(floats(states[0]), (std::vector<float>{1, 2, 3}));
}

TEST(StatesTest, ZerosNeedNoBytes) {
  const auto states = states_of(numbers(ov::element::f32, {0, 0, 0}));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_TRUE(states[0].initial.empty());
}

TEST(StatesTest, CompressedConstantsAreConverted) {
  const auto halves = numbers(ov::element::f16, {0.5, -2, 65504});
  const auto convert = std::make_shared<ov::opset8::Convert>(halves, ov::element::f32);
  EXPECT_EQ(floats(states_of(convert).at(0)), (std::vector<float>{0.5, -2, 65504}));
}

TEST(StatesTest, OneNumberIsBroadcast) {
  EXPECT_EQ(floats(states_of(broadcast(7)).at(0)), (std::vector<float>{7, 7, 7}));
}

TEST(StatesTest, ADimensionDoesNotFillTheMemory) {
  const test::TempDir dir;
  std::ifstream file(write_model(dir, broadcast(7)));
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (std::size_t at = 0; (at = text.find("<dim>3</dim>", at)) != std::string::npos;) {
    text.replace(at, 12, "<dim>536870912</dim>");
  }
  const auto model = Model::read(dir.write("model.xml", text));
  EXPECT_TRUE(
      has(thrown_by([&] { initial_states(model); }), "more than 1073741824 bytes together"));
}

/// A large one that many states are made of keeps nothing where it does not fit, but each is made.
TEST(StatesTest, ManyOfOneLargeBroadcastAreRefused) {
  test::IrWriter ir;
  const auto broadcast = [&](const test::IrValue& value, const test::IrValue& shape, int size) {
    return ir.layer("Broadcast", {value, shape},
                    {.type = "f32", .shape = test::IrShape{size}, .opset = "opset3"});
  };
  const auto one = ir.constant("one", std::vector{1.0F}, {1});
  const auto large = broadcast(one, one, 1 << 24);
  for (int i = 0; i < 20; ++i) {
    const auto state = ir.read_value(std::to_string(i), "f32", {2}, {broadcast(large, one, 2)});
    if (i == 0) {
      ir.result(state);
    }
  }
  const test::TempDir dir;
  EXPECT_THROW(initial_states(Model::read(ir.write(dir.path(), "model"))), Error);
}

TEST(StatesTest, WhatAnInputDecidesIsNotKnown) {
  const auto first =
      std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{kElements});
  const auto states = states_of(first, {first});
  ASSERT_EQ(states.size(), 1U);
  EXPECT_TRUE(states[0].initial.empty());
}

TEST(StatesTest, TheOlderReadValueIsReadToo) {
  const auto input =
      std::make_shared<ov::opset3::Parameter>(ov::element::f32, ov::Shape{kElements});
  const auto read =
      std::make_shared<ov::opset3::ReadValue>(numbers(ov::element::f32, {4, 5, 6}), "old");
  const auto sum = std::make_shared<ov::opset3::Add>(read, input);
  const auto assign = std::make_shared<ov::opset3::Assign>(sum, "old");
  const auto model = std::make_shared<ov::Model>(ov::OutputVector{sum}, ov::SinkVector{assign},
                                                 ov::ParameterVector{input}, "made");
  const test::TempDir dir;
  ov::pass::Serialize(dir.path() / "model.xml", dir.path() / "model.bin").run_on_model(model);
  const auto states = initial_states(Model::read(dir.path() / "model.xml"));
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].id, "old");
  EXPECT_EQ(floats(states[0]), (std::vector<float>{4, 5, 6}));
}

}  // namespace
}  // namespace npu::ir::states_test

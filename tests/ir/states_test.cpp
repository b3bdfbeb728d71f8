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

namespace npu::ir {
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
  try {
    initial_states(model);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("more than 1073741824 bytes together"),
              std::string::npos)
        << error.what();
  }
}

/// They keep nothing, but each is read.
TEST(StatesTest, ManyOfOneLargeConstantOfZerosAreRefused) {
  constexpr std::size_t kBytes = std::size_t{64} << 20, kStates = 64;
  const std::string port = "precision=\"FP32\"><dim>16777216</dim></port>";
  std::string layers =
      "<layer id=\"0\" name=\"zeros\" type=\"Const\" version=\"opset1\"><data "
      "element_type=\"f32\" shape=\"16777216\" offset=\"0\" size=\"67108864\"/><output><port "
      "id=\"0\" " +
      port + "</output></layer>\n";
  std::string edges;
  for (std::size_t i = 1; i <= kStates; ++i) {
    const auto id = std::to_string(i);
    layers += "<layer id=\"" + id + "\" name=\"s" + id +
              "\" type=\"ReadValue\" version=\"opset6\"><data variable_id=\"v" + id +
              "\" variable_type=\"f32\" variable_shape=\"16777216\"/><input><port id=\"0\" " +
              port + "</input><output><port id=\"1\" " + port + "</output></layer>\n";
    edges += "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"" + id + "\" to-port=\"0\"/>\n";
  }
  const auto result = std::to_string(kStates + 1);
  layers += "<layer id=\"" + result +
            "\" name=\"out\" type=\"Result\" version=\"opset1\"><input><port id=\"0\" " + port +
            "</input></layer>\n";
  edges += "<edge from-layer=\"1\" from-port=\"1\" to-layer=\"" + result + "\" to-port=\"0\"/>\n";
  const test::TempDir dir;
  dir.write("model.bin", "");
  std::filesystem::resize_file(dir.path() / "model.bin", kBytes);
  const auto model =
      Model::read(dir.write("model.xml", "<net name=\"n\" version=\"11\"><layers>\n" + layers +
                                             "</layers><edges>\n" + edges + "</edges></net>\n"));
  EXPECT_THROW(initial_states(model), Error);
}

std::string state_layer(std::size_t id, const std::string& type, std::size_t size,
                        std::size_t inputs, const std::string& data = {}) {
  const auto number = std::to_string(id);
  std::string text = "<layer id=\"" + number + "\" name=\"l" + number + "\" type=\"" + type +
                     "\" version=\"opset6\"><data " + data + "/>";
  for (std::size_t i = 0; i < inputs; ++i) {
    text += (i == 0 ? "<input><port id=\"" : "<port id=\"") + std::to_string(i) + "\"/>";
  }
  return text + (inputs > 0 ? "</input>" : "") + "<output><port id=\"9\" precision=\"FP32\"><dim>" +
         std::to_string(size) + "</dim></port></output></layer>\n";
}

/// A large one that many states are made of keeps nothing where it does not fit, but each is made.
TEST(StatesTest, ManyOfOneLargeBroadcastAreRefused) {
  constexpr std::size_t kLarge = std::size_t{1} << 24, kStates = 20;
  const auto edge = [](auto from, auto to, auto port) {
    return test::edge(static_cast<int>(from), 9, static_cast<int>(to), port);
  };
  std::string layers =
      state_layer(0, "Const", 1, 0, R"(element_type="f32" shape="1" offset="0" size="4")") +
      state_layer(1, "Broadcast", kLarge, 2);
  std::string edges = edge(0, 1, 0) + edge(0, 1, 1);
  for (std::size_t i = 2; i < 2 + 2 * kStates; i += 2) {
    layers += state_layer(i, "Broadcast", 2, 2) +
              state_layer(i + 1, "ReadValue", 2, 1, "variable_id=\"v" + std::to_string(i) + "\"");
    edges += edge(1, i, 0) + edge(0, i, 1) + edge(i, i + 1, 0);
  }
  layers += test::result_layer(1000, "out", {2});
  edges += edge(3, 1000, 0);
  const test::TempDir dir;
  dir.write("model.bin", "nonzero");
  const auto model = Model::read(dir.write("model.xml", test::net(layers, edges)));
  EXPECT_THROW(initial_states(model), Error);
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
}  // namespace npu::ir

#include "ir/graph/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <npucore/error.hpp>

#include "ir_files.hpp"

namespace npu {
namespace {

std::string layer(int id, const std::string& name, const std::string& type, int inputs,
                  int outputs) {
  std::string text = "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" +
                     type + "\" version=\"opset1\"><input>";
  for (int port = 0; port < inputs; ++port) {
    text += "<port id=\"" + std::to_string(port) + "\">" + test::dims({1, 2}) + "</port>";
  }
  text += "</input><output>";
  for (int port = inputs; port < inputs + outputs; ++port) {
    text += "<port id=\"" + std::to_string(port) + "\" precision=\"FP32\">" + test::dims({1, 2}) +
            "</port>";
  }
  return text + "</output></layer>\n";
}

/// In the file the last comes first. of_constants does not depend on the input.
Model mixed_up() {
  const test::TempDir dir;
  const auto layers = test::result_layer(0, "out", {1, 2}) + layer(1, "sum", "Add", 2, 1) +
                      layer(2, "halves", "Split", 1, 2) + layer(3, "positive", "Relu", 1, 1) +
                      layer(4, "of_constants", "Range", 0, 1) +
                      test::parameter_layer(5, "numbers", "f32", {1, 2});
  const auto edges = test::edge(5, 0, 3, 0) + test::edge(3, 1, 2, 0) + test::edge(2, 1, 1, 0) +
                     test::edge(4, 0, 1, 1) + test::edge(1, 2, 0, 0);
  return Model::read(dir.write("m.xml", test::net(layers, edges)));
}

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const auto& port : ports) names.push_back(port.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(LayersTest, AreThoseThatDependOnTheInputsInTheirOrder) {
  const auto layers = mixed_up().layers();
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].name, "positive");
  EXPECT_EQ(layers[0].type, "Relu");
  EXPECT_EQ(layers[0].outputs[0].shape, (Shape{1, 2}));
  EXPECT_EQ(layers[0].outputs[0].type, ElementType::kF32);
  EXPECT_EQ(layers[1].name, "halves");
  EXPECT_EQ(names_of(layers[1].outputs), (Names{"halves.0", "halves.1"}));
  EXPECT_EQ(layers[2].name, "sum");
}

TEST(LayersTest, BecomeOutputsBehindTheOthers) {
  auto model = mixed_up();
  const Model before = model;
  model.add_output("halves");
  model.add_output("positive");
  EXPECT_EQ(names_of(model.outputs()), (Names{"sum", "halves.0", "halves.1", "positive"}));
  EXPECT_EQ(model.outputs()[3].shape, (Shape{1, 2}));
  EXPECT_EQ(names_of(before.outputs()), Names{"sum"});
}

TEST(LayersTest, AreOutputsOnce) {
  auto model = mixed_up();
  for (int i = 0; i < 2; ++i) {
    model.add_output("sum");
    model.add_output("positive");
  }
  EXPECT_EQ(names_of(model.outputs()), (Names{"sum", "positive"}));
}

TEST(LayersTest, HaveTheTypesAndShapesOfTheirInputs) {
  const auto layers = mixed_up().layers();
  ASSERT_EQ(layers[2].inputs.size(), 2u);
  for (const auto& input : layers[2].inputs) {
    EXPECT_EQ(to_string(input.type) + to_string(input.shape), "f32[1,2]");
  }
}

/// halves.1 is used by nobody.
TEST(LayersTest, AreKeptFromTheFirstOn) {
  const std::vector<Names> outputs = {{}, {"positive"}, {"halves.0"}, {"sum"}, {"sum"}};
  for (std::size_t count = 0; count < outputs.size(); ++count) {
    auto model = mixed_up();
    model.keep_first(count);
    EXPECT_EQ(names_of(model.outputs()), outputs[count]) << count;
    EXPECT_EQ(names_of(model.inputs()), Names{"numbers"}) << count;
    EXPECT_EQ(model.layers().size(), std::min<std::size_t>(count, 3)) << count;
  }
}

/// numbers -> sizes (ShapeOf) -> rounded; numbers -> shaped, by rounded.
TEST(LayersTest, ThatFollowFromSizesAloneBecomeNoOutputs) {
  const auto layers = test::parameter_layer(0, "numbers", "f32", {1, 2}) +
                      layer(1, "sizes", "ShapeOf", 1, 1) + layer(2, "rounded", "Relu", 1, 1) +
                      layer(3, "shaped", "Reshape", 2, 1) + test::result_layer(4, "out", {1, 2});
  const auto edges = test::edge(0, 0, 1, 0) + test::edge(1, 1, 2, 0) + test::edge(0, 0, 3, 0) +
                     test::edge(2, 1, 3, 1) + test::edge(3, 2, 4, 0);
  auto model = test::read_ir(test::net(layers, edges));
  ASSERT_EQ(model.layers().size(), 3u);
  model.keep_first(2);
  EXPECT_TRUE(model.outputs().empty());
}

TEST(LayersTest, RefuseWhatIsNone) {
  auto model = mixed_up();
  for (const auto* name : {"nothing", "out", "numbers"}) {
    EXPECT_THROW(model.add_output(name), Error) << name;
  }
  EXPECT_EQ(names_of(model.outputs()), Names{"sum"});
}

}  // namespace
}  // namespace npu

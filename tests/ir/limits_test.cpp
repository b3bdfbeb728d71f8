// IRs that were made to hurt: beyond a limit they are refused, up to it they cost what their size
// is worth.
#include "ir/graph/limits.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "ir/serialize.hpp"

#include "ir_files.hpp"

namespace npu::ir {
namespace {

using test::TempDir;

constexpr CompilerVersion kOldCompiler{5, 0, 8};  // knows neither Identity nor Interpolate-11

std::string many(std::size_t count, const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part(i);
  return text;
}

std::string port(std::size_t id) {
  return "<port id=\"" + std::to_string(id) + "\" precision=\"FP32\"><dim>1</dim></port>";
}

std::string layer(std::size_t id, const std::string& type, const std::string& ports,
                  const std::string& more = {}) {
  const auto number = std::to_string(id);
  return "<layer id=\"" + number + "\" name=\"l" + number + "\" type=\"" + type +
         "\" version=\"opset1\"" + more + ">" + ports + "</layer>";
}

std::string one_to_one(std::size_t id, const std::string& type) {
  return layer(id, type, "<input>" + port(0) + "</input><output>" + port(1) + "</output>");
}

std::string link(std::size_t from, std::size_t from_port, std::size_t to, std::size_t to_port) {
  return test::edge(static_cast<int>(from), static_cast<int>(from_port), static_cast<int>(to),
                    static_cast<int>(to_port));
}

const std::string kInput = test::parameter_layer(0, "x", "f32", {1});

std::string with_layers(const std::string& layers) {
  return test::net(kInput + layers + test::result_layer(9'999'999, "out", {1}),
                   link(0, 0, 9'999'999, 0));
}

struct Beyond : Named {
  std::string (*text)();
  const char* expected;
};

const Beyond kBeyond[] = {
    {"Depth",
     [] {
       return with_layers(layer(1, "A", many(Limits::kDepth, [](auto) {
                                          return "<a>";
                                        }) + many(Limits::kDepth, [](auto) { return "</a>"; })));
     },
     "its elements are nested more than 256 deep"},
    {"Layers",
     [] {
       return with_layers(many(Limits::kLayers, [](auto i) { return layer(i + 1, "A", ""); }));
     },
     "it has more than 262144 layers"},
    {"LayersInABody",
     [] {
       const auto body = many(Limits::kLayers, [](auto) { return "<layer/>"; });
       return with_layers(layer(1, "A", "<body><layers>" + body + "</layers></body>"));
     },
     "it has more than 262144 layers"},
    {"InputPorts",
     [] {
       return with_layers(layer(1, "A", "<input>" + many(Limits::kPorts + 1, port) + "</input>"));
     },
     "layer 'l1' (A, id 1) has more than 16384 input ports"},
    {"OutputPorts",
     [] {
       return with_layers(layer(1, "A", "<output>" + many(Limits::kPorts + 1, port) + "</output>"));
     },
     "layer 'l1' (A, id 1) has more than 16384 output ports"},
    {"Attributes",
     [] {
       return with_layers(layer(1, "A", "", many(Limits::kAttributes, [](auto i) {
                                  return " a" + std::to_string(i) + "=\"\"";
                                })));
     },
     "the element <layer> has more than 256 attributes"},
    {"ElementNames",
     [] {
       const std::string name(Limits::kNameBytes + 1, 'a');
       return with_layers(layer(1, "A", "<" + name + "/>"));
     },
     "the name of an element has more than 256 bytes"},
    {"TensorNames",
     [] {
       const std::string names(Limits::kNamesBytes + 1, 'a');
       return with_layers(
           layer(1, "A", "<output><port id=\"0\" names=\"" + names + "\"/></output>"));
     },
     "the attribute names of <port> has more than 65536 bytes"},
    {"DimensionsOfAPort",
     [] {
       const auto dims = many(Limits::kRank + 1, [](auto) { return "<dim>1</dim>"; });
       return with_layers(
           layer(1, "A", "<output><port id=\"0\" precision=\"FP32\">" + dims + "</port></output>"));
     },
     "layer 'l1' (A, id 1) has a tensor of more than 64 dimensions"},
    {"DimensionsOfAShape",
     [] {
       const auto dims = many(Limits::kRank, [](auto) { return "1,"; });
       return with_layers(layer(1, "Const", "<data shape=\"" + dims + "1\"/>"));
     },
     "layer 'l1' (Const, id 1) has a tensor of more than 64 dimensions"},
    {"NamesOfAllOutputs",
     [] {
       constexpr std::size_t kOutputs = 300;
       const auto name = std::string(Limits::kNamesBytes - 8, 'n');
       auto text = test::net(
           kInput +
               many(kOutputs,
                    [](auto i) { return test::result_layer(static_cast<int>(1 + i), "out", {1}); }),
           many(kOutputs, [](auto i) { return link(0, 0, 1 + i, 0); }));
       return text.replace(text.find("name=\"x\""), 8, "name=\"" + name + "\"");
     },
     "the names of its outputs have more than 16777216 bytes together"},
    {"ModelInformation",
     [] {
       const std::string name(Limits::kNameBytes, 'a');
       const auto values = many(20'000, [](auto) { return "<v value=\"1\"/>"; });
       auto text = test::net(kInput + test::result_layer(1, "out", {1}), link(0, 0, 1, 0));
       std::string open, close;
       for (int i = 0; i < 4; ++i) {
         open += "<" + name + ">";
         close += "</" + name + ">";
       }
       return text.insert(text.find("</net>"), "<rt_info><model_info>" + open + values + close +
                                                   "</model_info></rt_info>");
     },
     "its model information (rt_info/model_info) has more than 16777216 bytes, written out"},
    {"Children",
     [] {
       return with_layers(layer(1, "A", "<rt_info>" + many(Limits::kChildren + 1, [](auto) {
                                          return "<a/>";
                                        }) + "</rt_info>"));
     },
     "the element <rt_info> has more than 65536 elements in it"},
    {"ElementsOfALayer",
     [] {
       return with_layers(layer(1, "A", many(Limits::kParts + 1, [](auto) { return "<a/>"; })));
     },
     "the element <layer> has more than 64 elements in it"},
    {"ElementsAmongPorts",
     [] {
       return with_layers(layer(1, "A", "<output>" + many(Limits::kParts + 1, [](auto) {
                                          return "<a/>";
                                        }) + "</output>"));
     },
     "layer 'l1' (A, id 1) has more than 64 elements among its output ports that are none"},
    {"ElementsOfAPort",
     [] {
       const auto parts =
           many(Limits::kRank + Limits::kParts + 1, [](auto) { return "<rt_info/>"; });
       return with_layers(layer(1, "A", "<output><port id=\"0\">" + parts + "</port></output>"));
     },
     "the element <port> has more than 128 elements in it"},
    {"Ids",
     [] {
       auto text = with_layers(layer(1, "A", ""));
       return text.replace(text.find("id=\"1\""), 6,
                           "id=\"" + std::string(Limits::kNameBytes, '0') + "1\"");
     },
     "the attribute id of <layer> has more than 256 bytes"},
    {"EndsOfEdges",
     [] {
       auto text = with_layers("");
       return text.replace(text.find("from-port=\"0\""), 13,
                           "from-port=\"" + std::string(Limits::kNameBytes, '0') + "0\"");
     },
     "the attribute from-port of <edge> has more than 256 bytes"},
    {"Types", [] { return with_layers(layer(1, std::string(Limits::kNameBytes + 1, 'A'), "")); },
     "the attribute type of <layer> has more than 256 bytes"},
    {"TextOfADimension",
     [] {
       return with_layers(layer(1, "A",
                                "<output><port id=\"0\"><dim>" +
                                    std::string(Limits::kNameBytes, '0') +
                                    "1</dim></port></output>"));
     },
     "the text of <dim> has more than 256 bytes"},
};

class LimitsTest : public testing::TestWithParam<Beyond> {};

void expect_refusal(const std::filesystem::path& path, const std::string& expected) {
  const std::string said =
      expect_error(ErrorCode::kInvalidArgument, expected, [&] { Model::read(path); });
  EXPECT_TRUE(has(said, path.string()));
}

TEST_P(LimitsTest, IsRefusedWithItsNumber) {
  const TempDir dir;
  expect_refusal(dir.write("model.xml", GetParam().text()), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Table, LimitsTest, testing::ValuesIn(kBeyond), by_name);

TEST(LimitsTest, AnXmlOfThreeGibibytesIsNotRead) {
  const TempDir dir;
  const auto path = dir.write("model.xml", test::identity_ir("f32", {1, 3, 4, 4}));
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);  // a hole
  expect_refusal(path, "it has 3221225472 bytes, more than 134217728");
}

/// Seconds of this process's time, which a busy machine hardly stretches.
double seconds_for(const std::function<void()>& work) {
  const auto begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Everything that can be done with a model without a device.
void use(Model model) {
  model.reshape({{"x", {2}}});
  model.warnings();
  content_hash(model);
  EXPECT_FALSE(serialize(model, kOldCompiler).bytes().empty());
  EXPECT_FALSE(serialize_weightless(model, kOldCompiler).bytes().empty());
  try {
    model.check_supported();
  } catch (const Error&) {
  }
}

/// Compares a model with one four times as big: linear work takes four times as long, quadratic
/// work sixteen times.
void expect_linear(const std::function<std::string(std::size_t)>& text, std::size_t most,
                   const std::function<void(Model)>& work = use) {
  constexpr double kAtMost = 9;
  const TempDir dir;
  const auto seconds = [&](std::size_t size) {
    const auto path = dir.write("model.xml", text(size));
    return seconds_for([&] { work(Model::read(path)); });
  };
  double ratio = 0;
  for (int tries = 0; tries < 3; ++tries) {  // other processes share the caches
    const auto small = seconds(most / 4);
    const auto big = seconds(most);
    if (big < 0.05 || big < kAtMost * small) return;
    ratio = big / small;
  }
  ADD_FAILURE() << "four times the size takes " << ratio << " times as long";
}

TEST(ComplexityTest, AsManyPortsAsMayBe) {
  expect_linear(
      [](std::size_t ports) {
        const auto layers =
            kInput +
            layer(1, "Odd",
                  "<input>" + many(ports, port) + "</input><output>" +
                      many(ports, [&](auto i) { return port(ports + i); }) + "</output>") +
            many(ports,
                 [](auto i) { return test::result_layer(static_cast<int>(2 + i), "out", {1}); });
        return test::net(layers,
                         many(ports, [](auto i) { return link(0, 0, 1, i); }) +
                             many(ports, [&](auto i) { return link(1, ports + i, 2 + i, 0); }));
      },
      Limits::kPorts);
}

TEST(ComplexityTest, ManyLayersBehindOneOfManyPorts) {
  expect_linear(
      [](std::size_t size) {
        const auto layers =
            kInput +
            layer(1, "Add",
                  "<input>" + many(size, port) + "</input><output>" + port(size) + "</output>") +
            many(size, [](auto i) { return one_to_one(i + 2, "Clamp"); }) +
            test::result_layer(static_cast<int>(size + 2), "out", {1});
        return test::net(layers, many(size, [](auto i) { return link(0, 0, 1, i); }) +
                                     many(size, [&](auto i) { return link(1, size, i + 2, 0); }) +
                                     link(2, 1, size + 2, 0));
      },
      Limits::kPorts, [](const Model& model) { model.warnings(); });
}

constexpr std::size_t kMany = 20'000;

/// x -> 1 -> 2 -> ... -> Result, with the layers in the file from the end on if `backwards`.
std::string chain(std::size_t size, const std::string& type, bool backwards) {
  const auto place = [&](std::size_t i) { return backwards ? size - i : i + 1; };
  const auto layers = kInput + many(size, [&](auto i) { return one_to_one(place(i), type); }) +
                      test::result_layer(static_cast<int>(size + 1), "out", {1});
  const auto edges = link(0, 0, 1, 0) + many(size, [](auto i) { return link(i + 1, 1, i + 2, 0); });
  return test::net(layers, edges);
}

TEST(ComplexityTest, ReshapeOfLayersInTheWrongOrder) {
  expect_linear([](std::size_t size) { return chain(size, "ReLU", true); }, kMany);
}

TEST(ComplexityTest, ChainsOfIdentities) {
  expect_linear([](std::size_t size) { return chain(size, "Identity", false); }, kMany);
  expect_linear([](std::size_t size) { return chain(size, "Identity", true); }, kMany);
}

TEST(ComplexityTest, ADimensionDoesNotDecideAnAllocation) {
  const TempDir dir;
  const auto sizes = "<port id=\"1\" precision=\"I64\"><dim>2305843009213693951</dim></port>";
  auto interpolate = layer(1, "Interpolate",
                           "<data shape_calculation_mode=\"sizes\"/><input>" + port(0) + sizes +
                               "</input><output>" + port(2) + "</output>");
  interpolate.replace(interpolate.find("opset1"), 6, "opset11");
  const auto model = Model::read(
      dir.write("model.xml", test::net(kInput + interpolate + test::result_layer(2, "out", {1}),
                                       link(0, 0, 1, 0) + link(0, 0, 1, 1) + link(1, 2, 2, 0))));
  EXPECT_TRUE(has(thrown_by([&] { serialize(model, kOldCompiler); }),
                  "says that it resizes 2305843009213693951 axes"));
}

TEST(DepthTest, WhatMayBeReadCanBeEditedEverywhere) {
  const auto open = many(240, [](auto) { return "<a>"; });
  const auto close = many(240, [](auto) { return "</a>"; });
  const TempDir dir;
  use(Model::read(
      dir.write("model.xml", test::net(kInput +
                                           layer(1, "Identity",
                                                 "<input>" + port(0) + "</input><output>" +
                                                     port(1) + "</output>" + open + close) +
                                           test::result_layer(2, "out", {1}),
                                       link(0, 0, 1, 0) + link(1, 1, 2, 0)))));
}

}  // namespace
}  // namespace npu::ir

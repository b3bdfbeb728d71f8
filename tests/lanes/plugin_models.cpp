#include "plugin_models.hpp"

#include <openvino/core/preprocess/pre_post_process.hpp>
#include <openvino/opsets/opset8.hpp>
#include <random>

namespace lanes {
namespace {

namespace op = ov::opset8;
using Node = std::shared_ptr<ov::Node>;

Node weights(const ov::Shape& shape, unsigned seed, ov::element::Type type = ov::element::f32) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-0.5f, 0.5f);
  std::vector<float> values(ov::shape_size(shape));
  for (float& value : values) value = uniform(random);
  return op::Constant::create(type, shape, values);
}

std::shared_ptr<op::Parameter> parameter(const char* name, ov::element::Type type,
                                         const ov::PartialShape& shape) {
  auto node = std::make_shared<op::Parameter>(type, shape);
  node->set_friendly_name(name);
  node->output(0).set_names({name});
  return node;
}

Node named(Node node, const char* name) {
  node->set_friendly_name(name);
  node->output(0).set_names({name});
  return node;
}

Node convolution(const ov::Output<ov::Node>& x, size_t in, size_t out, unsigned seed) {
  return std::make_shared<op::Convolution>(x, weights({out, in, 3, 3}, seed), ov::Strides{1, 1},
                                           ov::CoordinateDiff{1, 1}, ov::CoordinateDiff{1, 1},
                                           ov::Strides{1, 1});
}

std::shared_ptr<ov::Model> matmul() {
  const auto x = parameter("x", ov::element::f32, {4, 64});
  const auto hidden =
      std::make_shared<op::Relu>(std::make_shared<op::MatMul>(x, weights({64, 96}, 2)));
  const auto y =
      named(std::make_shared<op::MatMul>(hidden, weights({10, 96}, 3), false, true), "y");
  return std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}, "matmul");
}

// Three inputs of three types, two outputs, one of them f16.
std::shared_ptr<ov::Model> several_ports() {
  const auto a = parameter("a", ov::element::f16, {1, 4, 8, 8});
  const auto b = parameter("b", ov::element::f32, {1, 4, 8, 8});
  const auto c = parameter("c", ov::element::i32, {1, 4, 1, 1});
  const auto a32 = std::make_shared<op::Convert>(a, ov::element::f32);
  const auto c32 = std::make_shared<op::Convert>(c, ov::element::f32);
  const auto sum = named(std::make_shared<op::Add>(std::make_shared<op::Add>(a32, b), c32), "sum");
  const auto product = std::make_shared<op::Multiply>(a32, b);
  const auto half = named(std::make_shared<op::Convert>(product, ov::element::f16), "half");
  return std::make_shared<ov::Model>(ov::OutputVector{sum, half}, ov::ParameterVector{a, b, c},
                                     "several_ports");
}

// A u8 NHWC picture in, as PrePostProcessor writes it into the graph.
std::shared_ptr<ov::Model> u8_nhwc() {
  ov::preprocess::PrePostProcessor ppp(conv_relu());
  ppp.input().tensor().set_element_type(ov::element::u8).set_layout("NHWC");
  ppp.input().preprocess().convert_element_type(ov::element::f32).mean(127.0f).scale(64.0f);
  ppp.input().model().set_layout("NCHW");
  return ppp.build();
}

std::shared_ptr<ov::Model> half_weights() {
  const auto x = parameter("x", ov::element::f32, {2, 32});
  const auto w =
      std::make_shared<op::Convert>(weights({32, 16}, 5, ov::element::f16), ov::element::f32);
  const auto y = named(std::make_shared<op::Softmax>(std::make_shared<op::MatMul>(x, w), 1), "y");
  return std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}, "half_weights");
}

std::shared_ptr<ov::Model> reshaping() {
  const auto x = parameter("x", ov::element::f32, {1, 6, 10});
  const auto order = op::Constant::create(ov::element::i64, {3}, {0, 2, 1});
  const auto turned = std::make_shared<op::Transpose>(x, order);
  const auto k = op::Constant::create(ov::element::i64, {}, {3});
  const auto top = std::make_shared<op::TopK>(turned, k, 2, op::TopK::Mode::MAX,
                                              op::TopK::SortType::SORT_VALUES, ov::element::i32);
  top->set_friendly_name("top");
  top->output(0).set_names({"values"});
  top->output(1).set_names({"indices"});
  return std::make_shared<ov::Model>(ov::OutputVector{top->output(0), top->output(1)},
                                     ov::ParameterVector{x}, "reshaping");
}

// Constants in the body of a sub-graph.
std::shared_ptr<ov::Model> loop_body() {
  const auto x = parameter("x", ov::element::f32, {3, 1, 16});
  const auto step = parameter("step", ov::element::f32, {1, 1, 16});
  const auto state = parameter("state", ov::element::f32, {1, 1, 16});
  const auto sum =
      std::make_shared<op::Add>(std::make_shared<op::MatMul>(step, weights({16, 16}, 7)), state);
  const auto squashed = std::make_shared<op::Tanh>(sum);
  const auto body = std::make_shared<ov::Model>(ov::OutputVector{squashed},
                                                ov::ParameterVector{step, state}, "body");
  const auto loop = std::make_shared<op::TensorIterator>();
  loop->set_body(body);
  loop->set_sliced_input(step, x, 0, 1, 1, -1, 0);
  loop->set_merged_input(state, weights({1, 1, 16}, 8), squashed);
  const auto y = named(loop->get_iter_value(squashed, -1).get_node_shared_ptr(), "y");
  return std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}, "loop_body");
}

}  // namespace

std::shared_ptr<ov::Model> conv_relu() {
  const auto x = parameter("x", ov::element::f32, {1, 3, 32, 32});
  const auto y = named(std::make_shared<op::Relu>(convolution(x, 3, 8, 1)), "y");
  return std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}, "conv_relu");
}

std::shared_ptr<ov::Model> three_states() {
  const auto x = std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{1, 4});
  ov::Output<ov::Node> sum = x;
  ov::SinkVector sinks;
  for (const char* id : {"s0", "s1", "s2"}) {
    const auto variable = std::make_shared<ov::op::util::Variable>(
        ov::op::util::VariableInfo{ov::Shape{1, 4}, ov::element::f32, id});
    const auto zeros = ov::opset8::Constant::create(ov::element::f32, {1, 4}, {0, 0, 0, 0});
    const auto read = std::make_shared<ov::opset8::ReadValue>(zeros, variable);
    sum = std::make_shared<ov::opset8::Add>(sum, read);
    sinks.push_back(std::make_shared<ov::opset8::Assign>(sum, variable));
  }
  const auto result = std::make_shared<ov::opset8::Result>(sum);
  return std::make_shared<ov::Model>(ov::ResultVector{result}, sinks, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> doubled_by_a_scalar() {
  const auto x = std::make_shared<ov::opset8::Parameter>(ov::element::f32, ov::Shape{1, 4});
  const auto factor = ov::opset8::Constant::create(ov::element::f32, {1}, {2});
  const auto no_dimensions = std::make_shared<ov::opset8::Constant>(ov::element::i64, ov::Shape{0},
                                                                    std::vector<int64_t>{});
  const auto scalar = std::make_shared<ov::opset8::Reshape>(factor, no_dimensions, false);
  const auto y = std::make_shared<ov::opset8::Multiply>(x, scalar);
  return std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x});
}

std::vector<NamedModel> plugin_models() {
  return {{"conv_relu", conv_relu},         {"matmul", matmul},
          {"several_ports", several_ports}, {"u8_nhwc", u8_nhwc},
          {"half_weights", half_weights},   {"reshaping", reshaping},
          {"loop_body", loop_body}};
}

}  // namespace lanes

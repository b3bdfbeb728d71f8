// A model's states: arguments that the application carries from one inference to the next.
#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

using Values = std::vector<float>;

// The stateful model whose state is 100, 200, 300, 400 at first, if the model had a say in it.
IrWriter with_initial_values() {
  return stateful_ir({100, 200, 300, 400});
}

// The model with its arguments in one allocation: input, state (read and written in one place) and
// output.
class States : public Driver {
 protected:
  void open(const IrWriter& ir) {
    ASSERT_EQ(client_.compile_ir(buffer_of(ir), graph_), ZE_RESULT_SUCCESS) << client_.log;
    const char* const names[] = {"x", "vpux_ie_read_value_sum", "y", "vpux_ie_assign_sum"};
    float* const places[] = {values(), state(), values() + 8, state()};
    for (uint32_t i = 0; i < 4; ++i) {
      ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
      ASSERT_EQ(client_.graph->pfnGetArgumentProperties3(graph_.get(), i, &properties),
                ZE_RESULT_SUCCESS);
      EXPECT_STREQ(properties.name, names[i]);
      client_.graph->pfnSetArgumentValue(graph_.get(), i, places[i]);
    }
    for (int i = 0; i < 4; ++i) values()[i] = static_cast<float>(i + 1);
    std::fill(state(), state() + 4, 0.0f);
  }
  float* values() const { return memory_.as<float>(); }
  float* state() const { return values() + 4; }
  Values infer() {
    EXPECT_EQ(client_.append(list_, graph_), ZE_RESULT_SUCCESS);
    return {values() + 8, values() + 12};
  }

 private:
  Graph graph_;
  Memory memory_ = client_.floats(12);
  List list_ = client_.make_immediate_list();
};

TEST_F(States, AreCarriedByTheApplication) {
  open(stateful_ir());
  infer();
  infer();
  EXPECT_EQ(infer(), (Values{3, 6, 9, 12}));
  EXPECT_EQ(Values(state(), state() + 4), (Values{3, 6, 9, 12}));
}

TEST_F(States, BeginWithWhatTheApplicationPutThere) {
  open(stateful_ir());
  std::fill(state(), state() + 4, 50.0f);
  EXPECT_EQ(infer(), (Values{51, 52, 53, 54}));
}

// As on the NPU: the application supplies a model's initial values, and its zeros are zeros.
TEST_F(States, DoNotBeginWithTheModelsInitialValues) {
  open(with_initial_values());
  EXPECT_EQ(infer(), (Values{1, 2, 3, 4}));
  std::fill(state(), state() + 4, 7.0f);
  EXPECT_EQ(infer(), (Values{8, 9, 10, 11}));
}

// y = x + s0 + s1 + ..., and each state s<i> becomes what is summed up to it.
IrWriter chain_of_states(int count) {
  IrWriter ir;
  const auto x = ir.parameter("x", "f32", {1, 4});
  auto sum = x;
  for (int i = 0; i < count; ++i) {
    const std::string id = "s" + std::to_string(i);
    sum = ir.binary("Add", sum, ir.read_value(id, "f32", {1, 4}, {x}));
    ir.assign(id, sum);
  }
  ir.result(sum, "y");
  return ir;
}

class SeveralStates : public Driver, public testing::WithParamInterface<int> {};

TEST_P(SeveralStates, AreAllArgumentsAndCarried) {
  const int count = GetParam();
  Graph graph;
  ASSERT_EQ(client_.compile_ir(buffer_of(chain_of_states(count)), graph), ZE_RESULT_SUCCESS)
      << client_.log;
  const Memory zeros = client_.floats(static_cast<size_t>(4 * (count + 2)));
  float* const memory = zeros.as<float>();
  for (int i = 0; i < 4; ++i) memory[i] = 1.0f;
  ze_graph_properties_t all{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  client_.graph->pfnGetProperties(graph.get(), &all);
  ASSERT_EQ(all.numGraphArgs, static_cast<uint32_t>(2 + 2 * count));
  for (uint32_t i = 0; i < all.numGraphArgs; ++i) {
    ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
    client_.graph->pfnGetArgumentProperties3(graph.get(), i, &properties);
    const std::string name = properties.name;
    const size_t state = name.rfind("_s");
    const size_t place = name == "x" ? 0 : name == "y" ? 1 : 2 + std::stoul(name.substr(state + 2));
    client_.graph->pfnSetArgumentValue(graph.get(), i, memory + 4 * place);
  }
  const List list = client_.make_immediate_list();
  float expected = 0;
  std::vector<float> states(static_cast<size_t>(count), 0.0f);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(client_.append(list, graph), ZE_RESULT_SUCCESS);
    expected = 1;
    for (float& state : states) state = expected += state;
  }
  EXPECT_EQ(Values(memory + 4, memory + 8), Values(4, expected));
  for (size_t i = 0; i < states.size(); ++i) EXPECT_EQ(memory[8 + 4 * i], states[i]) << i;
}

INSTANTIATE_TEST_SUITE_P(States, SeveralStates, testing::Values(1, 2, 3, 7),
                         testing::PrintToStringParamName());

TEST_F(Driver, NamesTheLayersOfAStateAsTheModelDoes) {
  const std::string layers = client_.supported_layers(buffer_of(with_initial_values()));
  for (const char* name : {"<read_sum>", "<assign_sum>", "<initial>", "<add>"}) {
    EXPECT_TRUE(has(layers, name));
  }
  EXPECT_FALSE(has(layers, "vpux_ie"));
}

}  // namespace
}  // namespace softnpu_test

// A model's states: arguments that the application carries from one inference to the next.
#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

using Values = std::vector<float>;

// The stateful model whose state is 100, 200, 300, 400 at first, if the model had a say in it.
std::string with_initial_values() {
  const std::string constant =
      "<layer id=\"5\" name=\"initial\" type=\"Const\" version=\"opset1\">"
      "<data element_type=\"f32\" shape=\"1, 4\" offset=\"0\" size=\"16\"/>"
      "<output><port id=\"0\" precision=\"FP32\"><dim>1</dim><dim>4</dim></port></output>"
      "</layer>";
  const std::string xml = replaced(stateful_ir(), "</layers>", constant + "</layers>");
  return replaced(xml, "from-layer=\"0\" from-port=\"0\" to-layer=\"1\"",
                  "from-layer=\"5\" from-port=\"0\" to-layer=\"1\"");
}

std::string initial_values() {
  const float values[] = {100, 200, 300, 400};
  return {reinterpret_cast<const char*>(values), sizeof values};
}

// The model with its arguments in one allocation: input, state (read and written in one place) and
// output.
class States : public Driver {
 protected:
  void open(const std::string& xml, const std::string& weights) {
    ASSERT_EQ(client_.create(ir_buffer(xml, weights), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph_),
              ZE_RESULT_SUCCESS)
        << client_.log;
    memory_ = client_.allocate(12);
    const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0,
                                       ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    ASSERT_EQ(zeCommandListCreateImmediate(client_.context, client_.device, &desc, &list_),
              ZE_RESULT_SUCCESS);
    const char* const names[] = {"x", "vpux_ie_read_value_sum", "y", "vpux_ie_assign_sum"};
    float* const places[] = {memory_, state(), memory_ + 8, state()};
    for (uint32_t i = 0; i < 4; ++i) {
      ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
      ASSERT_EQ(client_.graphs->pfnGetArgumentProperties3(graph_, i, &properties),
                ZE_RESULT_SUCCESS);
      EXPECT_STREQ(properties.name, names[i]);
      client_.graphs->pfnSetArgumentValue(graph_, i, places[i]);
    }
    for (int i = 0; i < 4; ++i) memory_[i] = static_cast<float>(i + 1);
    std::fill(state(), state() + 4, 0.0f);
  }
  void TearDown() override {
    zeCommandListDestroy(list_);
    client_.graphs->pfnDestroy(graph_);
    zeMemFree(client_.context, memory_);
    Driver::TearDown();
  }
  float* state() const { return memory_ + 4; }
  Values infer() {
    EXPECT_EQ(client_.graphs->pfnAppendGraphExecute(list_, graph_, nullptr, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    return {memory_ + 8, memory_ + 12};
  }

 private:
  ze_graph_handle_t graph_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  float* memory_ = nullptr;
};

TEST_F(States, AreCarriedByTheApplication) {
  open(stateful_ir(), {});
  infer();
  infer();
  EXPECT_EQ(infer(), (Values{3, 6, 9, 12}));
  EXPECT_EQ(Values(state(), state() + 4), (Values{3, 6, 9, 12}));
}

TEST_F(States, BeginWithWhatTheApplicationPutThere) {
  open(stateful_ir(), {});
  std::fill(state(), state() + 4, 50.0f);
  EXPECT_EQ(infer(), (Values{51, 52, 53, 54}));
}

// As on the NPU: the application supplies a model's initial values, and its zeros are zeros.
TEST_F(States, DoNotBeginWithTheModelsInitialValues) {
  open(with_initial_values(), initial_values());
  EXPECT_EQ(infer(), (Values{1, 2, 3, 4}));
  std::fill(state(), state() + 4, 7.0f);
  EXPECT_EQ(infer(), (Values{8, 9, 10, 11}));
}

std::string port(int id) {
  return "<port id=\"" + std::to_string(id) +
         "\" precision=\"FP32\"><dim>1</dim><dim>4</dim></port>";
}

std::string layer(int id, const std::string& name, const std::string& type, const std::string& data,
                  const std::string& inputs, const std::string& outputs) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" + type +
         "\" version=\"" + (type == "ReadValue" || type == "Assign" ? "opset6" : "opset1") + "\">" +
         (data.empty() ? "" : "<data " + data + "/>") +
         (inputs.empty() ? "" : "<input>" + inputs + "</input>") +
         (outputs.empty() ? "" : "<output>" + outputs + "</output>") + "</layer>";
}

std::string edge(int from, int from_port, int to, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from) + "\" from-port=\"" +
         std::to_string(from_port) + "\" to-layer=\"" + std::to_string(to) + "\" to-port=\"" +
         std::to_string(to_port) + "\"/>";
}

// y = x + s0 + s1 + ..., and each state s<i> becomes what is summed up to it.
std::string chain_of_states(int count) {
  std::string layers =
      layer(0, "x", "Parameter", "shape=\"1,4\" element_type=\"f32\"", "", port(0));
  std::string edges;
  int sum = 0;
  int sum_port = 0;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const std::string id = "variable_id=\"s" + number + "\"";
    const int read = 10 * (i + 1);
    layers += layer(read, "read" + number, "ReadValue",
                    id + " variable_type=\"f32\" variable_shape=\"1,4\"", port(0), port(1));
    layers += layer(read + 1, "add" + number, "Add", "auto_broadcast=\"numpy\"", port(0) + port(1),
                    port(2));
    layers += layer(read + 2, "write" + number, "Assign", id, port(0), port(1));
    edges += edge(0, 0, read, 0) + edge(sum, sum_port, read + 1, 0) + edge(read, 1, read + 1, 1) +
             edge(read + 1, 2, read + 2, 0);
    sum = read + 1;
    sum_port = 2;
  }
  layers += layer(1, "y", "Result", "", port(0), "");
  return "<?xml version=\"1.0\"?><net name=\"states\" version=\"11\"><layers>" + layers +
         "</layers><edges>" + edges + edge(sum, sum_port, 1, 0) + "</edges></net>";
}

class SeveralStates : public Driver, public testing::WithParamInterface<int> {};

TEST_P(SeveralStates, AreAllArgumentsAndCarried) {
  const int count = GetParam();
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(
      client_.create(ir_buffer(chain_of_states(count), {}), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
      ZE_RESULT_SUCCESS)
      << client_.log;
  float* const memory = client_.allocate(static_cast<size_t>(4 * (count + 2)));
  std::fill(memory, memory + 4 * (count + 2), 0.0f);
  for (int i = 0; i < 4; ++i) memory[i] = 1.0f;
  ze_graph_properties_t all{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  client_.graphs->pfnGetProperties(graph, &all);
  ASSERT_EQ(all.numGraphArgs, static_cast<uint32_t>(2 + 2 * count));
  for (uint32_t i = 0; i < all.numGraphArgs; ++i) {
    ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
    client_.graphs->pfnGetArgumentProperties3(graph, i, &properties);
    const std::string name = properties.name;
    const size_t state = name.rfind("_s");
    const size_t place = name == "x" ? 0 : name == "y" ? 1 : 2 + std::stoul(name.substr(state + 2));
    client_.graphs->pfnSetArgumentValue(graph, i, memory + 4 * place);
  }
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0,
                                     ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  ze_command_list_handle_t list = nullptr;
  zeCommandListCreateImmediate(client_.context, client_.device, &desc, &list);
  float expected = 0;
  std::vector<float> states(static_cast<size_t>(count), 0.0f);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(client_.graphs->pfnAppendGraphExecute(list, graph, nullptr, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    expected = 1;
    for (float& state : states) state = expected += state;
  }
  EXPECT_EQ(Values(memory + 4, memory + 8), Values(4, expected));
  for (size_t i = 0; i < states.size(); ++i) EXPECT_EQ(memory[8 + 4 * i], states[i]) << i;
  zeCommandListDestroy(list);
  client_.graphs->pfnDestroy(graph);
  zeMemFree(client_.context, memory);
}

INSTANTIATE_TEST_SUITE_P(States, SeveralStates, testing::Values(1, 2, 3, 7),
                         testing::PrintToStringParamName());

TEST_F(Driver, NamesTheLayersOfAStateAsTheModelDoes) {
  const std::string layers =
      client_.supported_layers(ir_buffer(with_initial_values(), initial_values()));
  for (const char* name : {"<read>", "<write>", "<initial>", "<add>"}) {
    EXPECT_NE(layers.find(name), std::string::npos) << name << " in " << layers;
  }
  EXPECT_EQ(layers.find("vpux_ie"), std::string::npos) << layers;
}

}  // namespace
}  // namespace softnpu_test

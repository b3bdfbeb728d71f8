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

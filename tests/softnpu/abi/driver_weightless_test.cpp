// Weights by address, through the loader.
#include <array>
#include <cstring>
#include <optional>

#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

// y = 2 * x, whose factor of shape [1] is made a scalar by a target shape without elements: the
// constant has one byte all the same, as OpenVINO writes it.
std::string scalar_ir() {
  return R"(<?xml version="1.0"?>
<net name="scalar" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="1,4" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="1" name="factor" type="Const" version="opset1">
      <data element_type="f32" shape="1" offset="0" size="4"/>
      <output><port id="0" precision="FP32"><dim>1</dim></port></output>
    </layer>
    <layer id="2" name="no_dimensions" type="Const" version="opset1">
      <data element_type="i64" shape="0" offset="4" size="1"/>
      <output><port id="0" precision="I64"><dim>0</dim></port></output>
    </layer>
    <layer id="3" name="scalar" type="Reshape" version="opset1">
      <data special_zero="false"/>
      <input>
        <port id="0" precision="FP32"><dim>1</dim></port>
        <port id="1" precision="I64"><dim>0</dim></port>
      </input>
      <output><port id="2" precision="FP32"/></output>
    </layer>
    <layer id="4" name="product" type="Multiply" version="opset1">
      <data auto_broadcast="numpy"/>
      <input>
        <port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port>
        <port id="1" precision="FP32"/>
      </input>
      <output><port id="2" precision="FP32"><dim>1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="5" name="y" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="1" from-port="0" to-layer="3" to-port="0"/>
    <edge from-layer="2" from-port="0" to-layer="3" to-port="1"/>
    <edge from-layer="0" from-port="0" to-layer="4" to-port="0"/>
    <edge from-layer="3" from-port="2" to-layer="4" to-port="1"/>
    <edge from-layer="4" from-port="2" to-layer="5" to-port="0"/>
  </edges>
</net>
)";
}

class EmptyConstant : public Driver {
 protected:
  // The results of the graph, and of what its native binary makes.
  void expect_twice(const std::string& buffer, const char* flags) {
    const std::vector<float> twice = {20, 40, 60, 80};
    ze_graph_handle_t graph = nullptr;
    ASSERT_EQ(client_.create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, flags), ZE_RESULT_SUCCESS)
        << client_.log;
    EXPECT_EQ(client_.run(graph), twice);
    size_t size = 0;
    const uint8_t* view = nullptr;
    ASSERT_EQ(client_.graphs->pfnGetNativeBinary2(graph, &size, &view), ZE_RESULT_SUCCESS);
    const std::string binary(reinterpret_cast<const char*>(view), size);
    client_.graphs->pfnDestroy(graph);
    ASSERT_EQ(client_.create(binary, ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr), ZE_RESULT_SUCCESS)
        << client_.log;
    EXPECT_EQ(client_.run(graph), twice);
    client_.graphs->pfnDestroy(graph);
  }
  std::string weights() const { return {reinterpret_cast<const char*>(&factor_), sizeof factor_}; }
  const float factor_ = 2;
};

TEST_F(EmptyConstant, CompilesFromAClassicBuffer) {
  expect_twice(ir_buffer(scalar_ir(), weights() + '\0'), "");
}

TEST_F(EmptyConstant, CompilesFromAClassicBufferWithoutItsByte) {
  const std::string xml =
      replaced(scalar_ir(), "offset=\"4\" size=\"1\"", "offset=\"4\" size=\"0\"");
  expect_twice(ir_buffer(xml, weights()), "");
}

TEST_F(EmptyConstant, CompilesByAddress) {
  const char byte = 0;
  const std::string xml =
      replaced(scalar_ir(), "offset=\"0\" size=\"4\"/>", pointer_to(&factor_, sizeof factor_));
  expect_twice(
      weightless_buffer(replaced(xml, "offset=\"4\" size=\"1\"/>", pointer_to(&byte, sizeof byte))),
      kByAddress);
}

TEST_F(EmptyConstant, MayBeTheOnlyConstant) {
  const char byte = 0;
  const std::string xml =
      replaced(replaced(scalar_ir(),
                        "type=\"Const\" version=\"opset1\">\n      <data element_type=\"f32\" "
                        "shape=\"1\" offset=\"0\" size=\"4\"/>",
                        "type=\"Parameter\" version=\"opset1\">\n      <data element_type=\"f32\" "
                        "shape=\"1\"/>"),
               "offset=\"4\" size=\"1\"/>", pointer_to(&byte, sizeof byte));
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(weightless_buffer(xml), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, kByAddress),
            ZE_RESULT_SUCCESS)
      << client_.log;
  client_.graphs->pfnDestroy(graph);
}

class Weightless : public Driver {
 protected:
  std::array<float, 4> weights_ = {1, 2, 3, 4};
};

TEST_F(Weightless, IsAnnounced) {
  const auto ask = [this](const char* value) {
    return client_.graphs->pfnCompilerIsOptionSupported(client_.device, ZE_NPU_COMPILER_OPTIONS,
                                                        "NPU_MODEL_SERIALIZER_VERSION", value);
  };
  EXPECT_EQ(ask("NO_WEIGHTS_COPY"), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ask("ALL_WEIGHTS_COPY"), ZE_RESULT_SUCCESS);
  EXPECT_EQ(ask("AUTO"), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(Weightless, NeedsTheWeightsOnlyWhileItCompiles) {
  std::string buffer = weightless_sample(weights_.data());
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, kByAddress),
            ZE_RESULT_SUCCESS)
      << client_.log;
  weights_.fill(-1.0f);
  std::fill(buffer.begin(), buffer.end(), '\xff');
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Weightless, HasItsWeightsInTheNativeBinary) {
  std::optional<std::string> buffer = weightless_sample(weights_.data());
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(*buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, kByAddress),
            ZE_RESULT_SUCCESS)
      << client_.log;
  size_t size = 0;
  const uint8_t* view = nullptr;
  ASSERT_EQ(client_.graphs->pfnGetNativeBinary2(graph, &size, &view), ZE_RESULT_SUCCESS);
  const std::string binary(reinterpret_cast<const char*>(view), size);
  client_.graphs->pfnDestroy(graph);
  buffer.reset();
  weights_.fill(-1.0f);
  ASSERT_EQ(client_.create(binary, ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr), ZE_RESULT_SUCCESS)
      << client_.log;
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Weightless, IsAnotherVersionWhereTheOptionIsForgotten) {
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(weightless_sample(weights_.data()), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_NE(client_.log.find("Unsupported IR API version! Val: 48.0"), std::string::npos)
      << client_.log;
}

TEST_F(Weightless, IsNotWhatAClassicBufferIs) {
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                           &graph, kByAddress),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_NE(client_.log.find("weightless"), std::string::npos) << client_.log;
}

TEST_F(Weightless, AnswersForAnAddressThatIsNotThere) {
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(weightless_sample(reinterpret_cast<const void*>(64)),
                           ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, kByAddress),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(client_.log.find("can be read"), std::string::npos) << client_.log;
}

TEST_F(Weightless, CanBeQueried) {
  const std::string layers =
      client_.supported_layers(weightless_sample(weights_.data()), kByAddress);
  EXPECT_NE(layers.find("<bias>"), std::string::npos) << layers;
}

}  // namespace
}  // namespace softnpu_test

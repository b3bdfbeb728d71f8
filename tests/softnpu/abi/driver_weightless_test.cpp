// Weights by address, through the loader.
#include <array>
#include <cstring>
#include <optional>

#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

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
  EXPECT_NE(client_.log.find("unsupported IR API version 48.0"), std::string::npos) << client_.log;
}

TEST_F(Weightless, IsNotWhatAClassicBufferIs) {
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                           &graph, kByAddress),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
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

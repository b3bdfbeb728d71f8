// IRs whose weights stay where they are, for compilers that take them.
#include <algorithm>
#include <array>

#include "fixture.hpp"

namespace conformance {
namespace {

constexpr const char* kOption = " --config NPU_MODEL_SERIALIZER_VERSION=\"NO_WEIGHTS_COPY\"";

class Weightless : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    NEEDS_GRAPH_EXTENSION(11);
    if (npu().graph->pfnCompilerIsOptionSupported(npu().device, ZE_NPU_COMPILER_OPTIONS,
                                                  "NPU_MODEL_SERIALIZER_VERSION",
                                                  "NO_WEIGHTS_COPY") != ZE_RESULT_SUCCESS) {
      GTEST_SKIP() << "the compiler needs the weights in the buffer";
    }
    std::copy(std::begin(kBias), std::end(kBias), bias_.begin());
  }
  // add_relu with its constant at `bias`.
  static std::string buffer_with(const float* bias) {
    return weightless_buffer(npu().compiler, add_relu_ir(bias).xml());
  }
  static ze_result_t create(const std::string& buffer, const char* option, Graph& graph,
                            const void* next = nullptr) {
    const std::string flags = build_flags_of(add_relu_ir()) + option;
    return npu().create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, graph, flags.c_str(), 0, next);
  }
  static void expect_result(Graph graph) {
    npu().initialise(graph);
    const AddRelu inference(std::move(graph));
    ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected());
  }
  std::array<float, 3> bias_{};
};

TEST_F(Weightless, ReadsTheWeightsWhileItIsCreated) {
  Graph graph;
  auto buffer = buffer_with(bias_.data());
  ASSERT_EQ(create(buffer, kOption, graph), ZE_RESULT_SUCCESS) << npu().log;
  bias_.fill(1e9f);
  std::fill(buffer.begin(), buffer.end(), '\xff');
  expect_result(std::move(graph));
}

TEST_F(Weightless, BecomesANativeBinaryLikeAnyOther) {
  std::string blob;
  {
    Graph graph;
    ASSERT_EQ(create(buffer_with(bias_.data()), kOption, graph), ZE_RESULT_SUCCESS) << npu().log;
    blob = npu().native_binary(graph);
  }
  bias_.fill(1e9f);
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS);
  expect_result(std::move(graph));
}

TEST_F(Weightless, MayCopyItsWeightsAllTheSame) {
  Graph graph;
  const IrWriter ir = add_relu_ir();
  ASSERT_EQ(create(weightless_buffer(npu().compiler, ir.xml(), ir.weights()), kOption, graph),
            ZE_RESULT_SUCCESS)
      << npu().log;
  expect_result(std::move(graph));
}

TEST_F(Weightless, IsAnUnknownVersionWhereTheOptionIsForgotten) {
  Graph graph;
  EXPECT_EQ(create(buffer_with(bias_.data()), "", graph), ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_NE(npu().log.find("48.0"), std::string::npos) << npu().log;
}

TEST_F(Weightless, RefusesAClassicBuffer) {
  Graph graph;
  const IrWriter ir = add_relu_ir();
  EXPECT_NE(create(classic_buffer(npu().compiler, ir.xml(), ir.weights()), kOption, graph),
            ZE_RESULT_SUCCESS);
  EXPECT_FALSE(npu().log.empty());
}

TEST_F(Weightless, IsQueriedToo) {
  const auto buffer = buffer_with(bias_.data());
  const std::string layers = npu().supported_layers(buffer, kOption + 1);
  EXPECT_NE(layers.find("<sum>"), std::string::npos) << layers;
}

// The hash stands for an input whose addresses change.
class InputHash : public Weightless {
 protected:
  void SetUp() override {
    Weightless::SetUp();
    if (IsSkipped()) return;
    ze_graph_memory_query_t cache{};
    const bool has_cache =
        npu().graph_has(14) &&
        npu().graph->pfnQueryContextMemory(npu().context, ZE_GRAPH_QUERY_DRIVER_CACHE, &cache) ==
            ZE_RESULT_SUCCESS &&
        cache.total > 0;
    if (!has_cache) {
      GTEST_SKIP() << "no disk cache, or graph extension older than 1.14";
    }
  }
  bool is_from_cache(const float* address, uint64_t hash) const {
    const ze_graph_input_hash_t link{ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH, nullptr, hash};
    Graph graph;
    EXPECT_EQ(create(buffer_with(address), kOption, graph, &link), ZE_RESULT_SUCCESS) << npu().log;
    ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
    EXPECT_EQ(npu().graph->pfnGetProperties3(graph.get(), &properties), ZE_RESULT_SUCCESS);
    return (properties.flags & ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE) != 0;
  }
};

TEST_F(InputHash, StandsForTheInput) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);  // a hash that no earlier run has used
  const uint64_t hash =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  const auto elsewhere = bias_;
  EXPECT_FALSE(is_from_cache(bias_.data(), hash));
  EXPECT_TRUE(is_from_cache(elsewhere.data(), hash));
  EXPECT_FALSE(is_from_cache(bias_.data(), hash + 1));
}

}  // namespace
}  // namespace conformance

// IRs whose weights stay where they are, for compilers that take them.
#include <algorithm>
#include <array>

#include "fixture.hpp"

namespace conformance {
namespace {

constexpr const char* kOption = " --config NPU_MODEL_SERIALIZER_VERSION=\"NO_WEIGHTS_COPY\"";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

template <class T>
void put(std::vector<uint8_t>& out, T value) {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

// Six u64 (offset and size of custom data, constants, XML), the compiler's version, constants, XML.
std::vector<uint8_t> weightless_buffer(const std::string& xml, std::span<const uint8_t> constants) {
  std::vector<uint8_t> out;
  const uint64_t model_offset = 52 + constants.size();
  for (const uint64_t number : {uint64_t{48}, uint64_t{4}, uint64_t{52}, uint64_t{constants.size()},
                                model_offset, uint64_t{xml.size()}}) {
    put(out, number);
  }
  put(out, Npu::get().compiler.major);
  put(out, Npu::get().compiler.minor);
  out.insert(out.end(), constants.begin(), constants.end());
  out.insert(out.end(), xml.begin(), xml.end());
  return out;
}

class Weightless : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    if (!npu().graph_has(11)) {
      GTEST_SKIP() << "graph extension older than 1.11";
    }
    if (npu().graph->pfnCompilerIsOptionSupported(npu().device, ZE_NPU_COMPILER_OPTIONS,
                                                  "NPU_MODEL_SERIALIZER_VERSION",
                                                  "NO_WEIGHTS_COPY") != ZE_RESULT_SUCCESS) {
      GTEST_SKIP() << "the compiler needs the weights in the buffer";
    }
    std::copy(std::begin(kBias), std::end(kBias), bias_.begin());
  }
  // add_relu with its constant at `address`.
  std::string xml_with(const void* address) const {
    const std::string pointer =
        "offset=\"0\" size=\"0\"/><rt_info><attribute name=\"WeightsPointerAttribute\" "
        "version=\"0\" mp=\"" +
        std::to_string(reinterpret_cast<uintptr_t>(address)) + "\" ms=\"12\"/></rt_info>";
    return replaced(add_relu_ir().xml(), "offset=\"0\" size=\"12\"/>", pointer);
  }
  ze_result_t create(const std::vector<uint8_t>& buffer, const char* option, Graph& graph) const {
    const std::string flags = add_relu_ir().build_flags() + option;
    const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, flags.c_str());
    return npu().graph->pfnCreate2(npu().context, npu().device, &desc, graph.out());
  }
  static void expect_result(Graph graph) {
    initialise(graph);
    const AddRelu inference(std::move(graph));
    ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected());
  }
  std::array<float, 3> bias_{};
};

TEST_F(Weightless, ReadsTheWeightsWhileItIsCreated) {
  Graph graph;
  auto buffer = weightless_buffer(xml_with(bias_.data()), {});
  ASSERT_EQ(create(buffer, kOption, graph), ZE_RESULT_SUCCESS) << last_build_log();
  bias_.fill(1e9f);
  std::fill(buffer.begin(), buffer.end(), uint8_t{0xff});
  expect_result(std::move(graph));
}

TEST_F(Weightless, BecomesANativeBinaryLikeAnyOther) {
  std::vector<uint8_t> blob;
  {
    Graph graph;
    ASSERT_EQ(create(weightless_buffer(xml_with(bias_.data()), {}), kOption, graph),
              ZE_RESULT_SUCCESS)
        << last_build_log();
    blob = native_binary(graph);
  }
  bias_.fill(1e9f);
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS);
  expect_result(std::move(graph));
}

TEST_F(Weightless, MayCopyItsWeightsAllTheSame) {
  Graph graph;
  const TinyIr ir = add_relu_ir();
  ASSERT_EQ(create(weightless_buffer(ir.xml(), ir.weights()), kOption, graph), ZE_RESULT_SUCCESS)
      << last_build_log();
  expect_result(std::move(graph));
}

TEST_F(Weightless, IsAnUnknownVersionWhereTheOptionIsForgotten) {
  Graph graph;
  EXPECT_EQ(create(weightless_buffer(xml_with(bias_.data()), {}), "", graph),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_NE(last_build_log().find("48.0"), std::string::npos) << last_build_log();
}

TEST_F(Weightless, RefusesAClassicBuffer) {
  Graph graph;
  const TinyIr ir = add_relu_ir();
  EXPECT_NE(create(ngraph_lite_buffer(npu().compiler, ir.xml(), ir.weights()), kOption, graph),
            ZE_RESULT_SUCCESS);
  EXPECT_FALSE(last_build_log().empty());
}

TEST_F(Weightless, IsQueriedToo) {
  const auto buffer = weightless_buffer(xml_with(bias_.data()), {});
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, kOption + 1);
  ze_graph_query_network_handle_t query = nullptr;
  ASSERT_EQ(npu().graph->pfnQueryNetworkCreate2(npu().context, npu().device, &desc, &query),
            ZE_RESULT_SUCCESS);
  size_t size = 0;
  npu().graph->pfnQueryNetworkGetSupportedLayers(query, &size, nullptr);
  std::string layers(size, '\0');
  npu().graph->pfnQueryNetworkGetSupportedLayers(query, &size, layers.data());
  EXPECT_EQ(npu().graph->pfnQueryNetworkDestroy(query), ZE_RESULT_SUCCESS);
  EXPECT_NE(layers.find("<sum>"), std::string::npos) << layers;
}

// Row 70, with the hash that stands for an input whose addresses change.
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
    const auto buffer = weightless_buffer(xml_with(address), {});
    const std::string flags = add_relu_ir().build_flags() + kOption;
    auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, flags.c_str());
    ze_graph_input_hash_t link{ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH, nullptr, hash};
    desc.pNext = &link;
    Graph graph;
    EXPECT_EQ(npu().graph->pfnCreate2(npu().context, npu().device, &desc, graph.out()),
              ZE_RESULT_SUCCESS)
        << last_build_log();
    ze_graph_properties_3_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3;
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

// Arguments with gaps between their rows, for models that were compiled for it.
#include "fixture.hpp"

namespace conformance {
namespace {

// add_relu's f32 [1,3,4,4] with a pitch of 6 elements a row and 30 a channel; innermost first.
constexpr uint32_t kStrides[5] = {1, 6, 30, 90, 90};
constexpr size_t kExtentElements = 3 * 1 + 3 * 6 + 2 * 30 + 1;
constexpr float kGap = -77.0f;

size_t strided_index(size_t dense) {
  return dense % 4 + dense / 4 % 4 * kStrides[1] + dense / 16 * kStrides[2];
}

class Strides : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    const auto& table = *npu().graph;
    NEEDS_GRAPH_EXTENSION(15);
    if (table.pfnCompilerIsOptionSupported(npu().device, ZE_NPU_COMPILER_OPTIONS,
                                           "NPU_ENABLE_STRIDES_FOR",
                                           nullptr) != ZE_RESULT_SUCCESS) {
      GTEST_SKIP() << "the compiler makes no arguments with strides";
    }
  }

  static Graph compile_for(const std::string& names) {
    return compile(add_relu_ir(), 0, "NPU_ENABLE_STRIDES_FOR=\"" + names + "\"");
  }

  static ze_result_t set(const Graph& graph, uint32_t index, const void* pointer,
                         const uint32_t (&strides)[5] = kStrides) {
    ze_graph_argument_value_strides_t second{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES, nullptr, {}};
    std::copy(std::begin(strides), std::end(strides), second.userStrides);
    const ze_graph_argument_value_tensor_t first{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR, &second,
                                                 pointer};
    return npu().graph->pfnSetArgumentValue2(graph.get(), index, &first);
  }

  static bool takes_strides(const Graph& graph, uint32_t index) {
    ze_graph_argument_property_strides_t strides{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTY_STRIDES,
                                                 nullptr, false};
    ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
    properties.pNext = &strides;
    EXPECT_EQ(npu().graph->pfnGetArgumentProperties3(graph.get(), index, &properties),
              ZE_RESULT_SUCCESS);
    return strides.supportsDynamicStrides;
  }

  static ze_result_t execute(const Graph& graph) {
    const List list = make_list();
    if (const auto appended = append(list, graph); appended != ZE_RESULT_SUCCESS) return appended;
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
    return run(make_queue(), list);
  }

  static std::vector<float> values() {
    std::vector<float> x(kAddReluElements);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 20.0f;
    return x;
  }
};

TEST_F(Strides, AreToldOfTheArgumentsThatTakeThem) {
  const Graph graph = compile_for("x");
  EXPECT_TRUE(takes_strides(graph, 0));
  EXPECT_FALSE(takes_strides(graph, 1));
}

TEST_F(Strides, AreToldOfANativeBinaryToo) {
  const auto blob = npu().native_binary(compile_for("x,y"));
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(takes_strides(graph, 0));
  EXPECT_TRUE(takes_strides(graph, 1));
}

TEST_F(Strides, OfAnInputLeaveOutItsGaps) {
  const Graph graph = compile_for("x");
  const Memory x = host_memory(kExtentElements * sizeof(float));
  const Memory y = host_memory(kAddReluBytes);
  std::fill(x.as<float>(), x.as<float>() + kExtentElements, kGap);
  const auto input = values();
  for (size_t i = 0; i < input.size(); ++i) x.as<float>()[strided_index(i)] = input[i];
  ASSERT_EQ(set(graph, 0, x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(npu().graph->pfnSetArgumentValue(graph.get(), 1, y.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(execute(graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + kAddReluElements),
            add_relu_expected(input));
}

TEST_F(Strides, OfAnOutputLeaveItsGapsAlone) {
  const Graph graph = compile_for("y");
  const Memory x = host_memory(kAddReluBytes);
  const Memory y = host_memory(kExtentElements * sizeof(float));
  const auto input = values();
  std::copy(input.begin(), input.end(), x.as<float>());
  std::fill(y.as<float>(), y.as<float>() + kExtentElements, kGap);
  std::vector<float> expected(kExtentElements, kGap);
  const auto dense = add_relu_expected(input);
  for (size_t i = 0; i < dense.size(); ++i) expected[strided_index(i)] = dense[i];
  ASSERT_EQ(npu().graph->pfnSetArgumentValue(graph.get(), 0, x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(set(graph, 1, y.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(execute(graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + kExtentElements), expected);
}

TEST_F(Strides, AreDroppedByTheNextAddress) {
  const Graph graph = compile_for("x");
  const Memory x = host_memory(kAddReluBytes);
  const Memory y = host_memory(kAddReluBytes);
  const auto input = values();
  std::copy(input.begin(), input.end(), x.as<float>());
  ASSERT_EQ(set(graph, 0, x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(set_arguments(graph, {x.as<>(), y.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(execute(graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + kAddReluElements),
            add_relu_expected(input));
}

TEST_F(Strides, NeedRoomUpToTheLastElement) {
  const Graph graph = compile_for("x");
  const Memory x = host_memory((kExtentElements - 1) * sizeof(float));
  const Memory y = host_memory(kAddReluBytes);
  ASSERT_EQ(set(graph, 0, x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(npu().graph->pfnSetArgumentValue(graph.get(), 1, y.as<>()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(make_list(), graph), ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(Strides, AreRefusedForTheOtherArguments) {
  const Graph graph = compile_for("x");
  const Memory y = host_memory(kPageBytes);
  EXPECT_EQ(set(graph, 1, y.as<>()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(Strides, AreRefusedWhereElementsWouldLieOnEachOther) {
  if (!npu().is_software()) {
    GTEST_SKIP() << "real drivers leave that to their firmware";
  }
  const Graph graph = compile_for("x");
  const Memory x = host_memory(kPageBytes);
  EXPECT_EQ(set(graph, 0, x.as<>(), {1, 3, 30, 90, 90}), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(set(graph, 0, x.as<>(), {0, 0, 0, 0, 0}), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(set(graph, 0, x.as<>(), {1, 6, 20, 90, 90}), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(Strides, ComeInAChainOfKnownLinks) {
  const Graph graph = compile_for("x");
  const ze_graph_input_hash_t foreign{ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH, nullptr, 0};
  EXPECT_EQ(npu().graph->pfnSetArgumentValue2(graph.get(), 0, &foreign),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(npu().graph->pfnSetArgumentValue2(graph.get(), 2, &foreign),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(npu().graph->pfnSetArgumentValue2(nullptr, 0, &foreign),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

}  // namespace
}  // namespace conformance

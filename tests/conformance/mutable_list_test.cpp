// Rows 60 and 61: arguments changed in a list that is closed. Lights up where the driver advertises
// mutable lists and the loader has the calls (from 1.17 on).
#include "fixture.hpp"

namespace conformance {
namespace {

using ArgumentDesc = ze_npu_core_mutable_graph_argument_exp_desc_t;

constexpr ze_npu_core_mutable_command_list_exp_desc_t kMutable{
    kZeNpuCoreStypeMutableCommandListExpDesc, nullptr, 0};

class MutableList : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    next_id_ = reinterpret_cast<ze_npu_core_pfnCommandListGetNextCommandIdExp_t>(
        loader_symbol("zeCommandListGetNextCommandIdExp"));
    update_ = reinterpret_cast<ze_npu_core_pfnCommandListUpdateMutableCommandsExp_t>(
        loader_symbol("zeCommandListUpdateMutableCommandsExp"));
    const bool offered = npu().advertises(ZE_NPU_CORE_MUTABLE_COMMAND_LIST_EXP_NAME);
    if (next_id_ == nullptr || update_ == nullptr) {
      EXPECT_FALSE(offered) << "clients call what this loader does not have";
      GTEST_SKIP() << "the loader has no mutable lists";
    }
    if (!offered) {
      GTEST_SKIP() << "no mutable lists";
    }
  }
  ze_result_t next_id(const List& list, uint64_t* id,
                      uint32_t flags = kZeNpuCoreMutableCommandFlagGraphArguments) {
    ze_npu_core_mutable_command_id_exp_desc_t desc{kZeNpuCoreStypeMutableCommandIdExpDesc, nullptr,
                                                   flags};
    return next_id_(list.get(), &desc, id);
  }
  ze_result_t update(const List& list, const void* chain, uint32_t flags = 0) {
    ze_npu_core_mutable_commands_exp_desc_t desc{kZeNpuCoreStypeMutableCommandsExpDesc, chain,
                                                 flags};
    return update_(list.get(), &desc);
  }
  ze_result_t update(const List& list, uint64_t id, uint32_t index, const void* value) {
    const ArgumentDesc argument{kZeNpuCoreStypeMutableGraphArgumentExpDesc, nullptr, id, index,
                                value};
    return update(list, &argument);
  }
  // Appends a graph and names its command.
  uint64_t append_named(const List& list, const Graph& graph) {
    uint64_t id = 0;
    EXPECT_EQ(next_id(list, &id), ZE_RESULT_SUCCESS);
    EXPECT_EQ(append(list, graph), ZE_RESULT_SUCCESS);
    return id;
  }
  // The same in a list with nothing else, which is then closed.
  uint64_t record(const List& list, const Graph& graph) {
    const uint64_t id = append_named(list, graph);
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
    return id;
  }

 private:
  ze_npu_core_pfnCommandListGetNextCommandIdExp_t next_id_ = nullptr;
  ze_npu_core_pfnCommandListUpdateMutableCommandsExp_t update_ = nullptr;
};

// add_relu in a mutable list, recorded on its own memory, and memory to change to.
struct Changeable : AddRelu {
  Memory other_x = host_memory(kAddReluBytes);
  Memory other_y = host_memory(kAddReluBytes);
  List list = make_list(&kMutable);
  Queue queue = make_queue();

  Changeable() { std::fill(other_x.as<float>(), other_x.as<float>() + kAddReluElements, 4.0f); }
  static constexpr float kOtherResult = 4.5f;  // of the second channel of `other_x`
};

ze_result_t close_and_run(const Queue& queue, const List& list) {
  const ze_result_t closed = zeCommandListClose(list.get());
  return closed == ZE_RESULT_SUCCESS ? run(queue, list) : closed;
}

float second_channel(const Memory& y) {
  return y.as<float>()[16];
}

TEST_F(MutableList, TakesAnotherInputAfterTheClose) {
  Changeable it;
  const uint64_t id = record(it.list, it.graph);
  ASSERT_EQ(run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(it.result(), it.expected());
  ASSERT_EQ(update(it.list, id, 0, it.other_x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
}

TEST_F(MutableList, TakesSeveralArgumentsAtOnce) {
  Changeable it;
  const uint64_t id = record(it.list, it.graph);
  const ArgumentDesc output{kZeNpuCoreStypeMutableGraphArgumentExpDesc, nullptr, id, 1,
                            it.other_y.as<>()};
  const ArgumentDesc input{kZeNpuCoreStypeMutableGraphArgumentExpDesc, &output, id, 0,
                           it.other_x.as<>()};
  ASSERT_EQ(update(it.list, &input), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.other_y), Changeable::kOtherResult);
  EXPECT_EQ(second_channel(it.y), 0.0f) << "the old output was written";
}

TEST_F(MutableList, KeepsTheLastOfTwoUpdates) {
  Changeable it;
  const Memory third = host_memory(kAddReluBytes);
  const uint64_t id = record(it.list, it.graph);
  ASSERT_EQ(update(it.list, id, 0, third.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(update(it.list, id, 0, it.other_x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
  ASSERT_EQ(update(it.list, id, 0, third.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), kBias[1]);
}

TEST_F(MutableList, ChangesTheCommandThatItNames) {
  Changeable it;
  const Memory second_y = host_memory(kAddReluBytes);
  const uint64_t first = append_named(it.list, it.graph);
  ASSERT_EQ(set_arguments(it.graph, {it.other_x.as<>(), second_y.as<>()}), ZE_RESULT_SUCCESS);
  const uint64_t second = append_named(it.list, it.graph);
  EXPECT_NE(first, second);
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(update(it.list, second, 1, it.other_y.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(it.result(), it.expected());
  EXPECT_EQ(second_channel(it.other_y), Changeable::kOtherResult);
  EXPECT_EQ(second_channel(second_y), 0.0f);
}

TEST_F(MutableList, TakesPointersInsideAnAllocation) {
  Changeable it;
  const Memory both = host_memory(2 * kPageBytes);
  std::memcpy(both.as<uint8_t>() + kPageBytes, it.other_x.as<>(), kAddReluBytes);
  const uint64_t id = record(it.list, it.graph);
  ASSERT_EQ(update(it.list, id, 0, both.as<uint8_t>() + kPageBytes), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
}

TEST_F(MutableList, LooksAtAPointerOnlyWhenItExecutes) {
  Changeable it;
  std::vector<float> ordinary(kAddReluElements);
  const uint64_t id = record(it.list, it.graph);
  ASSERT_EQ(update(it.list, id, 0, ordinary.data()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(run(it.queue, it.list), ZE_RESULT_ERROR_UNKNOWN);
  ASSERT_EQ(update(it.list, id, 0, it.other_x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
}

TEST_F(MutableList, RefusesTooLittleMemoryWhenItExecutes) {
  Changeable it;
  const Memory page = host_memory(kPageBytes);
  const uint64_t id = record(it.list, it.graph);
  ASSERT_EQ(update(it.list, id, 0, page.as<uint8_t>() + kPageBytes - kAddReluBytes + 4),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(run(it.queue, it.list), ZE_RESULT_ERROR_UNKNOWN);
}

TEST_F(MutableList, SurvivesTheGraphsHandle) {
  Changeable it;
  const uint64_t id = record(it.list, it.graph);
  if (!npu().is_software()) {
    GTEST_SKIP() << "real blobs go with their graph";
  }
  it.graph = Graph();
  ASSERT_EQ(update(it.list, id, 0, it.other_x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
}

TEST_F(MutableList, TakesTheSpellingOfOldClients) {
  Changeable it;
  uint64_t id = 0;
  ASSERT_EQ(next_id(it.list, &id, kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(append(it.list, it.graph), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  const ArgumentDesc argument{0x7, nullptr, id, 0, it.other_x.as<>()};
  ASSERT_EQ(update(it.list, &argument), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(second_channel(it.y), Changeable::kOtherResult);
}

TEST_F(MutableList, RefusesCommandsOfOtherKinds) {
  const List list = make_list(&kMutable);
  uint64_t id = 0;
  EXPECT_EQ(next_id(list, &id, 1), ZE_RESULT_ERROR_INVALID_ENUMERATION);
  EXPECT_EQ(next_id(list, &id,
                    kZeNpuCoreMutableCommandFlagGraphArguments |
                        kZeNpuCoreMutableCommandFlagGraphArgumentsDeprecated),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  ASSERT_EQ(next_id(list, &id), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list.get(), nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  const Memory memory = host_memory(kPageBytes);
  EXPECT_EQ(update(list, id, 0, memory.as<>()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MutableList, RefusesBadCommandsAndArguments) {
  const Changeable it;
  const uint64_t id = append_named(it.list, it.graph);
  const void* const x = it.x.as<>();
  EXPECT_EQ(update(it.list, id, 0, x), ZE_RESULT_ERROR_INVALID_ARGUMENT) << "the list is open";
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(update(it.list, id + 77, 0, x), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(update(it.list, id, 9, x), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  uint64_t next = 0;
  EXPECT_EQ(next_id(it.list, &next), ZE_RESULT_ERROR_INVALID_ARGUMENT) << "the list is closed";
  const ArgumentDesc unknown{0x99, nullptr, id, 0, x};
  EXPECT_EQ(update(it.list, &unknown), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MutableList, ChangesNothingWhenOneOfSeveralIsWrong) {
  Changeable it;
  const uint64_t id = record(it.list, it.graph);
  const ArgumentDesc wrong{kZeNpuCoreStypeMutableGraphArgumentExpDesc, nullptr, id, 9,
                           it.other_y.as<>()};
  const ArgumentDesc right{kZeNpuCoreStypeMutableGraphArgumentExpDesc, &wrong, id, 0,
                           it.other_x.as<>()};
  EXPECT_EQ(update(it.list, &right), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  if (!npu().is_software()) {
    GTEST_SKIP() << "not promised by every driver";
  }
  ASSERT_EQ(run(it.queue, it.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(it.result(), it.expected());
}

TEST_F(MutableList, RefusesStridesWhereTheArgumentTakesNone) {
  NEEDS_GRAPH_EXTENSION(15);
  const Changeable it;
  const uint64_t id = record(it.list, it.graph);
  ze_graph_argument_value_strides_t strides{
      ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES, nullptr, {1, 8, 64, 512, 512}};
  const ArgumentDesc argument{kZeNpuCoreStypeMutableGraphArgumentExpDesc, &strides, id, 0,
                              it.x.as<>()};
  EXPECT_EQ(update(it.list, &argument), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MutableList, TakesStridesAndForgetsThemWithTheNextPointer) {
  constexpr uint32_t kPitch = 8;  // elements from row to row, instead of 4
  NEEDS_GRAPH_EXTENSION(15);
  if (npu().graph->pfnCompilerIsOptionSupported(npu().device, ZE_NPU_COMPILER_OPTIONS,
                                                "NPU_ENABLE_STRIDES_FOR",
                                                nullptr) != ZE_RESULT_SUCCESS) {
    GTEST_SKIP() << "the compiler makes no arguments with strides";
  }
  AddRelu it(compile(add_relu_ir(), 0, "NPU_ENABLE_STRIDES_FOR=\"x\""));
  const Memory wide = host_memory(2 * kAddReluBytes);
  std::fill(wide.as<float>(), wide.as<float>() + 2 * kAddReluElements, -1000.0f);
  for (size_t i = 0; i < kAddReluElements; ++i) {
    wide.as<float>()[i / 4 * kPitch + i % 4] = it.x.as<float>()[i];
  }
  const List list = make_list(&kMutable);
  const Queue queue = make_queue();
  const uint64_t id = record(list, it.graph);
  ze_graph_argument_value_strides_t strides{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES,
                                            nullptr,
                                            {1, kPitch, 4 * kPitch, 12 * kPitch, 12 * kPitch}};
  const ArgumentDesc argument{kZeNpuCoreStypeMutableGraphArgumentExpDesc, &strides, id, 0,
                              wide.as<>()};
  ASSERT_EQ(update(list, &argument), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(queue, list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(it.result(), it.expected());
  it.fill(-3.0f);
  ASSERT_EQ(update(list, id, 0, it.x.as<>()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(close_and_run(queue, list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(it.result(), it.expected());
}

TEST_F(MutableList, RefusesStridesWithoutAnArgument) {
  const Changeable it;
  record(it.list, it.graph);
  const ze_graph_argument_value_strides_t strides{
      ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES, nullptr, {1, 4, 16, 48, 48}};
  EXPECT_EQ(update(it.list, &strides), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MutableList, ForgetsItsNamesByReset) {
  Changeable it;
  const uint64_t id = append_named(it.list, it.graph);
  ASSERT_EQ(zeCommandListReset(it.list.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(append(it.list, it.graph), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(it.list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(update(it.list, id, 0, it.other_x.as<>()), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(MutableList, IsNotWhatAPlainListIs) {
  const AddRelu plain;
  uint64_t id = 0;
  EXPECT_EQ(next_id(make_list(), &id), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(update(plain.list, nullptr), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace conformance

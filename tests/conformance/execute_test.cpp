// Executing graphs: rows 22, 33 to 38, 58 and 59 of the conformance list.
#include <algorithm>
#include <thread>

#include "fixture.hpp"

namespace conformance {
namespace {

class Execute : public NpuTest {};

TEST_F(Execute, ComputesTheModel) {
  const AddRelu inference;
  ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

TEST_F(Execute, SeesNewInputBytesEveryTime) {
  AddRelu inference;
  const Queue queue = make_queue();
  for (float first : {-100.0f, 0.0f, 5.5f}) {
    inference.fill(first);
    ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected()) << "first " << first;
  }
}

TEST_F(Execute, NumbersInputsFirstThenOutputs) {
  const Graph graph = compile(two_by_two_ir());
  const Memory a = host_memory(kTwoByTwoElements);
  const Memory b = host_memory(kTwoByTwoElements * sizeof(float));
  const Memory sum = host_memory(kTwoByTwoElements * sizeof(float));
  const Memory relu = host_memory(kTwoByTwoElements * sizeof(float));
  for (size_t i = 0; i < kTwoByTwoElements; ++i) {
    a.as<uint8_t>()[i] = static_cast<uint8_t>(200 + i);
    b.as<float>()[i] = static_cast<float>(i) - 3.5f;
  }
  const List list = make_list();
  ASSERT_EQ(record(list, graph, {a.as<>(), b.as<>(), sum.as<>(), relu.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  for (size_t i = 0; i < kTwoByTwoElements; ++i) {
    const float in = static_cast<float>(i) - 3.5f;
    EXPECT_EQ(sum.as<float>()[i], 200.0f + static_cast<float>(i) + in);
    EXPECT_EQ(relu.as<float>()[i], in > 0 ? in : 0.0f);
  }
}

TEST_F(Execute, TakesPointersInsideOneAllocation) {
  const Graph graph = compile(add_relu_ir());
  constexpr size_t kOffset = 192;
  const Memory memory = host_memory(2 * kOffset + 2 * kAddReluBytes);
  auto* x = reinterpret_cast<float*>(memory.as<uint8_t>() + kOffset);
  auto* y = reinterpret_cast<float*>(memory.as<uint8_t>() + 2 * kOffset + kAddReluBytes);
  for (size_t i = 0; i < kAddReluElements; ++i) x[i] = static_cast<float>(i) - 24.0f;
  const List list = make_list();
  ASSERT_EQ(record(list, graph, {x, y}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y, y + kAddReluElements), add_relu_expected({x, kAddReluElements}));
}

TEST_F(Execute, TakesDeviceMemory) {
  const Graph graph = compile(add_relu_ir());
  void* device_memory = nullptr;
  ASSERT_EQ(allocate_device(kAddReluBytes, &device_memory), ZE_RESULT_SUCCESS);
  const Memory x(npu().context, device_memory);
  const Memory y = host_memory(kAddReluBytes);
  std::fill(x.as<float>(), x.as<float>() + kAddReluElements, 2.0f);
  const List list = make_list();
  ASSERT_EQ(record(list, graph, {x.as<>(), y.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(y.as<float>()[16], 2.5f);
}

TEST_F(Execute, RefusesAnAppendWithUnsetArguments) {
  const Graph graph = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  const List list = make_list();
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_UNINITIALIZED);
  ASSERT_EQ(set_arguments(graph, {x.as<>()}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(Execute, RefusesAnAppendWithOrdinaryMemory) {
  const Graph graph = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  std::vector<float> ordinary(kAddReluElements);
  const List list = make_list();
  ASSERT_EQ(set_arguments(graph, {x.as<>(), ordinary.data()}), ZE_RESULT_SUCCESS)
      << "only the append checks the pointer";
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(Execute, RefusesAnAppendWithTooLittleMemory) {
  const Graph graph = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  const Memory small = host_memory(kAddReluBytes - 1);
  const List list = make_list();
  ASSERT_EQ(set_arguments(graph, {x.as<>(), small.as<>()}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_UNINITIALIZED);
  ASSERT_EQ(set_arguments(graph, {x.as<uint8_t>() + 4, x.as<>()}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_UNINITIALIZED)
      << "4 bytes short behind the offset";
}

TEST_F(Execute, RefusesAnotherContextsMemory) {
  const Npu other;
  const Graph graph = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  const Memory foreign = other.host_memory(kAddReluBytes);
  const List list = make_list();
  ASSERT_EQ(set_arguments(graph, {x.as<>(), foreign.as<>()}), ZE_RESULT_SUCCESS);
  const ze_result_t appended = append(list, graph);
  EXPECT_TRUE(appended == ZE_RESULT_ERROR_UNINITIALIZED ||
              appended == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
      << testing::PrintToString(appended);
}

TEST_F(Execute, RefusesNullGraphs) {
  const List list = make_list();
  EXPECT_EQ(npu().graph->pfnAppendGraphInitialize(list.get(), nullptr, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_UNINITIALIZED);
  EXPECT_EQ(npu().graph->pfnAppendGraphExecute(list.get(), nullptr, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(Execute, UsesTheArgumentsOfTheAppend) {
  const AddRelu inference;
  const Memory later = host_memory(kAddReluBytes);
  ASSERT_EQ(set_arguments(inference.graph, {later.as<>(), later.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
  EXPECT_EQ(later.as<float>()[47], 0.0f);
}

TEST_F(Execute, InitialisesThroughAListToo) {
  const IrWriter ir = add_relu_ir();
  const auto buffer = classic_buffer(npu().compiler, ir.xml(), ir.weights());
  const std::string flags = build_flags_of(ir);
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, flags.c_str());
  Graph graph;
  ASSERT_EQ(npu().graph->pfnCreate2(npu().context, npu().device, &desc, graph.out()),
            ZE_RESULT_SUCCESS);
  const List initialise = make_list();
  ASSERT_EQ(
      npu().graph->pfnAppendGraphInitialize(initialise.get(), graph.get(), nullptr, 0, nullptr),
      ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(initialise.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), initialise), ZE_RESULT_SUCCESS);
  const AddRelu inference(std::move(graph));
  ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

TEST_F(Execute, RunsTwoGraphsInOneList) {
  const Graph first = compile(add_relu_ir());
  const Graph second = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  const Memory middle = host_memory(kAddReluBytes);
  const Memory y = host_memory(kAddReluBytes);
  for (size_t i = 0; i < kAddReluElements; ++i) x.as<float>()[i] = static_cast<float>(i);
  const List list = make_list();
  ASSERT_EQ(set_arguments(first, {x.as<>(), middle.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(append(list, first), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list.get(), nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(record(list, second, {middle.as<>(), y.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  const auto once = add_relu_expected({x.as<float>(), kAddReluElements});
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + kAddReluElements),
            add_relu_expected(once));
}

TEST_F(Execute, RunsFromSeveralThreadsOnOneQueue) {
  constexpr int kThreads = 4;
  constexpr int kRuns = 50;
  const Queue queue = make_queue();
  std::vector<int> wrong(kThreads, 0);
  std::vector<AddRelu> inferences(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRuns; ++i) {
        inferences[t].fill(static_cast<float>(100 * t + i));
        if (run(queue, inferences[t].list) != ZE_RESULT_SUCCESS ||
            inferences[t].result() != inferences[t].expected()) {
          ++wrong[t];
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

TEST_F(Execute, QueuesMoreListsThanTheRingHolds) {
  constexpr size_t kLists = 70;  // 62 jobs fit into the kernel's ring
  const Queue queue = make_queue();
  const Graph graph = compile(add_relu_ir());
  const Memory x = host_memory(kLists * kAddReluBytes);
  const Memory y = host_memory(kLists * kAddReluBytes);
  std::vector<List> lists;
  std::vector<Fence> fences;
  for (size_t i = 0; i < kLists; ++i) {
    float* input = x.as<float>() + i * kAddReluElements;
    std::fill(input, input + kAddReluElements, static_cast<float>(i));
    lists.push_back(make_list());
    fences.push_back(make_fence(queue));
    ASSERT_EQ(record(lists[i], graph, {input, y.as<float>() + i * kAddReluElements}),
              ZE_RESULT_SUCCESS);
  }
  for (size_t i = 0; i < kLists; ++i) {
    ASSERT_EQ(submit(queue, lists[i], &fences[i]), ZE_RESULT_SUCCESS) << "list " << i;
  }
  for (size_t i = 0; i < kLists; ++i) {
    ASSERT_EQ(zeFenceHostSynchronize(fences[i].get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
    EXPECT_EQ(y.as<float>()[i * kAddReluElements + 16], static_cast<float>(i) + kBias[1])
        << "list " << i;
  }
}

// A device that needs long: on the software NPU the suite runs these with SOFTNPU_EXEC=delay:<us>.
class SlowDevice : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    const auto start = Clock::now();
    {
      const AddRelu inference;
      const Queue queue = make_queue();
      for (int i = 0; i < 2; ++i) {  // the first loads what a busy machine is late with
        const auto submitted = Clock::now();
        ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
        inference_s_ = std::min(inference_s_, seconds_since(submitted));
      }
    }
    if (inference_s_ < 0.1) {
      GTEST_SKIP() << "an inference is over too soon to be caught";
    }
    RecordProperty("inference_ms", static_cast<int>(inference_s_ * 1000));
    RecordProperty("setup_ms", static_cast<int>(seconds_since(start) * 1000));
  }
  double inference_s_ = 1e9;  // the least
};

TEST_F(SlowDevice, IsNotReadyUntilItIsDone) {
  const Queue queue = make_queue();
  const AddRelu inference;
  const Fence fence = make_fence(queue);
  bool seen_running = false;  // not each time, where a busy machine stops this thread
  for (int turn = 0; turn < 20 && !seen_running; ++turn) {
    const auto start = Clock::now();
    ASSERT_EQ(submit(queue, inference.list, &fence), ZE_RESULT_SUCCESS);
    seen_running = zeFenceQueryStatus(fence.get()) == ZE_RESULT_NOT_READY &&
                   zeFenceHostSynchronize(fence.get(), 1'000'000) == ZE_RESULT_NOT_READY;
    EXPECT_TRUE(seen_running || seconds_since(start) > 0.9 * inference_s_) << "ready too early";
    EXPECT_EQ(zeFenceHostSynchronize(fence.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeFenceReset(fence.get()), ZE_RESULT_SUCCESS);
  }
  EXPECT_TRUE(seen_running) << "submit waits for the inference";
}

// The command buffer of a running list is busy: the driver polls for up to two seconds.
TEST_F(SlowDevice, RunsAListThatIsRunningOnlyAfterwards) {
  const Queue queue = make_queue();
  const AddRelu inference;
  const Fence first = make_fence(queue);
  const Fence second = make_fence(queue);
  ASSERT_EQ(submit(queue, inference.list, &first), ZE_RESULT_SUCCESS);
  const auto start = Clock::now();
  const ze_result_t again = submit(queue, inference.list, &second);
  const double waited_s = seconds_since(start);
  if (inference_s_ > 2.1) {
    EXPECT_EQ(again, ZE_RESULT_ERROR_UNKNOWN);
    EXPECT_GT(waited_s, 1.75);
    EXPECT_EQ(zeFenceQueryStatus(first.get()), ZE_RESULT_NOT_READY) << "until the list was over";
  } else {
    EXPECT_EQ(again, ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeFenceQueryStatus(first.get()), ZE_RESULT_SUCCESS) << "before the list was over";
    EXPECT_EQ(zeFenceHostSynchronize(second.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(zeFenceHostSynchronize(first.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(queue.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
}

TEST_F(SlowDevice, KeepsMemoryThatAListStillUses) {
  const Queue queue = make_queue();
  AddRelu inference;
  const Fence fence = make_fence(queue);
  ASSERT_EQ(submit(queue, inference.list, &fence), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.x.free(), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.y.free(), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceHostSynchronize(fence.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
}

}  // namespace
}  // namespace conformance

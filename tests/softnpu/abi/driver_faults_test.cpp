// Faults as an application meets them: through the loader, by the environment and by the driver's
// own functions.
#include <gtest/gtest.h>

#include "client.hpp"

namespace softnpu_test {
namespace {

const std::vector<float> kExpected = {11, 22, 33, 44};

// The first test to run: the environment's specification counts from the process's first call.
TEST(AFaultOfTheEnvironment, HitsTheCallThatItNames) {
  Client client;
  const ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue = nullptr;
  ASSERT_EQ(zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue),
            ZE_RESULT_SUCCESS);
  const ze_fence_desc_t fence_desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, ZE_FENCE_FLAG_SIGNALED};
  ze_fence_handle_t fence = nullptr;
  ASSERT_EQ(zeFenceCreate(queue, &fence_desc, &fence), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_ERROR_NOT_AVAILABLE);
  EXPECT_EQ(zeFenceQueryStatus(fence), ZE_RESULT_SUCCESS) << "an item with a wrong result";
  zeFenceDestroy(fence);
  zeCommandQueueDestroy(queue);
}

class Faults : public testing::Test {
 protected:
  Faults() {
    ze_graph_handle_t graph = nullptr;
    EXPECT_EQ(client_.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                             &graph),
              ZE_RESULT_SUCCESS);
    graph_ = graph;
    before_ = client_.live_objects();
  }
  ~Faults() override { client_.graphs->pfnDestroy(graph_); }
  void TearDown() override {
    set_fault("");
    std::string names;
    EXPECT_EQ(client_.live_objects(&names), before_) << names;
    EXPECT_EQ(client_.run(graph_), kExpected) << "the driver is not itself again";
  }

  void* tool(const char* name) {
    void* address = nullptr;
    EXPECT_EQ(zeDriverGetExtensionFunctionAddress(client_.driver, name, &address),
              ZE_RESULT_SUCCESS);
    return address;
  }
  ze_result_t set_fault(const char* specification) {
    return reinterpret_cast<ze_result_t (*)(const char*)>(tool("softnpuSetFault"))(specification);
  }
  std::string call_counts() {
    const char* text = nullptr;
    reinterpret_cast<ze_result_t (*)(const char**)>(tool("softnpuGetCallCounts"))(&text);
    return text;
  }

  Client client_;
  ze_graph_handle_t graph_ = nullptr;
  uint32_t before_ = 0;
};

TEST_F(Faults, HitCoreCallsAndExtensionCallsAlike) {
  ASSERT_EQ(set_fault("zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1,pfnGetProperties:UNKNOWN@2"),
            ZE_RESULT_SUCCESS);
  EXPECT_THROW(client_.allocate(4), std::runtime_error);
  float* const memory = client_.allocate(4);
  EXPECT_EQ(zeMemFree(client_.context, memory), ZE_RESULT_SUCCESS);
  ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  EXPECT_EQ(client_.graphs->pfnGetProperties(graph_, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.graphs->pfnGetProperties(graph_, &properties), ZE_RESULT_ERROR_UNKNOWN);
}

TEST_F(Faults, LeakNothingWhenADestroyFails) {
  ASSERT_EQ(set_fault("zeMemFree:UNKNOWN@1+,zeCommandListDestroy:UNKNOWN@1+,"
                      "zeCommandQueueDestroy:DEVICE_LOST@1+"),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.run(graph_), kExpected);
}

TEST_F(Faults, TellHowOftenEveryCallWasMade) {
  ASSERT_EQ(set_fault(nullptr), ZE_RESULT_SUCCESS);
  client_.run(graph_);
  const std::string counts = " " + call_counts() + " ";
  for (const char* expected :
       {" zeMemAllocHost 2 ", " pfnSetArgumentValue 2 ", " pfnAppendGraphExecute 1 ",
        " zeCommandQueueExecuteCommandLists 1 ", " zeMemFree 2 "}) {
    EXPECT_NE(counts.find(expected), std::string::npos) << expected << " in" << counts;
  }
  EXPECT_EQ(counts.find("softnpu"), std::string::npos) << counts;
}

TEST_F(Faults, EndWithoutASpecification) {
  for (const char* none : {"", static_cast<const char*>(nullptr)}) {
    ASSERT_EQ(set_fault("zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1+"), ZE_RESULT_SUCCESS);
    EXPECT_THROW(client_.allocate(4), std::runtime_error);
    ASSERT_EQ(set_fault(none), ZE_RESULT_SUCCESS);
    EXPECT_EQ(client_.run(graph_), kExpected);
  }
}

TEST_F(Faults, RefuseAWrongSpecification) {
  EXPECT_EQ(set_fault("zeMemAllocHost@1"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(set_fault("zeMemAllocHots:UNKNOWN@1"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(Faults, PoisonAContextUntilItIsGone) {
  ASSERT_EQ(set_fault("zeCommandQueueExecuteCommandLists:POISON@1"), ZE_RESULT_SUCCESS);
  Client poisoned;
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(poisoned.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                            &graph),
            ZE_RESULT_SUCCESS);
  EXPECT_TRUE(poisoned.run(graph).empty());
  EXPECT_TRUE(poisoned.run(graph).empty()) << "the context works again";
  poisoned.graphs->pfnDestroy(graph);
  EXPECT_EQ(client_.run(graph_), kExpected) << "another context is poisoned too";
}

TEST_F(Faults, EndTheWorkBehindAWaitThatFails) {
  ASSERT_EQ(set_fault("zeCommandQueueSynchronize:DEVICE_LOST@1"), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(client_.run(graph_).empty());
  EXPECT_EQ(client_.run(graph_), kExpected);
}

}  // namespace
}  // namespace softnpu_test

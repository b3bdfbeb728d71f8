// Faults as an application meets them: through the loader, by the environment and by the driver's
// own functions.
#include <gtest/gtest.h>

#include "client.hpp"

namespace softnpu_test {
namespace {

// The first test to run: the environment's specification counts from the process's first call.
TEST(AFaultOfTheEnvironment, HitsTheCallThatItNames) {
  Client client;
  const Queue queue = client.make_queue();
  const Fence fence = make_fence(queue, ZE_FENCE_FLAG_SIGNALED);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_ERROR_NOT_AVAILABLE);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_SUCCESS) << "an item with a wrong result";
}

class Faults : public testing::Test {
 protected:
  void TearDown() override {
    set_fault("");
    const LiveObjects now = client_.live_objects();
    EXPECT_EQ(now.count, before_) << now.text;
    EXPECT_EQ(client_.run(graph_), kExpected) << "the driver is not itself again";
  }

  ze_result_t set_fault(const char* specification) {
    const auto set =
        reinterpret_cast<ze_result_t (*)(const char*)>(client_.function("softnpuSetFault"));
    return set(specification);
  }
  std::string call_counts() {
    const char* text = nullptr;
    reinterpret_cast<ze_result_t (*)(const char**)>(client_.function("softnpuGetCallCounts"))(
        &text);
    return text;
  }

  Client client_;
  Graph graph_ = client_.sample();
  uint32_t before_ = client_.live_objects().count;
};

TEST_F(Faults, HitCoreCallsAndExtensionCallsAlike) {
  ASSERT_EQ(set_fault("zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1,pfnGetProperties:UNKNOWN@2"),
            ZE_RESULT_SUCCESS);
  EXPECT_THROW(client_.floats(4), std::runtime_error);
  EXPECT_EQ(client_.floats(4).free(), ZE_RESULT_SUCCESS);
  ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  EXPECT_EQ(client_.graph->pfnGetProperties(graph_.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.graph->pfnGetProperties(graph_.get(), &properties), ZE_RESULT_ERROR_UNKNOWN);
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
    EXPECT_TRUE(has(counts, expected));
  }
  EXPECT_FALSE(has(counts, "softnpu"));
}

TEST_F(Faults, EndWithoutASpecification) {
  for (const char* none : {"", static_cast<const char*>(nullptr)}) {
    ASSERT_EQ(set_fault("zeMemAllocHost:OUT_OF_DEVICE_MEMORY@1+"), ZE_RESULT_SUCCESS);
    EXPECT_THROW(client_.floats(4), std::runtime_error);
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
  const Graph graph = poisoned.sample();
  EXPECT_TRUE(poisoned.run(graph).empty());
  EXPECT_TRUE(poisoned.run(graph).empty()) << "the context works again";
  EXPECT_EQ(client_.run(graph_), kExpected) << "another context is poisoned too";
}

TEST_F(Faults, EndTheWorkBehindAWaitThatFails) {
  ASSERT_EQ(set_fault("zeCommandQueueSynchronize:DEVICE_LOST@1"), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(client_.run(graph_).empty());
  EXPECT_EQ(client_.run(graph_), kExpected);
}

}  // namespace
}  // namespace softnpu_test

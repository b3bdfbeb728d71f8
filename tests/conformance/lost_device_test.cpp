// Rows 64 and 65: a device that hangs, and a context that its MMU has faulted. Only a driver that
// fails on demand can be asked.
#include "fixture.hpp"

namespace conformance {
namespace {

using SetFault = ze_result_t (*)(const char*);

class LostDevice : public NpuTest {
 protected:
  void SetUp() override {
    NpuTest::SetUp();
    set_fault_ = reinterpret_cast<SetFault>(npu().function("softnpuSetFault"));
    if (set_fault_ == nullptr) {
      GTEST_SKIP() << "the driver does not fail on demand";
    }
  }
  void TearDown() override {
    if (set_fault_ != nullptr) {
      fail("");
    }
    NpuTest::TearDown();
  }
  void fail(const char* specification) { ASSERT_EQ(set_fault_(specification), ZE_RESULT_SUCCESS); }

 private:
  SetFault set_fault_ = nullptr;
};

// A copy of a float in a context of its own.
struct Copy {
  Copy() {
    EXPECT_EQ(zeCommandListAppendMemoryCopy(list.get(), to.as<>(), from.as<>(), sizeof(float),
                                            nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
    *from.as<float>() = 7.0f;
  }
  Npu own;
  Memory from = own.host_memory(kPageBytes);
  Memory to = own.host_memory(kPageBytes);
  Queue queue = own.make_queue();
  List list = own.make_list();
};

TEST_F(LostDevice, IsToldByTheFenceAndWorksAgain) {
  const AddRelu inference;
  const Queue queue = make_queue();
  fail("zeFenceHostSynchronize:DEVICE_LOST@1");
  EXPECT_EQ(run(queue, inference.list), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

TEST_F(LostDevice, IsToldByTheQueueAndWorksAgain) {
  const AddRelu inference;
  const Queue queue = make_queue();
  fail("zeCommandQueueSynchronize:DEVICE_LOST@1");
  ASSERT_EQ(submit(queue, inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(queue.get(), kOneMinuteNs), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
}

TEST_F(LostDevice, AbortsAllThatIsInFlight) {
  const Copy first;
  const Copy second;
  EventPool pool;
  const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                       ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
  ASSERT_EQ(zeEventPoolCreate(npu().context, &pool_desc, 0, nullptr, pool.out()),
            ZE_RESULT_SUCCESS);
  Event never;
  const ze_event_desc_t event_desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, 0, 0};
  ASSERT_EQ(zeEventCreate(pool.get(), &event_desc, never.out()), ZE_RESULT_SUCCESS);
  const List waiting = first.own.make_list();
  ze_event_handle_t handle = never.get();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(waiting.get(), 1, &handle), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(waiting.get()), ZE_RESULT_SUCCESS);
  const Fence fence = make_fence(first.queue);
  ASSERT_EQ(submit(first.queue, waiting, &fence), ZE_RESULT_SUCCESS);

  fail("zeFenceHostSynchronize:DEVICE_LOST@1");
  EXPECT_EQ(run(second.queue, second.list), ZE_RESULT_ERROR_DEVICE_LOST);
  EXPECT_EQ(zeFenceHostSynchronize(fence.get(), kOneMinuteNs), ZE_RESULT_ERROR_DEVICE_LOST);
}

TEST_F(LostDevice, LeavesAFaultedContextUnusableAndOthersAsTheyWere) {
  const Copy faulted;
  fail("zeCommandQueueExecuteCommandLists:POISON@1");
  EXPECT_EQ(run(faulted.queue, faulted.list), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(run(faulted.queue, faulted.list), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(run(faulted.own.make_queue(), faulted.list), ZE_RESULT_ERROR_UNKNOWN);
  const Copy fresh;
  EXPECT_EQ(run(fresh.queue, fresh.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(*fresh.to.as<float>(), 7.0f);
}

}  // namespace
}  // namespace conformance

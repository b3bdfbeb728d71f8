// Fences and events: rows 50 to 57 of the conformance list.
#include "fixture.hpp"

namespace conformance {
namespace {

class FenceCalls : public NpuTest {};

TEST_F(FenceCalls, AreNotReadyBeforeASubmit) {
  const Queue queue = make_queue();
  const Fence fence = make_fence(queue);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeFenceHostSynchronize(fence.get(), 0), ZE_RESULT_NOT_READY);
  EXPECT_EQ(zeFenceHostSynchronize(fence.get(), 1), ZE_RESULT_NOT_READY);
}

TEST_F(FenceCalls, StartSignalledWhenAsked) {
  const Queue queue = make_queue();
  const Fence fence = make_fence(queue, ZE_FENCE_FLAG_SIGNALED);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeFenceReset(fence.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_NOT_READY);
}

TEST_F(FenceCalls, AreReadyAfterTheWorkAndReusableByReset) {
  const Queue queue = make_queue();
  AddRelu inference;
  const Fence fence = make_fence(queue);
  for (float first : {1.0f, 2.0f}) {
    inference.fill(first);
    ASSERT_EQ(submit(queue, inference.list, &fence), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeFenceHostSynchronize(fence.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected());
    EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_SUCCESS);
    ASSERT_EQ(zeFenceReset(fence.get()), ZE_RESULT_SUCCESS);
  }
}

TEST_F(FenceCalls, ComeTrueWhenPolled) {
  const Queue queue = make_queue();
  const AddRelu inference;
  const Fence fence = make_fence(queue);
  ASSERT_EQ(submit(queue, inference.list, &fence), ZE_RESULT_SUCCESS);
  ze_result_t result = ZE_RESULT_NOT_READY;
  const auto start = Clock::now();
  while (result == ZE_RESULT_NOT_READY && seconds_since(start) < 60) {
    result = zeFenceHostSynchronize(fence.get(), 0);
  }
  EXPECT_EQ(result, ZE_RESULT_SUCCESS);
}

TEST_F(FenceCalls, BelongToTheirQueue) {
  const Queue queue = make_queue();
  const Queue other = make_queue();
  const AddRelu inference;
  const Fence fence = make_fence(other);
  EXPECT_EQ(submit(queue, inference.list, &fence), ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
  EXPECT_EQ(zeCommandQueueSynchronize(queue.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
}

class EventCalls : public NpuTest {
 protected:
  EventPool make_pool(uint32_t count) {
    ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                              ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count};
    EventPool pool;
    EXPECT_EQ(zeEventPoolCreate(npu().context, &desc, 0, nullptr, pool.out()), ZE_RESULT_SUCCESS);
    return pool;
  }
  ze_result_t create(const EventPool& pool, uint32_t index, Event& event) {
    ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, 0, 0};
    return zeEventCreate(pool.get(), &desc, event.out());
  }
};

TEST_F(EventCalls, NeedAPoolThatHoldsSome) {
  ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 0};
  EventPool pool;
  EXPECT_EQ(zeEventPoolCreate(npu().context, &desc, 0, nullptr, pool.out()),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(EventCalls, NeedAFreeIndex) {
  const EventPool pool = make_pool(2);
  Event first;
  Event again;
  Event outside;
  EXPECT_EQ(create(pool, 2, outside), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(create(pool, 1, first), ZE_RESULT_SUCCESS);
  EXPECT_EQ(create(pool, 1, again), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  first = Event();
  EXPECT_EQ(create(pool, 1, again), ZE_RESULT_SUCCESS);
}

TEST_F(EventCalls, AreNotReadyAtOnceWhenNothingWillSignalThem) {
  const EventPool pool = make_pool(1);
  Event event;
  ASSERT_EQ(create(pool, 0, event), ZE_RESULT_SUCCESS);
  const auto start = Clock::now();
  EXPECT_EQ(zeEventHostSynchronize(event.get(), kOneMinuteNs), ZE_RESULT_NOT_READY);
  EXPECT_LT(seconds_since(start), 30.0);
}

TEST_F(EventCalls, AreSetAndClearedByTheHost) {
  const EventPool pool = make_pool(1);
  Event event;
  ASSERT_EQ(create(pool, 0, event), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event.get()), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(event.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeEventHostReset(event.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventQueryStatus(event.get()), ZE_RESULT_NOT_READY);
}

// A trap: only a reset forgets that the fence was signalled.
TEST_F(EventCalls, ShowThatAFenceUsedAgainWithoutAResetReportsAtOnce) {
  const EventPool pool = make_pool(1);
  Event event;
  ASSERT_EQ(create(pool, 0, event), ZE_RESULT_SUCCESS);
  const Queue queue = make_queue();
  const Fence fence = make_fence(queue);
  const List nothing = make_list();
  ASSERT_EQ(zeCommandListClose(nothing.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(submit(queue, nothing, &fence), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeFenceHostSynchronize(fence.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  const List waiting = make_list();
  ze_event_handle_t handle = event.get();
  ASSERT_EQ(zeCommandListAppendWaitOnEvents(waiting.get(), 1, &handle), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(waiting.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(submit(queue, waiting, &fence), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeFenceQueryStatus(fence.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(queue.get(), 0), ZE_RESULT_NOT_READY);
  ASSERT_EQ(zeEventHostSignal(event.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(queue.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
}

TEST_F(EventCalls, OrderOneQueueAfterAnother) {
  const EventPool pool = make_pool(1);
  Event event;
  ASSERT_EQ(create(pool, 0, event), ZE_RESULT_SUCCESS);
  const Graph first = compile(add_relu_ir());
  const Graph second = compile(add_relu_ir());
  const Memory x = host_memory(kAddReluBytes);
  const Memory middle = host_memory(kAddReluBytes);
  const Memory y = host_memory(kAddReluBytes);
  for (size_t i = 0; i < kAddReluElements; ++i) x.as<float>()[i] = static_cast<float>(i);
  const List waiting = make_list();
  ASSERT_EQ(set_arguments(second, {middle.as<>(), y.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(append(waiting, second, nullptr, {event.get()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(waiting.get()), ZE_RESULT_SUCCESS);
  const List signalling = make_list();
  ASSERT_EQ(set_arguments(first, {x.as<>(), middle.as<>()}), ZE_RESULT_SUCCESS);
  ASSERT_EQ(append(signalling, first, event.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(signalling.get()), ZE_RESULT_SUCCESS);
  const Queue one = make_queue();
  const Queue two = make_queue();
  ASSERT_EQ(submit(one, signalling), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(two, waiting), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeEventHostSynchronize(event.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandQueueSynchronize(one.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  const auto once = add_relu_expected({x.as<float>(), kAddReluElements});
  EXPECT_EQ(std::vector<float>(y.as<float>(), y.as<float>() + kAddReluElements),
            add_relu_expected(once));
}

}  // namespace
}  // namespace conformance

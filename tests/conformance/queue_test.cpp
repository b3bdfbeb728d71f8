// Queues, lists and contexts: rows 42 to 49, 63 and 66 of the conformance list.
#include "fixture.hpp"

namespace conformance {
namespace {

class QueueCalls : public NpuTest {
 protected:
  ze_result_t create(ze_command_queue_desc_t desc) {
    desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    Queue queue;
    return zeCommandQueueCreate(npu().context, npu().device, &desc, queue.out());
  }
  ze_result_t create_with(const void* options) {
    ze_command_queue_desc_t desc{};
    desc.pNext = options;
    return create(desc);
  }
};

class ContextCalls : public NpuTest {};

TEST_F(QueueCalls, RefuseAnOrdinalThatIsNotThere) {
  ze_command_queue_desc_t desc{};
  desc.ordinal = 1;
  EXPECT_EQ(create(desc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(QueueCalls, TakeEveryPriority) {
  for (auto priority : {ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW, ZE_COMMAND_QUEUE_PRIORITY_NORMAL,
                        ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH}) {
    const AddRelu inference;
    ASSERT_EQ(run(npu().make_queue(priority), inference.list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected());
  }
}

TEST_F(QueueCalls, TakeDeviceSyncOnlyWhereItIsAdvertised) {
  const auto extension = npu().extensions.find(ZE_COMMAND_QUEUE_NPU_EXT_NAME);
  if (extension == npu().extensions.end()) {
    GTEST_SKIP() << "no command queue extension";
  }
  ze_command_queue_desc_npu_ext_2_t options{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2, nullptr,
                                            ZE_NPU_COMMAND_QUEUE_OPTION_DEVICE_SYNC};
  ze_command_queue_desc_t desc{};
  desc.pNext = &options;
  const bool advertised = ze_npu_version_has(extension->second, 1, 1);
  EXPECT_EQ(create(desc), advertised ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED);
  desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  EXPECT_EQ(create(desc), ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(QueueCalls, RunInTheBackgroundAndBack) {
  if (npu().queue_ext == nullptr) {
    GTEST_SKIP() << "no command queue extension";
  }
  const AddRelu inference;
  const Queue queue = make_queue();
  for (const auto type : {ZE_WORKLOAD_TYPE_BACKGROUND, ZE_WORKLOAD_TYPE_DEFAULT}) {
    ASSERT_EQ(npu().queue_ext->pfnSetWorkloadType(queue.get(), type), ZE_RESULT_SUCCESS);
    ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
    EXPECT_EQ(inference.result(), inference.expected());
  }
}

TEST_F(QueueCalls, TakeTurboInBothForms) {
  const auto extension = npu().extensions.find(ZE_COMMAND_QUEUE_NPU_EXT_NAME);
  if (extension == npu().extensions.end()) {
    GTEST_SKIP() << "no command queue extension";
  }
  const ze_command_queue_desc_npu_ext_t older{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT, nullptr,
                                              true};
  EXPECT_EQ(create_with(&older), ZE_RESULT_SUCCESS);
  if (extension->second < ZE_COMMAND_QUEUE_NPU_EXT_VERSION_1_1) return;
  const ze_command_queue_desc_npu_ext_2_t newer{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC_NPU_EXT_2,
                                                nullptr, ZE_NPU_COMMAND_QUEUE_OPTION_TURBO};
  EXPECT_EQ(create_with(&newer), ZE_RESULT_SUCCESS);
}

TEST_F(ContextCalls, TakeIdleOptions) {
  if (npu().context_ext == nullptr) {
    GTEST_SKIP() << "no context extension";
  }
  const Npu other;
  for (const ze_npu_context_options_t options :
       {ze_npu_context_options_t{0},
        ze_npu_context_options_t{ZE_NPU_CONTEXT_OPTION_IDLE_OPTIMIZATIONS}}) {
    ze_context_properties_npu_ext_t properties{ZE_STRUCTURE_TYPE_CONTEXT_PROPERTIES_NPU_EXT,
                                               nullptr, options};
    EXPECT_EQ(npu().context_ext->pfnSetProperties(other.context, &properties), ZE_RESULT_SUCCESS);
  }
  EXPECT_EQ(npu().context_ext->pfnSetProperties(other.context, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(ContextCalls, GiveIdleMemoryBackAndGoOn) {
  if (npu().context_ext == nullptr) {
    GTEST_SKIP() << "no context extension";
  }
  const AddRelu inference;
  const Queue queue = make_queue();
  ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(npu().context_ext->pfnReleaseMemory(npu().context), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(queue, inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

TEST_F(QueueCalls, RefuseBadWorkloadTypes) {
  if (npu().queue_ext == nullptr) {
    GTEST_SKIP() << "no command queue extension";
  }
  const Queue queue = make_queue();
  const auto set = npu().queue_ext->pfnSetWorkloadType;
  EXPECT_EQ(set(nullptr, ZE_WORKLOAD_TYPE_DEFAULT), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(set(queue.get(), static_cast<ze_command_queue_workload_type_t>(9)),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  EXPECT_EQ(set(queue.get(), ZE_WORKLOAD_TYPE_BACKGROUND), ZE_RESULT_SUCCESS);
}

TEST_F(QueueCalls, RefuseZeroLists) {
  const Queue queue = make_queue();
  const AddRelu inference;
  ze_command_list_handle_t list = inference.list.get();
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue.get(), 0, &list, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(QueueCalls, RefuseNullLists) {
  if (handles_are_wrapped()) {
    GTEST_SKIP() << "the loader reads through null itself";
  }
  const Queue queue = make_queue();
  ze_command_list_handle_t none = nullptr;
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue.get(), 1, nullptr, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue.get(), 1, &none, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(QueueCalls, RefuseAnOpenList) {
  const Queue queue = make_queue();
  EXPECT_EQ(submit(queue, make_list()), ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(QueueCalls, SynchronizeWaitsForEverything) {
  const Queue queue = make_queue();
  const AddRelu inference;
  ASSERT_EQ(submit(queue, inference.list), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandQueueSynchronize(queue.get(), kOneMinuteNs), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

class ListCalls : public NpuTest {};

TEST_F(ListCalls, RefuseAnOrdinalThatIsNotThere) {
  ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 1, 0};
  List list;
  EXPECT_EQ(zeCommandListCreate(npu().context, npu().device, &desc, list.out()),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(ListCalls, CloseTwice) {
  const List list = make_list();
  EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
}

TEST_F(ListCalls, RefuseAppendsAfterClose) {
  const AddRelu inference;
  EXPECT_EQ(zeCommandListAppendMemoryCopy(inference.list.get(), inference.y.as<>(),
                                          inference.x.as<>(), kAddReluBytes, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_NOT_AVAILABLE);
  EXPECT_EQ(append(inference.list, inference.graph), ZE_RESULT_ERROR_NOT_AVAILABLE);
}

TEST_F(ListCalls, OpenAgainByReset) {
  const AddRelu inference;
  EXPECT_EQ(zeCommandListReset(inference.list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(inference.list, inference.graph), ZE_RESULT_SUCCESS);
}

TEST_F(ListCalls, RunEmptyAndSignalTheFence) {
  const List list = make_list();
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
}

TEST_F(ListCalls, RefuseToCopyUntrackedMemory) {
  const List list = make_list();
  const Memory memory = host_memory(kPageBytes);
  char local[16] = {};
  EXPECT_EQ(zeCommandListAppendMemoryCopy(list.get(), memory.as<>(), local, sizeof local, nullptr,
                                          0, nullptr),
            ZE_RESULT_ERROR_UNINITIALIZED);
  EXPECT_EQ(zeCommandListAppendMemoryCopy(list.get(), local, memory.as<>(), sizeof local, nullptr,
                                          0, nullptr),
            ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(ListCalls, CopyAndFillInOrder) {
  const List list = make_list();
  const Memory from = host_memory(kPageBytes);
  const Memory to = host_memory(kPageBytes);
  const uint32_t pattern = 0x01020304;
  ASSERT_EQ(zeCommandListAppendMemoryFill(list.get(), from.as<>(), &pattern, sizeof pattern,
                                          kPageBytes, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendBarrier(list.get(), nullptr, 0, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListAppendMemoryCopy(list.get(), to.as<uint8_t>() + 8, from.as<>(), 16,
                                          nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  ASSERT_EQ(run(make_queue(), list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(from.as<uint32_t>()[1023], pattern);
  EXPECT_EQ(to.as<uint32_t>()[1], 0u);
  EXPECT_EQ(to.as<uint32_t>()[2], pattern);
  EXPECT_EQ(to.as<uint32_t>()[5], pattern);
  EXPECT_EQ(to.as<uint32_t>()[6], 0u);
}

TEST_F(ListCalls, RefuseAFillOfAnotherPatternSize) {
  const List list = make_list();
  const Memory memory = host_memory(kPageBytes);
  const char pattern[8] = {};
  EXPECT_EQ(zeCommandListAppendMemoryFill(list.get(), memory.as<>(), pattern, 3, kPageBytes,
                                          nullptr, 0, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(ListCalls, RefuseWaitEventsWithoutAnArray) {
  if (handles_are_wrapped()) {
    GTEST_SKIP() << "the loader reads through null itself";
  }
  const List list = make_list();
  EXPECT_EQ(zeCommandListAppendBarrier(list.get(), nullptr, 1, nullptr),
            ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(ListCalls, NeverCloseAnImmediateList) {
  const List list = npu().make_immediate_list();
  EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_ERROR_UNINITIALIZED);
}

TEST_F(ListCalls, RunAnImmediateListsCommandsAtOnce) {
  const List list = npu().make_immediate_list();
  AddRelu inference;
  inference.fill(3.0f);
  ASSERT_EQ(append(list, inference.graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

}  // namespace
}  // namespace conformance

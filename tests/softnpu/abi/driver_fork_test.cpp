// A child of the process has the device file in common with it: what it frees is gone for both.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

class Fork : public Driver {
 protected:
  void SetUp() override {
    ASSERT_EQ(client_.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                             &graph_),
              ZE_RESULT_SUCCESS);
    input_ = client_.allocate(4);
    output_ = client_.allocate(4);
    const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ASSERT_EQ(zeCommandQueueCreate(client_.context, client_.device, &desc, &queue_),
              ZE_RESULT_SUCCESS);
    list_ = recorded(input_);
    ASSERT_EQ(execute(list_), ZE_RESULT_SUCCESS);
  }
  void TearDown() override {
    zeCommandListDestroy(list_);
    zeCommandQueueDestroy(queue_);
    zeMemFree(client_.context, input_);
    zeMemFree(client_.context, output_);
    client_.graphs->pfnDestroy(graph_);
    Driver::TearDown();
  }
  ze_command_list_handle_t recorded(float* input) {
    const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_command_list_handle_t list = nullptr;
    EXPECT_EQ(zeCommandListCreate(client_.context, client_.device, &desc, &list),
              ZE_RESULT_SUCCESS);
    client_.graphs->pfnSetArgumentValue(graph_, 0, input);
    client_.graphs->pfnSetArgumentValue(graph_, 1, output_);
    EXPECT_EQ(client_.graphs->pfnAppendGraphExecute(list, graph_, nullptr, nullptr, 0, nullptr),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
    return list;
  }
  ze_result_t execute(ze_command_list_handle_t list) const {
    const ze_result_t result = zeCommandQueueExecuteCommandLists(queue_, 1, &list, nullptr);
    zeCommandQueueSynchronize(queue_, UINT64_MAX);
    return result;
  }
  // Runs `body` in a child, which then ends without a clean-up.
  template <class Body>
  static void in_child(const Body& body) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::_exit(body() == ZE_RESULT_SUCCESS ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }

  ze_graph_handle_t graph_ = nullptr;
  float* input_ = nullptr;
  float* output_ = nullptr;
  ze_command_queue_handle_t queue_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
};

TEST_F(Fork, TakesNothingWhileTheChildFreesNothing) {
  in_child([] { return ZE_RESULT_SUCCESS; });
  EXPECT_EQ(execute(list_), ZE_RESULT_SUCCESS);
}

// The child's own copy of the list would keep the memory.
TEST_F(Fork, TakesMemoryThatTheChildFrees) {
  in_child([this] {
    zeCommandListDestroy(list_);
    return zeMemFree(client_.context, input_);
  });
  EXPECT_EQ(execute(list_), ZE_RESULT_ERROR_UNKNOWN);
  float* const other = client_.allocate(4);
  const ze_command_list_handle_t again = recorded(other);
  EXPECT_EQ(execute(again), ZE_RESULT_SUCCESS) << "what the child did not free";
  zeCommandListDestroy(again);
  const ze_command_list_handle_t lost = recorded(input_);
  EXPECT_EQ(execute(lost), ZE_RESULT_ERROR_UNKNOWN) << "what the child freed";
  zeCommandListDestroy(lost);
  zeMemFree(client_.context, other);
}

TEST_F(Fork, TakesAListThatTheChildDestroys) {
  in_child([this] { return zeCommandListDestroy(list_); });
  EXPECT_EQ(execute(list_), ZE_RESULT_ERROR_UNKNOWN);
  const ze_command_list_handle_t again = recorded(input_);
  EXPECT_EQ(execute(again), ZE_RESULT_SUCCESS);
  zeCommandListDestroy(again);
}

TEST_F(Fork, TakesAGraphThatTheChildDestroys) {
  const ze_command_list_handle_t other = recorded(input_);
  in_child([&] {
    zeCommandListDestroy(list_);
    zeCommandListDestroy(other);
    return client_.graphs->pfnDestroy(graph_);
  });
  const ze_command_list_handle_t again = recorded(input_);
  EXPECT_EQ(execute(again), ZE_RESULT_ERROR_UNKNOWN);
  zeCommandListDestroy(again);
  zeCommandListDestroy(other);
}

TEST_F(Fork, TakesNothingOfWhatTheChildMadeItself) {
  in_child([this] {
    float* const own = client_.allocate(4);
    return zeMemFree(client_.context, own);
  });
  EXPECT_EQ(execute(list_), ZE_RESULT_SUCCESS);
}

TEST_F(Fork, TakesAnImportThatTheChildFrees) {
  const int fd = ::memfd_create("imported", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, 4096), 0);
  auto* const imported = reinterpret_cast<float*>(client_.import(fd, 4096));
  if (imported == nullptr) {
    ::close(fd);
    GTEST_SKIP() << "no memfd is imported: SOFTNPU_ALLOW_MEMFD";
  }
  const ze_command_list_handle_t list = recorded(imported);
  in_child([&] {
    zeCommandListDestroy(list);
    return zeMemFree(client_.context, imported);
  });
  EXPECT_EQ(execute(list), ZE_RESULT_ERROR_UNKNOWN);
  zeCommandListDestroy(list);
  auto* const again = reinterpret_cast<float*>(client_.import(fd, 4096));
  ASSERT_NE(again, nullptr);
  const ze_command_list_handle_t renewed = recorded(again);
  EXPECT_EQ(execute(renewed), ZE_RESULT_SUCCESS) << "imported anew";
  zeCommandListDestroy(renewed);
  zeMemFree(client_.context, again);
  zeMemFree(client_.context, imported);
  ::close(fd);
}

}  // namespace
}  // namespace softnpu_test

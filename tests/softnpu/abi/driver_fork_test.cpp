// A child of the process has the device file in common with it: what it frees is gone for both.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

class Fork : public Driver {
 protected:
  void SetUp() override { ASSERT_EQ(execute(list_), ZE_RESULT_SUCCESS); }
  List recorded(const void* input) {
    List list = client_.make_list();
    client_.set_arguments(graph_, {input, output_.as<>()});
    EXPECT_EQ(client_.append(list, graph_), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
    return list;
  }
  ze_result_t execute(const List& list) const {
    const ze_result_t result = submit(queue_, list);
    zeCommandQueueSynchronize(queue_.get(), UINT64_MAX);
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

  Graph graph_ = client_.sample();
  Memory input_ = client_.floats(4);
  Memory output_ = client_.floats(4);
  Queue queue_ = client_.make_queue();
  List list_ = recorded(input_.as<>());
};

TEST_F(Fork, TakesNothingWhileTheChildFreesNothing) {
  in_child([] { return ZE_RESULT_SUCCESS; });
  EXPECT_EQ(execute(list_), ZE_RESULT_SUCCESS);
}

// The child's own copy of the list would keep the memory.
TEST_F(Fork, TakesMemoryThatTheChildFrees) {
  in_child([this] {
    list_.destroy();
    return input_.free();
  });
  EXPECT_EQ(execute(list_), ZE_RESULT_ERROR_UNKNOWN);
  const Memory other = client_.floats(4);
  EXPECT_EQ(execute(recorded(other.as<>())), ZE_RESULT_SUCCESS) << "what the child did not free";
  EXPECT_EQ(execute(recorded(input_.as<>())), ZE_RESULT_ERROR_UNKNOWN) << "what the child freed";
}

TEST_F(Fork, TakesAListThatTheChildDestroys) {
  in_child([this] { return list_.destroy(); });
  EXPECT_EQ(execute(list_), ZE_RESULT_ERROR_UNKNOWN);
  EXPECT_EQ(execute(recorded(input_.as<>())), ZE_RESULT_SUCCESS);
}

TEST_F(Fork, TakesAGraphThatTheChildDestroys) {
  List other = recorded(input_.as<>());
  in_child([&] {
    list_.destroy();
    other.destroy();
    return graph_.destroy();
  });
  EXPECT_EQ(execute(recorded(input_.as<>())), ZE_RESULT_ERROR_UNKNOWN);
}

TEST_F(Fork, TakesNothingOfWhatTheChildMadeItself) {
  in_child([this] { return client_.floats(4).free(); });
  EXPECT_EQ(execute(list_), ZE_RESULT_SUCCESS);
}

TEST_F(Fork, TakesAnImportThatTheChildFrees) {
  const int fd = ::memfd_create("imported", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, 4096), 0);
  Memory imported = client_.import(fd, 4096);
  if (imported.as<>() == nullptr) {
    ::close(fd);
    GTEST_SKIP() << "no memfd is imported: SOFTNPU_ALLOW_MEMFD";
  }
  List list = recorded(imported.as<>());
  in_child([&] {
    list.destroy();
    return imported.free();
  });
  EXPECT_EQ(execute(list), ZE_RESULT_ERROR_UNKNOWN);
  list = List();
  const Memory again = client_.import(fd, 4096);
  ASSERT_NE(again.as<>(), nullptr);
  EXPECT_EQ(execute(recorded(again.as<>())), ZE_RESULT_SUCCESS) << "imported anew";
  ::close(fd);
}

}  // namespace
}  // namespace softnpu_test

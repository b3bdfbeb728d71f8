// Destroying what a job uses: counted and traced, and the process's end under SOFTNPU_STRICT=1.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "child.hpp"

namespace softnpu_test {
namespace {

// Longer than a busy machine stops a thread between two calls.
constexpr const char* kOneSecond = "delay:1000000";

uint64_t early_destroys(const Client& client) {
  void* address = nullptr;
  EXPECT_EQ(zeDriverGetExtensionFunctionAddress(client.driver, "softnpuGetEarlyDestroys", &address),
            ZE_RESULT_SUCCESS);
  uint64_t count = 0;
  reinterpret_cast<ze_result_t (*)(uint64_t*)>(address)(&count);
  return count;
}

// The sample's inference, recorded and ready for submission.
struct Inference {
  explicit Inference(Client& owner) : client(owner) {
    EXPECT_EQ(client.create(ir_buffer(sample_ir(), sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE,
                            &graph),
              ZE_RESULT_SUCCESS);
    input = client.allocate(4);
    output = client.allocate(4);
    const ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    zeCommandQueueCreate(client.context, client.device, &queue_desc, &queue);
    const ze_fence_desc_t fence_desc{ZE_STRUCTURE_TYPE_FENCE_DESC};
    zeFenceCreate(queue, &fence_desc, &fence);
    const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    zeCommandListCreate(client.context, client.device, &list_desc, &list);
  }
  void record(ze_event_handle_t signal = nullptr) {
    client.graphs->pfnSetArgumentValue(graph, 0, input);
    client.graphs->pfnSetArgumentValue(graph, 1, output);
    EXPECT_EQ(client.graphs->pfnAppendGraphExecute(list, graph, nullptr, signal, 0, nullptr),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list), ZE_RESULT_SUCCESS);
  }
  void submit(bool fenced = true) {
    EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue, 1, &list, fenced ? fence : nullptr),
              ZE_RESULT_SUCCESS);
  }
  void destroy_rest() {
    if (fence != nullptr) {
      zeFenceDestroy(fence);
    }
    if (list != nullptr) {
      zeCommandListDestroy(list);
    }
    if (queue != nullptr) {
      zeCommandQueueDestroy(queue);
    }
    if (graph != nullptr) {
      client.graphs->pfnDestroy(graph);
    }
    for (float* memory : {input, output}) {
      if (memory != nullptr) {
        zeMemFree(client.context, memory);
      }
    }
  }

  Client& client;
  ze_graph_handle_t graph = nullptr;
  float* input = nullptr;
  float* output = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  ze_fence_handle_t fence = nullptr;
  ze_command_list_handle_t list = nullptr;
};

template <class T>
T taken(T& handle) {
  return std::exchange(handle, nullptr);
}

struct Way {
  const char* name;
  const char* told;
  void (*destroy)(Inference&);
  bool fenced = true;
};

const Way kWays[] = {
    {"fence", "fence 0x.* is destroyed", [](Inference& all) { zeFenceDestroy(taken(all.fence)); }},
    {"list", "list 0x.* is destroyed",
     [](Inference& all) { zeCommandListDestroy(taken(all.list)); }},
    {"list_by_reset", "list 0x.* is reset", [](Inference& all) { zeCommandListReset(all.list); }},
    {"queue", "queue 0x.* is destroyed",
     [](Inference& all) {
       zeFenceDestroy(taken(all.fence));
       zeCommandQueueDestroy(taken(all.queue));
     },
     false},
    {"graph", "graph 0x.* is destroyed",
     [](Inference& all) { all.client.graphs->pfnDestroy(taken(all.graph)); }},
    {"input", "memory 0x.* is freed",
     [](Inference& all) { zeMemFree(all.client.context, taken(all.input)); }},
    {"output_at_once", "memory 0x.* is freed",
     [](Inference& all) {
       const ze_memory_free_ext_desc_t desc{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC};
       zeMemFreeExt(all.client.context, &desc, taken(all.output));
     }},
};

class DestroyedInFlight : public InChild, public testing::WithParamInterface<Way> {};

TEST_P(DestroyedInFlight, EndsAStrictProcessWhichNamesBoth) {
  const auto body = [](Client& client) {
    Inference inference(client);
    inference.record();
    inference.submit(GetParam().fenced);
    GetParam().destroy(inference);
  };
  EXPECT_EXIT(run_under({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", kOneSecond}}, body),
              testing::KilledBySignal(SIGABRT),
              std::string("softnpu: ") + GetParam().told +
                  " while it is used by job 1 of list 0x[0-9a-f]+ on queue 0x[0-9a-f]+");
}

TEST_P(DestroyedInFlight, IsCountedWhereNobodyIsStrict) {
  expect_no_fault({{"SOFTNPU_STRICT", "0"}, {"SOFTNPU_EXEC", kOneSecond}}, [](Client& client) {
    Inference inference(client);
    inference.record();
    inference.submit(GetParam().fenced);
    EXPECT_EQ(early_destroys(client), 0u);
    GetParam().destroy(inference);
    EXPECT_EQ(early_destroys(client), 1u);
    if (inference.queue != nullptr) {
      zeCommandQueueSynchronize(inference.queue, UINT64_MAX);
      inference.destroy_rest();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Driver, DestroyedInFlight, testing::ValuesIn(kWays),
                         [](const auto& row) { return std::string(row.param.name); });

class Lifetimes : public InChild {};

// Behind a job that runs: what is only queued is used too.
TEST_F(Lifetimes, OfAQueuedJobCountLikeThoseOfARunningOne) {
  expect_no_fault({{"SOFTNPU_STRICT", "0"}, {"SOFTNPU_EXEC", kOneSecond}}, [](Client& client) {
    Inference running(client);
    running.record();
    Inference queued(client);
    queued.record();
    running.submit();
    queued.submit();
    zeMemFree(client.context, taken(queued.input));
    client.graphs->pfnDestroy(taken(queued.graph));
    EXPECT_EQ(early_destroys(client), 2u);
    zeFenceHostSynchronize(queued.fence, UINT64_MAX);
    running.destroy_rest();
    queued.destroy_rest();
    EXPECT_EQ(early_destroys(client), 2u);
  });
}

TEST_F(Lifetimes, EndWithTheFence) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", "delay:1"}}, [](Client& client) {
    for (int i = 0; i < 200; ++i) {
      Inference inference(client);
      inference.record();
      inference.submit();
      ASSERT_EQ(zeFenceHostSynchronize(inference.fence, UINT64_MAX), ZE_RESULT_SUCCESS);
      inference.destroy_rest();
    }
    EXPECT_EQ(early_destroys(client), 0u);
  });
}

// The last command's event is as good as the fence.
TEST_F(Lifetimes, EndWithTheLastCommandsEvent) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", "delay:1"}}, [](Client& client) {
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
    ze_event_pool_handle_t pool = nullptr;
    zeEventPoolCreate(client.context, &pool_desc, 0, nullptr, &pool);
    for (int i = 0; i < 200; ++i) {
      const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC};
      ze_event_handle_t event = nullptr;
      ASSERT_EQ(zeEventCreate(pool, &desc, &event), ZE_RESULT_SUCCESS);
      Inference inference(client);
      inference.record(event);
      inference.submit();
      ASSERT_EQ(zeEventHostSynchronize(event, UINT64_MAX), ZE_RESULT_SUCCESS);
      inference.destroy_rest();
      zeEventDestroy(event);
    }
    zeEventPoolDestroy(pool);
  });
}

// A free that waits for the commands, or comes after them, is asked for and not too early.
TEST_F(Lifetimes, OfMemoryMayBeLeftToTheFree) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", kOneSecond}}, [](Client& client) {
    Inference inference(client);
    inference.record();
    inference.submit();
    const ze_memory_free_ext_desc_t desc{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                         ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    EXPECT_EQ(zeMemFreeExt(client.context, &desc, taken(inference.input)), ZE_RESULT_SUCCESS);
    zeFenceHostSynchronize(inference.fence, UINT64_MAX);
    inference.destroy_rest();
  });
}

TEST_F(Lifetimes, OfAnImmediateListLastAsLongAsItsCommands) {
  const auto body = [](Client& client) {
    Inference inference(client);
    const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_handle_t list = nullptr;
    zeCommandListCreateImmediate(client.context, client.device, &desc, &list);
    client.graphs->pfnSetArgumentValue(inference.graph, 0, inference.input);
    client.graphs->pfnSetArgumentValue(inference.graph, 1, inference.output);
    client.graphs->pfnAppendGraphExecute(list, inference.graph, nullptr, nullptr, 0, nullptr);
    zeCommandListDestroy(list);
  };
  EXPECT_EXIT(run_under({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", kOneSecond}}, body),
              testing::KilledBySignal(SIGABRT), "list 0x.* is destroyed while it is used by job 1");
}

TEST_F(Lifetimes, AreToldInTheTraceOfTheCallThatEndsTheProcess) {
  // Several runs of these tests stand side by side; the child keeps its parent's name.
  ::setenv("SOFTNPU_TEST_RUN", std::to_string(::getpid()).c_str(), 0);
  const std::string trace =
      testing::TempDir() + "softnpu-lifetimes-trace-" + std::getenv("SOFTNPU_TEST_RUN");
  const auto body = [](Client& client) {
    Inference inference(client);
    inference.record();
    inference.submit();
    zeFenceDestroy(inference.fence);
  };
  EXPECT_EXIT(
      run_under({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", kOneSecond}, {"SOFTNPU_TRACE", trace}},
                body),
      testing::KilledBySignal(SIGABRT), "");
  std::ifstream file(trace);
  std::string line;
  std::string last;
  while (std::getline(file, line)) last = line;
  std::remove(trace.c_str());
  EXPECT_NE(last.find("\"call\":\"zeFenceDestroy\""), std::string::npos) << last;
  EXPECT_NE(last.find("\"early_destroy\":\"fence 0x"), std::string::npos) << last;
  EXPECT_NE(last.find("is used by job 1 of list 0x"), std::string::npos) << last;
}

}  // namespace
}  // namespace softnpu_test

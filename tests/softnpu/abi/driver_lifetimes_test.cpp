// Destroying what a job uses: counted and traced, and the process's end under SOFTNPU_STRICT=1.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "child.hpp"

namespace softnpu_test {
namespace {

// Longer than a busy machine stops a thread between two calls.
constexpr const char* kOneSecond = "delay:1000000";

uint64_t early_destroys(const Client& client) {
  uint64_t count = 0;
  reinterpret_cast<ze_result_t (*)(uint64_t*)>(client.function("softnpuGetEarlyDestroys"))(&count);
  return count;
}

// The sample's inference, ready for submission.
struct Inference {
  explicit Inference(Client& owner, ze_event_handle_t signal = nullptr) : client(owner) {
    client.set_arguments(graph, {input.as<>(), output.as<>()});
    EXPECT_EQ(client.append(list, graph, signal), ZE_RESULT_SUCCESS);
    EXPECT_EQ(zeCommandListClose(list.get()), ZE_RESULT_SUCCESS);
  }
  void submit(bool fenced = true) {
    EXPECT_EQ(bare::submit(queue, list, fenced ? &fence : nullptr), ZE_RESULT_SUCCESS);
  }

  Client& client;
  Memory input = client.floats(4), output = client.floats(4);
  Graph graph = client.sample();
  Queue queue = client.make_queue();
  List list = client.make_list();
  Fence fence = make_fence(queue);
};

struct Way {
  const char* name;
  const char* told;
  void (*destroy)(Inference&);
  bool fenced = true;
};

const Way kWays[] = {
    {"fence", "fence 0x.* is destroyed", [](Inference& all) { all.fence.destroy(); }},
    {"list", "list 0x.* is destroyed", [](Inference& all) { all.list.destroy(); }},
    {"list_by_reset", "list 0x.* is reset",
     [](Inference& all) { zeCommandListReset(all.list.get()); }},
    {"queue", "queue 0x.* is destroyed",
     [](Inference& all) {
       all.fence.destroy();
       all.queue.destroy();
     },
     false},
    {"graph", "graph 0x.* is destroyed", [](Inference& all) { all.graph.destroy(); }},
    {"input", "memory 0x.* is freed", [](Inference& all) { all.input.free(); }},
    {"output_at_once", "memory 0x.* is freed",
     [](Inference& all) {
       const ze_memory_free_ext_desc_t desc{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC};
       zeMemFreeExt(all.client.context, &desc, all.output.release());
     }},
};

class DestroyedInFlight : public InChild, public testing::WithParamInterface<Way> {};

TEST_P(DestroyedInFlight, EndsAStrictProcessWhichNamesBoth) {
  const auto body = [](Client& client) {
    Inference inference(client);
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
    auto inference = std::make_unique<Inference>(client);
    inference->submit(GetParam().fenced);
    EXPECT_EQ(early_destroys(client), 0u);
    GetParam().destroy(*inference);
    EXPECT_EQ(early_destroys(client), 1u);
    if (inference->queue == nullptr) {
      (void)inference.release();  // nobody can wait for it
      return;
    }
    zeCommandQueueSynchronize(inference->queue.get(), UINT64_MAX);
  });
}

INSTANTIATE_TEST_SUITE_P(Driver, DestroyedInFlight, testing::ValuesIn(kWays), by_name);

class Lifetimes : public InChild {};

// Behind a job that runs: what is only queued is used too.
TEST_F(Lifetimes, OfAQueuedJobCountLikeThoseOfARunningOne) {
  expect_no_fault({{"SOFTNPU_STRICT", "0"}, {"SOFTNPU_EXEC", kOneSecond}}, [](Client& client) {
    {
      Inference running(client), queued(client);
      running.submit();
      queued.submit();
      queued.input.free();
      queued.graph.destroy();
      EXPECT_EQ(early_destroys(client), 2u);
      zeFenceHostSynchronize(queued.fence.get(), UINT64_MAX);
    }
    EXPECT_EQ(early_destroys(client), 2u);
  });
}

TEST_F(Lifetimes, EndWithTheFence) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", "delay:1"}}, [](Client& client) {
    for (int i = 0; i < 200; ++i) {
      Inference inference(client);
      inference.submit();
      ASSERT_EQ(zeFenceHostSynchronize(inference.fence.get(), UINT64_MAX), ZE_RESULT_SUCCESS);
    }
    EXPECT_EQ(early_destroys(client), 0u);
  });
}

// The last command's event is as good as the fence.
TEST_F(Lifetimes, EndWithTheLastCommandsEvent) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", "delay:1"}}, [](Client& client) {
    const ze_event_pool_desc_t pool_desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, 0, 1};
    EventPool pool;
    zeEventPoolCreate(client.context, &pool_desc, 0, nullptr, pool.out());
    for (int i = 0; i < 200; ++i) {
      const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC};
      Event event;
      ASSERT_EQ(zeEventCreate(pool.get(), &desc, event.out()), ZE_RESULT_SUCCESS);
      Inference inference(client, event.get());
      inference.submit();
      ASSERT_EQ(zeEventHostSynchronize(event.get(), UINT64_MAX), ZE_RESULT_SUCCESS);
    }
  });
}

// A free that waits for the commands, or comes after them, is asked for and not too early.
TEST_F(Lifetimes, OfMemoryMayBeLeftToTheFree) {
  expect_no_fault({{"SOFTNPU_STRICT", "1"}, {"SOFTNPU_EXEC", kOneSecond}}, [](Client& client) {
    Inference inference(client);
    inference.submit();
    const ze_memory_free_ext_desc_t desc{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
                                         ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE};
    EXPECT_EQ(zeMemFreeExt(client.context, &desc, inference.input.release()), ZE_RESULT_SUCCESS);
    zeFenceHostSynchronize(inference.fence.get(), UINT64_MAX);
  });
}

TEST_F(Lifetimes, OfAnImmediateListLastAsLongAsItsCommands) {
  const auto body = [](Client& client) {
    Inference inference(client);
    List list = client.make_immediate_list(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    client.append(list, inference.graph);
    list.destroy();
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
    inference.submit();
    inference.fence.destroy();
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
  EXPECT_TRUE(has(last, "\"call\":\"zeFenceDestroy\""));
  EXPECT_TRUE(has(last, "\"early_destroy\":\"fence 0x"));
  EXPECT_TRUE(has(last, "is used by job 1 of list 0x"));
}

}  // namespace
}  // namespace softnpu_test

// The driver as applications meet it: through the loader.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "support/test_dmabuf.hpp"

#include "driver_fixture.hpp"

namespace softnpu_test {
namespace {

TEST_F(Driver, NeedsTheIrOnlyWhileItCompiles) {
  std::string buffer = sample_buffer();
  Graph graph;
  ASSERT_EQ(client_.compile_ir(buffer, graph), ZE_RESULT_SUCCESS);
  std::fill(buffer.begin(), buffer.end(), '\xff');
  EXPECT_EQ(client_.run(graph), kExpected);
}

TEST_F(Driver, KeepsTheFlagsInTheBinary) {
  const Graph graph = client_.sample("", ZE_GRAPH_FLAG_ENABLE_PROFILING);
  const Graph again = client_.load(client_.binary_in_place(graph));
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  ASSERT_EQ(client_.graph->pfnGetProperties3(again.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.flags, ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED |
                                  ZE_GRAPH_PROPERTIES_FLAG_NO_STANDARD_ALLOCATION |
                                  ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED);
}

TEST_F(Driver, CopiesAnInputThatIsAnOutput) {
  IrWriter ir;
  ir.result(ir.parameter("x", "f32", {1, 4}), "y");
  for (const char* flags : {"", "--config NPU_ENABLE_STRIDES_FOR=\"y\""}) {
    Graph graph;
    ASSERT_EQ(client_.compile_ir(buffer_of(ir), graph, flags), ZE_RESULT_SUCCESS) << client_.log;
    EXPECT_EQ(client_.run(graph), (std::vector<float>{10, 20, 30, 40}));
  }
}

TEST_F(Driver, SkipsWhatLiesBetweenTheElementsOfARow) {
  const Graph graph = client_.sample("--config NPU_ENABLE_STRIDES_FOR=\"x,y\"");
  const auto set = [&](uint32_t index, const float* place, uint32_t step) {
    ze_graph_argument_value_strides_t strides{
        ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES, nullptr, {step, 12}};
    const ze_graph_argument_value_tensor_t tensor{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR, &strides,
                                                  place};
    return client_.graph->pfnSetArgumentValue2(graph.get(), index, &tensor);
  };
  const Memory memory = client_.floats(20);
  float* const x = memory.as<float>();
  float* const y = x + 8;
  for (int i = 0; i < 4; ++i) x[2 * i] = 10.0f * static_cast<float>(i + 1);
  EXPECT_EQ(set(0, x, 0), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_EQ(set(0, x, 2), ZE_RESULT_SUCCESS);
  ASSERT_EQ(set(1, y, 3), ZE_RESULT_SUCCESS);
  ASSERT_EQ(client_.append(client_.make_immediate_list(), graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(y, y + 12),
            (std::vector<float>{11, 0, 0, 22, 0, 0, 33, 0, 0, 44, 0, 0}));
}

TEST_F(Driver, TakesANumberOfCompilationThreads) {
  const Graph graph = client_.sample("--config COMPILATION_NUM_THREADS=\"1\"");
  EXPECT_EQ(client_.run(graph), kExpected);
}

TEST_F(Driver, ToleratesAnOutputInItsInputsPlace) {
  const Graph graph = client_.sample();
  const Memory both = client_.floats(4);
  for (int i = 0; i < 4; ++i) both.as<float>()[i] = 10.0f * static_cast<float>(i + 1);
  client_.set_arguments(graph, {both.as<>(), both.as<>()});
  EXPECT_EQ(client_.append(client_.make_immediate_list(), graph), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(both.as<float>(), both.as<float>() + 4), kExpected);
}

struct BadIr {
  const char* name;
  const char* what;
  const char* with;
  const char* told;  // part of the log
};

class BadIrs : public Driver, public testing::WithParamInterface<BadIr> {};

TEST_P(BadIrs, AreRefusedWithAReason) {
  const std::string xml = replaced(sample_ir().xml(), GetParam().what, GetParam().with);
  Graph graph;
  EXPECT_EQ(client_.compile_ir(classic_buffer(kCompiler, xml, sample_ir().weights()), graph),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(has(client_.log, GetParam().told));
  EXPECT_TRUE(graph == nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Driver, BadIrs,
    testing::Values(BadIr{"unknown_operator", "type=\"Add\"", "type=\"Conjure\"", "Conjure"},
                    BadIr{"no_xml", "<net", "net", "cannot be read"},
                    BadIr{"weights_too_short", "size=\"16\"", "size=\"1600\"", "cannot be read"},
                    BadIr{"string_input", "shape=\"1,4\" element_type=\"f32\"",
                          "shape=\"1,4\" element_type=\"string\"", "compiler"}),
    by_name);

TEST_F(Driver, TellsTheThreadsLastFailure) {
  Graph graph;
  EXPECT_EQ(client_.create("garbage", ZE_GRAPH_FORMAT_NATIVE, graph, nullptr),
            ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  EXPECT_EQ(client_.last_log(), client_.log);
  EXPECT_TRUE(has(client_.log, "ELF"));
}

// Damage anywhere: the driver refuses or takes it, and goes on working.
class Damaged : public Driver {
 protected:
  // How many of 300 damaged copies were refused; bits flip in the first `most` bytes.
  int refused(const std::string& whole, size_t most, ze_graph_format_t format) {
    std::mt19937 random(1);
    int count = 0;
    for (int round = 0; round < 300; ++round) {
      std::string input = whole;
      for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
        input[random() % most] ^= static_cast<char>(1u << (random() % 8));
      }
      if (random() % 4 == 0) {
        input.resize(random() % input.size() + 1);
      }
      Graph graph;
      if (client_.create(input, format, graph) == ZE_RESULT_SUCCESS) continue;
      EXPECT_NE(client_.log, "");
      ++count;
    }
    return count;
  }
};

TEST_F(Damaged, BinariesAreSurvived) {
  const std::string binary = client_.sample_binary();
  EXPECT_GT(refused(binary, binary.size() - 16, ZE_GRAPH_FORMAT_NATIVE), 200);
}

TEST_F(Damaged, IrsAreSurvived) {
  EXPECT_GT(refused(sample_buffer(), sample_buffer().size(), ZE_GRAPH_FORMAT_NGRAPH_LITE), 100);
}

class Profiled : public Driver {
 protected:
  // The records of a level.
  template <class Record>
  std::vector<Record> records(ze_graph_profiling_query_handle_t query,
                              ze_graph_profiling_type_t level) {
    const auto get = client_.profiling->pfnProfilingQueryGetData;
    uint32_t size = 0;
    EXPECT_EQ(get(query, level, &size, nullptr), ZE_RESULT_SUCCESS);
    std::vector<Record> found(size / sizeof(Record));
    EXPECT_EQ(size, found.size() * sizeof(Record));
    EXPECT_EQ(get(query, level, &size, reinterpret_cast<uint8_t*>(found.data())),
              ZE_RESULT_SUCCESS);
    return found;
  }
};

// Each layer that ran is a task of software; RAW is the layers' records.
TEST_F(Profiled, LayersAreMeasuredWhereTheGraphWasCompiledForIt) {
  const Graph graph = client_.sample("--config PERF_COUNT=\"YES\"");
  const auto& table = *client_.profiling;
  ze_graph_profiling_pool_handle_t pool = nullptr;
  ASSERT_EQ(table.pfnProfilingPoolCreate(graph.get(), 1, &pool), ZE_RESULT_SUCCESS);
  ze_graph_profiling_query_handle_t query = nullptr;
  ASSERT_EQ(table.pfnProfilingQueryCreate(pool, 0, &query), ZE_RESULT_SUCCESS);
  const Memory memory = client_.floats(8);
  client_.set_arguments(graph, {memory.as<float>(), memory.as<float>() + 4});
  const List list = client_.make_immediate_list();
  EXPECT_EQ(
      client_.graph->pfnAppendGraphExecute(list.get(), graph.get(), query, nullptr, 0, nullptr),
      ZE_RESULT_SUCCESS);

  const auto layers = records<ze_profiling_layer_info>(query, ZE_GRAPH_PROFILING_LAYER_LEVEL);
  EXPECT_EQ(std::count_if(layers.begin(), layers.end(),
                          [](const auto& layer) { return std::string(layer.name) == "sum"; }),
            1);
  const auto tasks = records<ze_profiling_task_info>(query, ZE_GRAPH_PROFILING_TASK_LEVEL);
  ASSERT_FALSE(tasks.empty());
  EXPECT_EQ(static_cast<std::ptrdiff_t>(tasks.size()),
            std::count_if(layers.begin(), layers.end(), [](const auto& layer) {
              return layer.status == ZE_LAYER_STATUS_EXECUTED;
            }));
  for (const auto& task : tasks) {
    ASSERT_LT(task.parent_layer_id, layers.size());
    EXPECT_STREQ(task.name, layers[task.parent_layer_id].name);
    EXPECT_EQ(task.duration_ns, layers[task.parent_layer_id].duration_ns);
    EXPECT_EQ(task.exec_type, ZE_TASK_EXECUTE_SW);
  }
  EXPECT_EQ(records<ze_profiling_layer_info>(query, ZE_GRAPH_PROFILING_RAW).size(), layers.size());
  uint32_t size = 0;
  EXPECT_EQ(table.pfnProfilingQueryGetData(query, static_cast<ze_graph_profiling_type_t>(3), &size,
                                           nullptr),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
  table.pfnProfilingQueryDestroy(query);
  table.pfnProfilingPoolDestroy(pool);
}

// Runs `child` in a new process, because the driver reads its environment once. Its exit code.
template <class Child>
int in_new_process(const Child& child) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    child();
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Starts this program again with one test, so that nothing of the driver is initialised yet.
int run_again(const std::string& test, const char* variable, const std::string& value) {
  return in_new_process([&] {
    ::setenv(variable, value.c_str(), 1);
    ::execl("/proc/self/exe", "softnpu-driver", "--gtest_also_run_disabled_tests",
            ("--gtest_filter=" + test).c_str(), nullptr);
    ::_exit(127);
  });
}

TEST_F(Driver, HasRoomFor255QueuesInAContext) {
  std::vector<Queue> queues;
  for (int i = 0; i < 255; ++i) queues.push_back(client_.make_queue());
  ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t one_more = nullptr;
  const auto create = [&] {
    return zeCommandQueueCreate(client_.context, client_.device, &desc, &one_more);
  };
  EXPECT_EQ(create(), ZE_RESULT_ERROR_UNINITIALIZED);
  queues.pop_back();
  ASSERT_EQ(create(), ZE_RESULT_SUCCESS);
  zeCommandQueueDestroy(one_more);
}

// For run_again: leaves the process in the middle of an inference.
TEST(Child, DISABLED_ExitsInMidFlight) {
  auto* const client = new Client;
  const Graph graph = client->sample();
  const Memory memory = client->floats(8);
  client->set_arguments(graph, {memory.as<float>(), memory.as<float>() + 4});
  const Queue queue = client->make_queue();
  const List list = client->make_list();
  for (int i = 0; i < 200; ++i) client->append(list, graph);
  zeCommandListClose(list.get());
  ASSERT_EQ(submit(queue, list), ZE_RESULT_SUCCESS);
  std::exit(0);
}

// The child leaks on purpose: AddressSanitizer must not report it.
int exit_in_mid_flight(const std::string& exec) {
  ::setenv("SOFTNPU_EXEC", exec.c_str(), 1);
  const char* options = std::getenv("ASAN_OPTIONS");
  const std::string before = options != nullptr ? options : "";
  const int code = run_again("Child.DISABLED_ExitsInMidFlight", "ASAN_OPTIONS",
                             before + (before.empty() ? "" : ":") + "detect_leaks=0");
  ::unsetenv("SOFTNPU_EXEC");
  return code;
}

TEST(Process, MayEndInMidFlight) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(exit_in_mid_flight("cpu"), 0);
}

TEST(Process, MayEndInMidFlightOfASlowDevice) {
  EXPECT_EQ(exit_in_mid_flight("delay:5000"), 0);
}

TEST(Child, DISABLED_Runs) {
  Client client;
  client.run(client.sample());
}

TEST(Child, DISABLED_ForksBeforeItsFirstInference) {
  const Client parent;
  const int code = in_new_process([] {
    Client client;
    ::_exit(client.run(client.sample()) == kExpected ? 0 : 1);
  });
  EXPECT_EQ(code, 0);
}

TEST(Process, MayForkBeforeItsFirstInference) {
  EXPECT_EQ(run_again("Child.DISABLED_ForksBeforeItsFirstInference", "SOFTNPU_EXEC", "cpu"), 0);
}

TEST(Trace, HoldsOneJsonLineForEveryCall) {
  const std::string path = testing::TempDir() + "softnpu-trace-" + std::to_string(::getpid());
  ASSERT_EQ(run_again("Child.DISABLED_Runs", "SOFTNPU_TRACE", path), 0);
  std::ifstream file(path);
  std::multiset<std::string> calls;
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);
    calls.insert(entry.at("call").get<std::string>());
    EXPECT_TRUE(entry.at("args").is_array());
    EXPECT_TRUE(entry.at("result").is_string());
    if (entry.at("call") != "pfnCreate3") continue;
    EXPECT_GT(entry.at("anon_bytes").get<uint64_t>(), 0u);
    EXPECT_EQ(entry.at("input"), "classic");
  }
  EXPECT_EQ(calls.count("pfnCreate3"), 1u);
  EXPECT_EQ(calls.count("zeMemAllocHost"), 2u);
  EXPECT_EQ(calls.count("zeCommandQueueExecuteCommandLists"), 1u);
  ::unlink(path.c_str());
}

TEST(Child, DISABLED_RunsOnAnImportedBuffer) {
  ::setenv("SOFTNPU_ALLOW_MEMFD", "1", 1);
  Client client;
  const Graph graph = client.sample();
  const int fd = npu::test::make_dmabuf(8192);
  const Memory memory = client.import(fd, 8192);
  ASSERT_NE(memory.as<>(), nullptr);
  EXPECT_EQ(client.run_on(graph, memory.as<float>() + 1040), kExpected);
  ::close(fd);
}

TEST(Trace, TellsInWhichBufferAnInputLay) {
  const std::string path = testing::TempDir() + "softnpu-inputs-" + std::to_string(::getpid());
  ASSERT_EQ(run_again("Child.DISABLED_RunsOnAnImportedBuffer", "SOFTNPU_TRACE", path), 0);
  std::ifstream file(path);
  nlohmann::json import, execution;
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.contains("fd") && entry.contains("bytes")) {
      import = entry;
    }
    if (entry.at("call") == "zeCommandQueueExecuteCommandLists") {
      execution = entry;
    }
  }
  ::unlink(path.c_str());
  ASSERT_FALSE(import.is_null());
  EXPECT_EQ(import.at("bytes"), 8192);
  ASSERT_EQ(execution.at("inputs").size(), 1u);
  const auto& input = execution.at("inputs").at(0);
  EXPECT_EQ(input.at("inode"), import.at("inode"));
  EXPECT_EQ(input.at("imported"), true);
  EXPECT_EQ(input.at("offset"), 4160);
  EXPECT_EQ(input.at("bytes"), 16);
  EXPECT_EQ(input.at("allocation_bytes"), 8192);
}

}  // namespace
}  // namespace softnpu_test

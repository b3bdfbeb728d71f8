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

std::string sample_buffer() {
  return ir_buffer(sample_ir(), sample_weights());
}

TEST_F(Driver, ComputesWhatTheIrSays) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, NeedsTheIrOnlyWhileItCompiles) {
  std::string buffer = sample_buffer();
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph), ZE_RESULT_SUCCESS);
  std::fill(buffer.begin(), buffer.end(), '\xff');
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, ComputesTheSameFromANativeBinary) {
  std::string binary = client_.sample_binary();
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(binary, ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr), ZE_RESULT_SUCCESS);
  ASSERT_EQ(client_.graphs->pfnGraphInitialize(graph), ZE_RESULT_SUCCESS);
  std::fill(binary.begin(), binary.end(), '\0');
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, UsesAPersistentBinaryInPlace) {
  const std::string binary = client_.sample_binary() + std::string(5000, '\0');
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(binary, ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr,
                           ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT),
            ZE_RESULT_SUCCESS);
  size_t size = 0;
  const uint8_t* view = nullptr;
  EXPECT_EQ(client_.graphs->pfnGetNativeBinary2(graph, &size, &view), ZE_RESULT_SUCCESS);
  EXPECT_EQ(static_cast<const void*>(view), binary.data());
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, KeepsTheFlagsInTheBinary) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph, "",
                           ZE_GRAPH_FLAG_ENABLE_PROFILING),
            ZE_RESULT_SUCCESS);
  size_t size = 0;
  const uint8_t* view = nullptr;
  ASSERT_EQ(client_.graphs->pfnGetNativeBinary2(graph, &size, &view), ZE_RESULT_SUCCESS);
  ze_graph_handle_t again = nullptr;
  ASSERT_EQ(client_.create({reinterpret_cast<const char*>(view), size}, ZE_GRAPH_FORMAT_NATIVE,
                           &again, nullptr),
            ZE_RESULT_SUCCESS);
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  ASSERT_EQ(client_.graphs->pfnGetProperties3(again, &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.flags, ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED |
                                  ZE_GRAPH_PROPERTIES_FLAG_NO_STANDARD_ALLOCATION |
                                  ZE_GRAPH_PROPERTIES_FLAG_PROFILING_ENABLED);
  client_.graphs->pfnDestroy(again);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, DescribesArguments) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_SUCCESS);
  ze_graph_argument_properties_3_t output{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
  ASSERT_EQ(client_.graphs->pfnGetArgumentProperties3(graph, 1, &output), ZE_RESULT_SUCCESS);
  EXPECT_STREQ(output.name, "y");
  EXPECT_EQ(output.type, ZE_GRAPH_ARGUMENT_TYPE_OUTPUT);
  EXPECT_EQ(output.dims_count, 2u);
  EXPECT_EQ(output.dims[1], 4u);
  EXPECT_EQ(output.dims[4], 1u);
  EXPECT_STREQ(output.associated_tensor_names[0], "y_tensor");
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, CopiesAnInputThatIsAnOutput) {
  std::string xml = replaced(sample_ir(), "from-layer=\"2\" from-port=\"2\" to-layer=\"3\"",
                             "from-layer=\"0\" from-port=\"0\" to-layer=\"3\"");
  for (const char* flags : {"", "--config NPU_ENABLE_STRIDES_FOR=\"y\""}) {
    ze_graph_handle_t graph = nullptr;
    ASSERT_EQ(client_.create(ir_buffer(xml, sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph,
                             flags),
              ZE_RESULT_SUCCESS)
        << client_.log;
    EXPECT_EQ(client_.run(graph), (std::vector<float>{10, 20, 30, 40}));
    client_.graphs->pfnDestroy(graph);
  }
}

TEST_F(Driver, TakesANumberOfCompilationThreads) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph,
                           "--config COMPILATION_NUM_THREADS=\"1\""),
            ZE_RESULT_SUCCESS)
      << client_.log;
  EXPECT_EQ(client_.run(graph), kExpected);
  client_.graphs->pfnDestroy(graph);
}

TEST_F(Driver, ToleratesAnOutputInItsInputsPlace) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_SUCCESS);
  float* const both = client_.allocate(4);
  for (int i = 0; i < 4; ++i) both[i] = 10.0f * static_cast<float>(i + 1);
  client_.graphs->pfnSetArgumentValue(graph, 0, both);
  client_.graphs->pfnSetArgumentValue(graph, 1, both);
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0,
                                     ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  ze_command_list_handle_t list = nullptr;
  ASSERT_EQ(zeCommandListCreateImmediate(client_.context, client_.device, &desc, &list),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.graphs->pfnAppendGraphExecute(list, graph, nullptr, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::vector<float>(both, both + 4), kExpected);
  zeCommandListDestroy(list);
  client_.graphs->pfnDestroy(graph);
  zeMemFree(client_.context, both);
}

struct BadIr {
  const char* name;
  const char* what;
  const char* with;
  const char* told;  // part of the log
};

class BadIrs : public Driver, public testing::WithParamInterface<BadIr> {};

TEST_P(BadIrs, AreRefusedWithAReason) {
  const std::string xml = replaced(sample_ir(), GetParam().what, GetParam().with);
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create(ir_buffer(xml, sample_weights()), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(client_.log.find(GetParam().told), std::string::npos) << client_.log;
  EXPECT_EQ(graph, nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Driver, BadIrs,
    testing::Values(BadIr{"unknown_operator", "type=\"Add\"", "type=\"Conjure\"", "Conjure"},
                    BadIr{"no_xml", "<net", "net", "cannot be read"},
                    BadIr{"weights_too_short", "size=\"16\"", "size=\"1600\"", "cannot be read"},
                    BadIr{"string_input", "shape=\"1,4\" element_type=\"f32\"",
                          "shape=\"1,4\" element_type=\"string\"", "compiler"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(Driver, TellsTheThreadsLastFailure) {
  ze_graph_handle_t graph = nullptr;
  EXPECT_EQ(client_.create("garbage", ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr),
            ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
  uint32_t size = 0;
  ASSERT_EQ(client_.graphs->pfnBuildLogGetString(nullptr, &size, nullptr), ZE_RESULT_SUCCESS);
  std::string text(size, ' ');
  ASSERT_EQ(client_.graphs->pfnBuildLogGetString(nullptr, &size, text.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::string(text.c_str()), client_.log);
  EXPECT_NE(client_.log.find("ELF"), std::string::npos);
}

// Damage anywhere: the driver refuses or computes what it computed before, and goes on working.
TEST_F(Driver, SurvivesDamagedBinaries) {
  const std::string whole = client_.sample_binary();
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string binary = whole;
    const size_t weights = binary.size() - 16;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      binary[random() % weights] ^= static_cast<char>(1u << (random() % 8));
    }
    if (random() % 4 == 0) {
      binary.resize(random() % binary.size() + 1);
    }
    ze_graph_handle_t graph = nullptr;
    if (client_.create(binary, ZE_GRAPH_FORMAT_NATIVE, &graph, nullptr) != ZE_RESULT_SUCCESS) {
      EXPECT_NE(client_.log, "");
      ++refused;
      continue;
    }
    client_.graphs->pfnDestroy(graph);
  }
  EXPECT_GT(refused, 200);
}

TEST_F(Driver, SurvivesDamagedIrs) {
  const std::string whole = sample_buffer();
  std::mt19937 random(2);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string buffer = whole;
    for (uint32_t flips = 1 + random() % 3; flips > 0; --flips) {
      buffer[random() % buffer.size()] ^= static_cast<char>(1u << (random() % 8));
    }
    if (random() % 4 == 0) {
      buffer.resize(random() % buffer.size() + 1);
    }
    ze_graph_handle_t graph = nullptr;
    if (client_.create(buffer, ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph) != ZE_RESULT_SUCCESS) {
      EXPECT_NE(client_.log, "");
      ++refused;
      continue;
    }
    client_.graphs->pfnDestroy(graph);
  }
  EXPECT_GT(refused, 100);
}

// Each layer that ran is a task of software; RAW is the layers' records.
void expect_tasks_of(ze_graph_profiling_dditable_ext_t& table,
                     ze_graph_profiling_query_handle_t query,
                     const std::vector<ze_profiling_layer_info>& layers) {
  uint32_t size = 0;
  ASSERT_EQ(table.pfnProfilingQueryGetData(query, ZE_GRAPH_PROFILING_TASK_LEVEL, &size, nullptr),
            ZE_RESULT_SUCCESS);
  std::vector<ze_profiling_task_info> tasks(size / sizeof(ze_profiling_task_info));
  ASSERT_FALSE(tasks.empty());
  ASSERT_EQ(table.pfnProfilingQueryGetData(query, ZE_GRAPH_PROFILING_TASK_LEVEL, &size,
                                           reinterpret_cast<uint8_t*>(tasks.data())),
            ZE_RESULT_SUCCESS);
  size_t executed = 0;
  for (const auto& layer : layers) executed += layer.status == ZE_LAYER_STATUS_EXECUTED ? 1 : 0;
  EXPECT_EQ(tasks.size(), executed);
  for (const auto& task : tasks) {
    ASSERT_LT(task.parent_layer_id, layers.size());
    EXPECT_STREQ(task.name, layers[task.parent_layer_id].name);
    EXPECT_EQ(task.duration_ns, layers[task.parent_layer_id].duration_ns);
    EXPECT_EQ(task.exec_type, ZE_TASK_EXECUTE_SW);
  }
  ASSERT_EQ(table.pfnProfilingQueryGetData(query, ZE_GRAPH_PROFILING_RAW, &size, nullptr),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, layers.size() * sizeof(ze_profiling_layer_info));
  EXPECT_EQ(table.pfnProfilingQueryGetData(query, static_cast<ze_graph_profiling_type_t>(3), &size,
                                           nullptr),
            ZE_RESULT_ERROR_INVALID_ENUMERATION);
}

TEST_F(Driver, MeasuresLayersWhereTheGraphWasCompiledForIt) {
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client_.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph,
                           "--config PERF_COUNT=\"YES\""),
            ZE_RESULT_SUCCESS);
  void* address = nullptr;
  ASSERT_EQ(
      zeDriverGetExtensionFunctionAddress(client_.driver, ZE_PROFILING_DATA_EXT_NAME, &address),
      ZE_RESULT_SUCCESS);
  auto& table = *static_cast<ze_graph_profiling_dditable_ext_t*>(address);
  ze_graph_profiling_pool_handle_t pool = nullptr;
  ASSERT_EQ(table.pfnProfilingPoolCreate(graph, 1, &pool), ZE_RESULT_SUCCESS);
  ze_graph_profiling_query_handle_t query = nullptr;
  ASSERT_EQ(table.pfnProfilingQueryCreate(pool, 0, &query), ZE_RESULT_SUCCESS);
  float* const memory = client_.allocate(8);
  client_.graphs->pfnSetArgumentValue(graph, 0, memory);
  client_.graphs->pfnSetArgumentValue(graph, 1, memory + 4);
  const ze_command_queue_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0,
                                     ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  ze_command_list_handle_t list = nullptr;
  ASSERT_EQ(zeCommandListCreateImmediate(client_.context, client_.device, &desc, &list),
            ZE_RESULT_SUCCESS);
  EXPECT_EQ(client_.graphs->pfnAppendGraphExecute(list, graph, query, nullptr, 0, nullptr),
            ZE_RESULT_SUCCESS);
  uint32_t size = 0;
  ASSERT_EQ(table.pfnProfilingQueryGetData(query, ZE_GRAPH_PROFILING_LAYER_LEVEL, &size, nullptr),
            ZE_RESULT_SUCCESS);
  ASSERT_GE(size, sizeof(ze_profiling_layer_info));
  std::vector<ze_profiling_layer_info> layers(size / sizeof(ze_profiling_layer_info));
  ASSERT_EQ(table.pfnProfilingQueryGetData(query, ZE_GRAPH_PROFILING_LAYER_LEVEL, &size,
                                           reinterpret_cast<uint8_t*>(layers.data())),
            ZE_RESULT_SUCCESS);
  std::set<std::string> names;
  for (const auto& layer : layers) names.insert(layer.name);
  EXPECT_EQ(names.count("sum"), 1u);
  expect_tasks_of(table, query, layers);
  zeCommandListDestroy(list);
  table.pfnProfilingQueryDestroy(query);
  table.pfnProfilingPoolDestroy(pool);
  client_.graphs->pfnDestroy(graph);
  zeMemFree(client_.context, memory);
}

TEST_F(Driver, ListsTheLayersThatItTakes) {
  const std::string layers = client_.supported_layers(sample_buffer());
  EXPECT_NE(layers.find("<sum>"), std::string::npos) << layers;
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

// For run_again: leaves the process in the middle of an inference.
TEST(Child, DISABLED_ExitsInMidFlight) {
  auto* const client = new Client;
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client->create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph),
            ZE_RESULT_SUCCESS);
  float* const memory = client->allocate(8);
  client->graphs->pfnSetArgumentValue(graph, 0, memory);
  client->graphs->pfnSetArgumentValue(graph, 1, memory + 4);
  const ze_command_queue_desc_t queue_desc{ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
  ze_command_queue_handle_t queue = nullptr;
  zeCommandQueueCreate(client->context, client->device, &queue_desc, &queue);
  const ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
  ze_command_list_handle_t list = nullptr;
  zeCommandListCreate(client->context, client->device, &list_desc, &list);
  for (int i = 0; i < 200; ++i) {
    client->graphs->pfnAppendGraphExecute(list, graph, nullptr, nullptr, 0, nullptr);
  }
  zeCommandListClose(list);
  ASSERT_EQ(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr), ZE_RESULT_SUCCESS);
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
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph), ZE_RESULT_SUCCESS);
  client.run(graph);
  client.graphs->pfnDestroy(graph);
}

TEST(Child, DISABLED_ForksBeforeItsFirstInference) {
  const Client parent;
  const int code = in_new_process([] {
    Client client;
    ze_graph_handle_t graph = nullptr;
    client.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph);
    ::_exit(client.run(graph) == kExpected ? 0 : 1);
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
  ze_graph_handle_t graph = nullptr;
  ASSERT_EQ(client.create(sample_buffer(), ZE_GRAPH_FORMAT_NGRAPH_LITE, &graph), ZE_RESULT_SUCCESS);
  const int fd = npu::test::make_dmabuf(8192);
  std::byte* const memory = client.import(fd, 8192);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(client.run_on(graph, reinterpret_cast<float*>(memory + 4160)), kExpected);
  zeMemFree(client.context, memory);
  ::close(fd);
  client.graphs->pfnDestroy(graph);
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

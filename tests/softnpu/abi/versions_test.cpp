// The driver as an older one: SOFTNPU_GRAPH_EXT_VERSION. It is read once, so every case has a
// process of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "child.hpp"

namespace softnpu_test {
namespace {

// For a process of its own: acts as graph extension 1.<minor>.
template <class Body>
[[noreturn]] void act_as(uint32_t minor, const Body& body) {
  run_under({{"SOFTNPU_GRAPH_EXT_VERSION", "1." + std::to_string(minor)}}, body);
}

#define EXPECT_NO_FAULT_AS(minor, body) \
  EXPECT_EXIT(act_as(minor, body), testing::ExitedWithCode(0), "")

class MemfdImport : public InChild, public testing::WithParamInterface<const char*> {};

TEST_P(MemfdImport, IsAdvertisedWhereItIsAllowed) {
  const uint32_t wanted = std::string(GetParam()) == "1" ? ze_npu_version(1, 0) : 0;
  expect_no_fault({{"SOFTNPU_ALLOW_MEMFD", GetParam()}}, [wanted](const Client& client) {
    const auto& extensions = client.extensions;
    const auto found = extensions.find(ZE_SOFTNPU_MEMFD_IMPORT_EXT_NAME);
    EXPECT_EQ(found == extensions.end() ? 0 : found->second, wanted);
  });
}

INSTANTIATE_TEST_SUITE_P(Variable, MemfdImport, testing::Values("0", "1"));

class EveryVersion : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(EveryVersion, SaysWhatItIs) {
  const uint32_t minor = GetParam();
  EXPECT_NO_FAULT_AS(minor, [minor](Client& client) {
    const auto& extensions = client.extensions;
    EXPECT_EQ(extensions.at(ZE_GRAPH_EXT_NAME), ze_npu_version(1, minor));
    for (uint32_t old = 2; old <= 8; ++old) {
      EXPECT_EQ(extensions.count(std::string(ZE_GRAPH_EXT_NAME "_1_") + std::to_string(old)),
                old <= minor ? 1u : 0u)
          << old;
    }
    EXPECT_TRUE(client.graph_has(minor));
    EXPECT_FALSE(client.graph_has(minor + 1));
  });
}

TEST_P(EveryVersion, CompilesAndRuns) {
  EXPECT_NO_FAULT_AS(GetParam(), [](Client& client) {
    Graph graph;
    ASSERT_EQ(client.compile_ir(sample_buffer(), graph), ZE_RESULT_SUCCESS) << client.log;
    EXPECT_EQ(client.run(graph), kExpected);
  });
}

INSTANTIATE_TEST_SUITE_P(Graph, EveryVersion, testing::Range(5u, 17u),
                         [](const auto& row) { return "as_1_" + std::to_string(row.param); });

// A function and the version that brought it.
struct Newer : Named {
  uint32_t since;
  ze_result_t (*call)(Client& client);
};

const Newer kNewer[] = {
    {"pfnDeviceGetGraphProperties2", 6,
     [](Client& c) { return c.graph->pfnDeviceGetGraphProperties2(c.device, nullptr); }},
    {"pfnGetNativeBinary2", 7,
     [](Client& c) { return c.graph->pfnGetNativeBinary2(nullptr, nullptr, nullptr); }},
    {"pfnGetProperties2", 8,
     [](Client& c) { return c.graph->pfnGetProperties2(nullptr, nullptr); }},
    {"pfnGraphInitialize", 8, [](Client& c) { return c.graph->pfnGraphInitialize(nullptr); }},
    {"pfnCompilerGetSupportedOptions", 11,
     [](Client& c) {
       return c.graph->pfnCompilerGetSupportedOptions(c.device, ZE_NPU_COMPILER_OPTIONS, nullptr,
                                                      nullptr);
     }},
    {"pfnCompilerIsOptionSupported", 11,
     [](Client& c) {
       return c.graph->pfnCompilerIsOptionSupported(c.device, ZE_NPU_COMPILER_OPTIONS, nullptr,
                                                    nullptr);
     }},
    {"pfnCreate3", 12,
     [](Client& c) { return c.graph->pfnCreate3(c.context, c.device, nullptr, nullptr, nullptr); }},
    {"pfnGetProperties3", 12,
     [](Client& c) { return c.graph->pfnGetProperties3(nullptr, nullptr); }},
    {"pfnBuildLogGetString2", 12,
     [](Client& c) { return c.graph->pfnBuildLogGetString2(nullptr, nullptr, nullptr); }},
    {"pfnBuildLogDestroy", 12, [](Client& c) { return c.graph->pfnBuildLogDestroy(nullptr); }},
    {"pfnSetArgumentValue2", 15,
     [](Client& c) { return c.graph->pfnSetArgumentValue2(nullptr, 0, nullptr); }},
    {"pfnEvict", 16, [](Client& c) { return c.graph->pfnEvict(nullptr); }},
};

class NewerSlot : public testing::TestWithParam<Newer> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(NewerSlot, AnswersFromItsVersionOn) {
  EXPECT_NO_FAULT_AS(GetParam().since, [this](Client& client) {
    EXPECT_NE(GetParam().call(client), ZE_RESULT_SUCCESS) << "nulls are refused";
  });
}

TEST_P(NewerSlot, EndsTheProcessByNameBeforeItsVersion) {
  EXPECT_EXIT(act_as(GetParam().since - 1, [this](Client& client) { GetParam().call(client); }),
              testing::KilledBySignal(SIGABRT),
              std::string(GetParam().name) + " was called.*advertises 1." +
                  std::to_string(GetParam().since - 1));
}

INSTANTIATE_TEST_SUITE_P(Graph, NewerSlot, testing::ValuesIn(kNewer), by_name);

// Flags that a graph made from a native binary reports.
struct NativeFlags {
  uint32_t minor;
  ze_graph_flags_t asked;
  ze_graph_properties_flags_t told;
  bool in_place;
};

void PrintTo(const NativeFlags& row, std::ostream* out) {
  *out << "as 1." << row.minor << " with flags " << row.asked;
}

class NativeGraph : public testing::TestWithParam<NativeFlags> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(NativeGraph, KnowsTheFlagsOfItsVersion) {
  EXPECT_NO_FAULT_AS(GetParam().minor, [this](Client& client) {
    const std::string binary = client.sample_binary();
    const Graph graph = client.load(binary, GetParam().asked);
    ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
    ASSERT_EQ(client.graph->pfnGetProperties3(graph.get(), &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.flags, GetParam().told);
    EXPECT_EQ(client.binary_in_place(graph).data() == binary.data(), GetParam().in_place);
  });
}

constexpr ze_graph_properties_flags_t kPre = ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED;
constexpr ze_graph_properties_flags_t kMayFree = ZE_GRAPH_PROPERTIES_FLAG_NO_STANDARD_ALLOCATION;
constexpr ze_graph_flags_t kPersistent = ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT;
INSTANTIATE_TEST_SUITE_P(Graph, NativeGraph,
                         testing::Values(NativeFlags{12, 0, kPre, false},
                                         NativeFlags{12, kPersistent, kPre, false},
                                         NativeFlags{13, kPersistent, kPre, true},
                                         NativeFlags{13, 0, kPre, false},
                                         NativeFlags{14, 0, kPre | kMayFree, false},
                                         NativeFlags{14, kPersistent, kPre, true},
                                         NativeFlags{16, 0, kPre | kMayFree, false}),
                         [](const auto& row) {
                           return "as_1_" + std::to_string(row.param.minor) +
                                  (row.param.asked != 0 ? "_persistent" : "_plain");
                         });

// Since 1.10 the caches' sizes can be asked for.
class CacheQuery : public testing::TestWithParam<uint32_t> {};

TEST_P(CacheQuery, CameWithOneTen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_NO_FAULT_AS(GetParam(), [this](Client& client) {
    ze_graph_memory_query_t query{};
    const ze_result_t expected =
        GetParam() >= 10 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    EXPECT_EQ(
        client.graph->pfnQueryContextMemory(client.context, ZE_GRAPH_QUERY_DRIVER_CACHE, &query),
        expected);
    EXPECT_EQ(
        client.graph->pfnQueryContextMemory(client.context, ZE_GRAPH_QUERY_PROGRAM_CACHE, &query),
        expected);
  });
}

INSTANTIATE_TEST_SUITE_P(Graph, CacheQuery, testing::Values(5u, 9u, 10u, 16u),
                         [](const auto& row) { return "as_1_" + std::to_string(row.param); });

// How arguments are named to a compiler.
struct Naming : Named {
  ze_graph_compiler_version_info_t compiler;
  bool ir_says_index;
  const char* flags;
  ze_result_t result;
};

class CompilerVersions : public testing::TestWithParam<Naming> {};

TEST_P(CompilerVersions, NameArgumentsInTheirOwnWay) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Naming& row = GetParam();
  ::setenv("SOFTNPU_COMPILER_VERSION",
           (std::to_string(row.compiler.major) + "." + std::to_string(row.compiler.minor)).c_str(),
           1);
  EXPECT_NO_FAULT_AS(16, [&row](Client& client) {
    IrWriter ir = sample_ir();
    ir.rt_info(row.ir_says_index ? "<use_indices_for_io_metadata value=\"YES\"/>" : "");
    Graph graph;
    EXPECT_EQ(
        client.compile_ir(classic_buffer(row.compiler, ir.xml(), ir.weights()), graph, row.flags),
        row.result)
        << client.log;
  });
  ::unsetenv("SOFTNPU_COMPILER_VERSION");
}

constexpr const char* kIndices =
    "--inputs_precisions=\"0:FP32\" --inputs_layouts=\"0:NC\" --outputs_precisions=\"0:FP32\" "
    "--outputs_layouts=\"0:NC\"";
constexpr const char* kNames =
    "--inputs_precisions=\"x:FP32\" --inputs_layouts=\"x:NC\" --outputs_precisions=\"sum:FP32\" "
    "--outputs_layouts=\"sum:NC\"";
constexpr const char* kNumbered =
    "--inputs_precisions=\"x:FP32\" --inputs_layouts=\"x:NC\" --outputs_precisions=\"sum.0:FP32\" "
    "--outputs_layouts=\"sum:NC\"";
constexpr const char* kResultsName =
    "--inputs_precisions=\"x:FP32\" --inputs_layouts=\"x:NC\" --outputs_precisions=\"y:FP32\" "
    "--outputs_layouts=\"y:NC\"";
constexpr const char* kWrongPrecision = "--inputs_precisions=\"x:FLOAT\"";
constexpr auto kRefused = ZE_RESULT_ERROR_INVALID_ARGUMENT;
INSTANTIATE_TEST_SUITE_P(
    Graph, CompilerVersions,
    testing::Values(Naming{"nothing_to_7_5", {7, 5}, true, "", ZE_RESULT_SUCCESS},
                    Naming{"nothing_to_7_3", {7, 3}, true, "", kRefused},
                    Naming{"indices_to_7_3", {7, 3}, true, kIndices, ZE_RESULT_SUCCESS},
                    Naming{"indices_to_5_9", {5, 9}, true, kIndices, ZE_RESULT_SUCCESS},
                    Naming{"indices_without_a_word", {5, 9}, false, kIndices, kRefused},
                    Naming{"names_to_5_9", {5, 9}, true, kNames, kRefused},
                    Naming{"names_to_5_8", {5, 8}, true, kNames, ZE_RESULT_SUCCESS},
                    Naming{"indices_to_5_8", {5, 8}, true, kIndices, kRefused},
                    Naming{"the_results_own_name", {5, 8}, true, kResultsName, kRefused},
                    Naming{"an_output_of_one", {5, 8}, true, kNumbered, kRefused},
                    Naming{"no_such_precision", {7, 5}, false, kWrongPrecision, kRefused}),
    by_name);

}  // namespace
}  // namespace softnpu_test

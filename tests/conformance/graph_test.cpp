// Graphs: rows 23 to 33, 39 to 41, 68 to 70 of the conformance list, and damaged input.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "fixture.hpp"

namespace conformance {
namespace {

class GraphCreate : public NpuTest {
 protected:
  ze_result_t create(const ze_graph_desc_2_t* desc) {
    Graph graph;
    return npu().graph->pfnCreate2(npu().context, npu().device, desc, graph.out());
  }
  ze_result_t create_ir(std::string_view buffer, const std::string& flags) {
    const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, flags.c_str());
    return create(&desc);
  }
  std::string add_relu_buffer() {
    const IrWriter ir = add_relu_ir();
    return classic_buffer(npu().compiler, ir.xml(), ir.weights());
  }
  bool has_compiler() const { return npu().compiler.major != 0; }
};

const std::string kJunk = "junk" + std::string(60, '\0');
const std::string kElfJunk = "\177ELFjunk" + std::string(56, '\0');

TEST_F(GraphCreate, RefusesNulls) {
  EXPECT_EQ(create(nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  auto desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, kJunk);
  desc.pInput = nullptr;
  EXPECT_EQ(create(&desc), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, kJunk);
  EXPECT_EQ(npu().graph->pfnCreate2(npu().context, npu().device, &desc, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

TEST_F(GraphCreate, RefusesSizeZero) {
  auto desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, kJunk);
  desc.inputSize = 0;
  EXPECT_EQ(create(&desc), ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_F(GraphCreate, RefusesAnUnknownFormatAndSaysSo) {
  const auto desc = graph_desc(static_cast<ze_graph_format_t>(99), kJunk);
  EXPECT_EQ(create(&desc), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(npu().last_log().empty());
}

TEST_F(GraphCreate, RefusesWhatIsNoElf) {
  Graph graph;
  EXPECT_EQ(create_native(kJunk, graph), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
}

TEST_F(GraphCreate, RefusesADamagedElfWithALog) {
  NEEDS_GRAPH_EXTENSION(12);
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, kElfJunk);
  Graph graph;
  ze_graph_build_log_handle_t log = nullptr;
  EXPECT_EQ(npu().graph->pfnCreate3(npu().context, npu().device, &desc, graph.out(), &log),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ASSERT_NE(log, nullptr);
  uint32_t size = 0;
  EXPECT_EQ(npu().graph->pfnBuildLogGetString2(log, &size, nullptr), ZE_RESULT_SUCCESS);
  std::string text(size, '\0');
  EXPECT_EQ(npu().graph->pfnBuildLogGetString2(log, &size, text.data()), ZE_RESULT_SUCCESS);
  EXPECT_GT(std::strlen(text.c_str()), 0u);
  EXPECT_EQ(text.size(), std::strlen(text.c_str()) + 1) << "the size counts the NUL";
  EXPECT_EQ(npu().graph->pfnBuildLogDestroy(log), ZE_RESULT_SUCCESS);
}

TEST_F(GraphCreate, WorksWithoutAskingForALog) {
  NEEDS_GRAPH_EXTENSION(12);
  const auto buffer = add_relu_buffer();
  const std::string flags = build_flags_of(add_relu_ir());
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NGRAPH_LITE, buffer, flags.c_str());
  Graph graph;
  EXPECT_EQ(npu().graph->pfnCreate3(npu().context, npu().device, &desc, graph.out(), nullptr),
            ZE_RESULT_SUCCESS);
}

TEST_F(GraphCreate, WorksThroughTheFirstVersionsEntry) {
  const auto buffer = add_relu_buffer();
  const std::string flags = build_flags_of(add_relu_ir());
  const ze_graph_desc_t desc{ZE_STRUCTURE_TYPE_GRAPH_DESC_PROPERTIES,
                             nullptr,
                             ZE_GRAPH_FORMAT_NGRAPH_LITE,
                             buffer.size(),
                             reinterpret_cast<const uint8_t*>(buffer.data()),
                             flags.c_str()};
  Graph graph;
  EXPECT_EQ(npu().graph->pfnCreate(npu().context, npu().device, &desc, graph.out()),
            ZE_RESULT_SUCCESS);
}

TEST_F(GraphCreate, RefusesAnIrOfAnotherCompilerVersion) {
  if (!has_compiler()) {
    GTEST_SKIP() << "no compiler";
  }
  auto version = npu().compiler;
  ++version.minor;
  const IrWriter ir = add_relu_ir();
  EXPECT_EQ(create_ir(classic_buffer(version, ir.xml(), ir.weights()), build_flags_of(ir)),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  EXPECT_FALSE(npu().last_log().empty());
}

TEST_F(GraphCreate, RefusesAnIrWithoutACompiler) {
  if (has_compiler()) {
    GTEST_SKIP() << "has a compiler";
  }
  EXPECT_EQ(create_ir(add_relu_buffer(), build_flags_of(add_relu_ir())),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
}

TEST_F(GraphCreate, RefusesAnOperatorThatNobodyHas) {
  IrWriter ir("unheard_of");
  ir.result(ir.layer("UnheardOf", {ir.parameter("x", "f32", {1, 8})}));
  EXPECT_NE(create_ir(classic_buffer(npu().compiler, ir.xml(), {}), build_flags_of(ir)),
            ZE_RESULT_SUCCESS);
  EXPECT_NE(npu().last_log().find("UnheardOf"), std::string::npos) << npu().last_log();
}

// Where the buffer's lengths and bytes are wrong the driver answers; it never reads past the end.
// The number of parts is not looked at, by Intel's compiler 8.4.
struct Damage {
  const char* name;
  void (*apply)(std::string& buffer);
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

const Damage kDamages[] = {
    {"header_only", [](auto& b) { b.resize(4); }},
    {"cut_in_lengths", [](auto& b) { b.resize(12); }},
    {"cut_in_xml", [](auto& b) { b.resize(b.size() / 2); }},
    {"cut_in_weights", [](auto& b) { b.resize(b.size() - 4); }},
    {"xml_length_huge", [](auto& b) { std::fill(b.begin() + 8, b.begin() + 16, '\xff'); }},
    {"xml_length_past_the_end", [](auto& b) { b[10] = 0x7f; }},
    {"xml_length_zero", [](auto& b) { std::fill(b.begin() + 8, b.begin() + 16, '\0'); }},
    {"xml_is_no_xml", [](auto& b) { std::fill(b.begin() + 16, b.begin() + 400, '<'); }},
};

class DamagedIr : public GraphCreate, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedIr, IsRefusedWithALog) {
  auto buffer = add_relu_buffer();
  GetParam().apply(buffer);
  const std::vector<char> exact(buffer.begin(), buffer.end());  // no zero behind it
  EXPECT_NE(create_ir({exact.data(), exact.size()}, build_flags_of(add_relu_ir())),
            ZE_RESULT_SUCCESS);
  EXPECT_FALSE(npu().last_log().empty());
}

INSTANTIATE_TEST_SUITE_P(Graph, DamagedIr, testing::ValuesIn(kDamages),
                         [](const auto& row) { return std::string(row.param.name); });

class GraphQueries : public NpuTest {
 protected:
  ze_result_t argument(uint32_t index, ze_graph_argument_properties_3_t* properties) {
    if (properties != nullptr) {
      *properties = {};
      properties->stype = ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3;
    }
    return npu().graph->pfnGetArgumentProperties3(graph_.get(), index, properties);
  }
  void SetUp() override {
    NpuTest::SetUp();
    graph_ = compile(two_by_two_ir());
  }
  void TearDown() override {
    graph_ = Graph();
    NpuTest::TearDown();
  }
  Graph graph_;
};

TEST_F(GraphQueries, CountInputsAndOutputs) {
  ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  ASSERT_EQ(npu().graph->pfnGetProperties(graph_.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.numGraphArgs, 4u);
}

TEST_F(GraphQueries, AskForInitialisationByItsOwnCall) {
  NEEDS_GRAPH_EXTENSION(8);
  ze_graph_properties_2_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_2};
  ASSERT_EQ(npu().graph->pfnGetProperties2(graph_.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_EQ(properties.numGraphArgs, 4u);
  EXPECT_EQ(properties.initStageRequired, ZE_GRAPH_STAGE_INITIALIZE);
}

TEST_F(GraphQueries, SayThatAnIrWasCompiled) {
  NEEDS_GRAPH_EXTENSION(12);
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  ASSERT_EQ(npu().graph->pfnGetProperties3(graph_.get(), &properties), ZE_RESULT_SUCCESS);
  constexpr uint32_t kOrigin = ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE |
                               ZE_GRAPH_PROPERTIES_FLAG_COMPILED |
                               ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED;
  EXPECT_TRUE(properties.flags & kOrigin);
  EXPECT_FALSE(properties.flags & ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED);
}

struct ExpectedArgument {
  const char* name;  // one of its tensor names, or the argument's own name
  ze_graph_argument_type_t type;
  ze_graph_argument_precision_t precision;
  ze_graph_metadata_type metadata_type;
};

constexpr ExpectedArgument kExpectedArguments[] = {
    {"a", ZE_GRAPH_ARGUMENT_TYPE_INPUT, ZE_GRAPH_ARGUMENT_PRECISION_UINT8,
     ZE_GRAPH_METADATA_TYPE_U8},
    {"b", ZE_GRAPH_ARGUMENT_TYPE_INPUT, ZE_GRAPH_ARGUMENT_PRECISION_FP32,
     ZE_GRAPH_METADATA_TYPE_F32},
    {"sum", ZE_GRAPH_ARGUMENT_TYPE_OUTPUT, ZE_GRAPH_ARGUMENT_PRECISION_FP32,
     ZE_GRAPH_METADATA_TYPE_F32},
    {"relu", ZE_GRAPH_ARGUMENT_TYPE_OUTPUT, ZE_GRAPH_ARGUMENT_PRECISION_FP32,
     ZE_GRAPH_METADATA_TYPE_F32},
};

TEST_F(GraphQueries, DescribeArgumentsInputsFirst) {
  for (uint32_t i = 0; i < 4; ++i) {
    ze_graph_argument_properties_3_t properties{};
    ASSERT_EQ(argument(i, &properties), ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.type, kExpectedArguments[i].type) << i;
    EXPECT_EQ(properties.devicePrecision, kExpectedArguments[i].precision) << i;
    ASSERT_EQ(properties.dims_count, 2u) << i;
    EXPECT_EQ(properties.dims[0], 1u);
    EXPECT_EQ(properties.dims[1], kTwoByTwoElements);
    EXPECT_EQ(properties.dims[2], 1u) << "dimensions past the count are 1";
    EXPECT_EQ(properties.dims[4], 1u) << "dimensions past the count are 1";
    EXPECT_STRNE(properties.name, "");
    ASSERT_EQ(properties.associated_tensor_names_count, 1u) << i;
    EXPECT_STREQ(properties.associated_tensor_names[0], kExpectedArguments[i].name);
  }
}

TEST_F(GraphQueries, AgreeInEveryVersionOfTheArgumentDescription) {
  for (uint32_t i = 0; i < 4; ++i) {
    ze_graph_argument_properties_t first{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES};
    ze_graph_argument_properties_2_t second{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_2};
    ze_graph_argument_properties_3_t third{};
    ASSERT_EQ(argument(i, &third), ZE_RESULT_SUCCESS);
    ASSERT_EQ(npu().graph->pfnGetArgumentProperties(graph_.get(), i, &first), ZE_RESULT_SUCCESS);
    ASSERT_EQ(npu().graph->pfnGetArgumentProperties2(graph_.get(), i, &second), ZE_RESULT_SUCCESS);
    EXPECT_STREQ(first.name, third.name);
    EXPECT_STREQ(second.name, third.name);
    EXPECT_EQ(std::memcmp(first.dims, third.dims, sizeof first.dims), 0);
    EXPECT_EQ(std::memcmp(second.dims, third.dims, sizeof second.dims), 0);
    EXPECT_EQ(first.devicePrecision, third.devicePrecision);
    EXPECT_EQ(second.deviceLayout, third.deviceLayout);
  }
}

TEST_F(GraphQueries, DescribeMetadata) {
  for (uint32_t i = 0; i < 4; ++i) {
    ze_graph_argument_metadata_t metadata{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA};
    ASSERT_EQ(npu().graph->pfnGraphGetArgumentMetadata(graph_.get(), i, &metadata),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(metadata.type, kExpectedArguments[i].type) << i;
    EXPECT_EQ(metadata.data_type, kExpectedArguments[i].metadata_type) << i;
    ASSERT_EQ(metadata.shape_size, 2u) << i;
    EXPECT_EQ(metadata.shape[0], 1u);
    EXPECT_EQ(metadata.shape[1], kTwoByTwoElements);
    ASSERT_EQ(metadata.tensor_names_count, 1u) << i;
    EXPECT_STREQ(metadata.tensor_names[0], kExpectedArguments[i].name);
  }
}

TEST_F(GraphQueries, RefuseAnArgumentThatIsNotThere) {
  ze_graph_argument_properties_3_t properties{};
  EXPECT_EQ(argument(4, &properties), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  ze_graph_argument_metadata_t metadata{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA};
  EXPECT_EQ(npu().graph->pfnGraphGetArgumentMetadata(graph_.get(), 4, &metadata),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(GraphQueries, RefuseNullPointersAndHandles) {
  EXPECT_EQ(argument(0, nullptr), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(npu().graph->pfnGetProperties(graph_.get(), nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES};
  EXPECT_EQ(npu().graph->pfnGetProperties(nullptr, &properties),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(npu().graph->pfnDestroy(nullptr), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(GraphQueries, RefuseAWrongStructureTypeOnlyUnderParameterValidation) {
  ze_graph_properties_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES};
  EXPECT_EQ(npu().graph->pfnGetProperties(graph_.get(), &properties),
            parameter_validation() ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS);
}

TEST_F(GraphQueries, RefuseBadArgumentValues) {
  const Memory memory = host_memory(kPageBytes);
  EXPECT_EQ(npu().graph->pfnSetArgumentValue(graph_.get(), 0, nullptr),
            ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  EXPECT_EQ(npu().graph->pfnSetArgumentValue(graph_.get(), 4, memory.as<>()),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(npu().graph->pfnSetArgumentValue(nullptr, 0, memory.as<>()),
            ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
}

TEST_F(GraphQueries, RefuseStridesWhereTheArgumentTakesNone) {
  NEEDS_GRAPH_EXTENSION(15);
  const Memory memory = host_memory(kPageBytes);
  ze_graph_argument_value_strides_t strides{
      ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_STRIDES, nullptr, {1, 8, 8, 8, 8}};
  ze_graph_argument_value_tensor_t tensor{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_TENSOR, &strides,
                                          memory.as<>()};
  EXPECT_EQ(npu().graph->pfnSetArgumentValue2(graph_.get(), 0, &tensor),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_F(GraphQueries, SurviveEviction) {
  NEEDS_GRAPH_EXTENSION(16);
  EXPECT_EQ(npu().graph->pfnEvict(graph_.get()), ZE_RESULT_SUCCESS);
}

class NativeBinary : public NpuTest {};

TEST_F(NativeBinary, IsAnElfFile) {
  const Graph graph = compile(add_relu_ir());
  const auto blob = npu().native_binary(graph);
  ASSERT_GT(blob.size(), 64u);
  EXPECT_TRUE(blob.starts_with("\177ELF\2\1"));
}

TEST_F(NativeBinary, IsTheSameAsACopyAndAsAView) {
  NEEDS_GRAPH_EXTENSION(7);
  const Graph graph = compile(add_relu_ir());
  const auto copy = npu().native_binary(graph);
  size_t size = 0;
  const uint8_t* view = nullptr;
  ASSERT_EQ(npu().graph->pfnGetNativeBinary2(graph.get(), &size, &view), ZE_RESULT_SUCCESS);
  ASSERT_EQ(size, copy.size());
  EXPECT_EQ(std::memcmp(view, copy.data(), size), 0);
}

TEST_F(NativeBinary, IsCopiedInPartAndClampedToItsSize) {
  const Graph graph = compile(add_relu_ir());
  const auto whole = npu().native_binary(graph);
  std::vector<uint8_t> part(whole.size() + 100, 0xaa);
  size_t size = 16;
  ASSERT_EQ(npu().graph->pfnGetNativeBinary(graph.get(), &size, part.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::memcmp(part.data(), whole.data(), 16), 0);
  EXPECT_EQ(part[16], 0xaa) << "wrote past the caller's size";
  size = part.size();
  ASSERT_EQ(npu().graph->pfnGetNativeBinary(graph.get(), &size, part.data()), ZE_RESULT_SUCCESS);
  EXPECT_EQ(size, whole.size());
  EXPECT_EQ(part[whole.size()], 0xaa) << "wrote past the binary";
}

// How many zero bytes follow the binary, and whether the input goes before the inference.
struct Reload {
  const char* name;
  bool padded;
  bool freed_after_initialise;
};

void PrintTo(const Reload& reload, std::ostream* out) {
  *out << reload.name;
}

class NativeReload : public NpuTest, public testing::WithParamInterface<Reload> {};

TEST_P(NativeReload, GivesTheSameResult) {
  auto blob = npu().native_binary(compile(add_relu_ir()));
  if (GetParam().padded) {
    blob.resize((blob.size() / kPageBytes + 1) * kPageBytes);
  }
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS) << npu().log;
  npu().initialise(graph);
  if (GetParam().freed_after_initialise) {
    std::fill(blob.begin(), blob.end(), '\xdd');
    blob = {};
  }
  const AddRelu inference(std::move(graph));
  ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

INSTANTIATE_TEST_SUITE_P(Graph, NativeReload,
                         testing::Values(Reload{"plain", false, false},
                                         Reload{"zero_padded_to_pages", true, false},
                                         Reload{"input_freed", false, true},
                                         Reload{"padded_and_freed", true, true}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_F(NativeBinary, IsTakenFromPagesThatOutliveTheGraph) {
  const auto blob = npu().native_binary(compile(add_relu_ir()));
  const size_t pages = (blob.size() + kPageBytes - 1) / kPageBytes * kPageBytes;
  const Memory input = host_memory(pages);
  std::memcpy(input.as<>(), blob.data(), blob.size());
  Graph graph;
  ASSERT_EQ(create_native({input.as<char>(), pages}, graph, ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT),
            ZE_RESULT_SUCCESS);
  npu().initialise(graph);
  const AddRelu inference(std::move(graph));
  ASSERT_EQ(run(make_queue(), inference.list), ZE_RESULT_SUCCESS);
  EXPECT_EQ(inference.result(), inference.expected());
}

TEST_F(NativeBinary, SaysThatItWasPreCompiled) {
  NEEDS_GRAPH_EXTENSION(12);
  const auto blob = npu().native_binary(compile(add_relu_ir()));
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS);
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  ASSERT_EQ(npu().graph->pfnGetProperties3(graph.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(properties.flags & ZE_GRAPH_PROPERTIES_FLAG_PRE_COMPILED);
  EXPECT_FALSE(properties.flags & ZE_GRAPH_PROPERTIES_FLAG_COMPILED);
}

TEST_F(NativeBinary, KeepsNamesAndShapes) {
  const auto blob = npu().native_binary(compile(two_by_two_ir()));
  Graph graph;
  ASSERT_EQ(create_native(blob, graph), ZE_RESULT_SUCCESS);
  for (uint32_t i = 0; i < 4; ++i) {
    ze_graph_argument_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_PROPERTIES_3};
    ASSERT_EQ(npu().graph->pfnGetArgumentProperties3(graph.get(), i, &properties),
              ZE_RESULT_SUCCESS);
    EXPECT_EQ(properties.devicePrecision, kExpectedArguments[i].precision);
    ASSERT_EQ(properties.associated_tensor_names_count, 1u);
    EXPECT_STREQ(properties.associated_tensor_names[0], kExpectedArguments[i].name);
  }
}

TEST_F(NativeBinary, IsRefusedWhereverItIsCut) {
  const auto blob = npu().native_binary(compile(add_relu_ir()));
  const size_t step = std::max<size_t>(1, blob.size() / 97);
  for (size_t size = 1; size < blob.size(); size += step) {
    const std::vector<char> cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(size));
    Graph graph;
    const ze_result_t created = create_native({cut.data(), cut.size()}, graph);
    EXPECT_TRUE(created == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY ||
                created == ZE_RESULT_ERROR_INVALID_ARGUMENT)
        << "cut to " << size << " of " << blob.size() << ": " << testing::PrintToString(created);
  }
}

// One process writes a binary for one platform, another one with another platform reads it.
TEST(NativeBinaryBetweenProcesses, IsRefusedOnAnotherPlatform) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("CONFORMANCE_RUN", std::to_string(getpid()).c_str(), 0);  // the children keep the parent's
  const auto path = std::filesystem::path(testing::TempDir()) /
                    (std::string("conformance-") + std::getenv("CONFORMANCE_RUN") + ".blob");
  EXPECT_EXIT(
      {
        setenv("SOFTNPU_PLATFORM", "4000", 1);
        const auto blob = npu().native_binary(compile(add_relu_ir()));
        std::ofstream(path, std::ios::binary) << blob;
        std::_Exit(npu().is_software() ? 0 : 3);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("SOFTNPU_PLATFORM", "3720", 1);
        std::ifstream file(path, std::ios::binary);
        const std::string blob((std::istreambuf_iterator<char>(file)), {});
        Graph graph;
        const ze_result_t created = create_native(blob, graph);
        std::_Exit(created == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY && !npu().log.empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  std::filesystem::remove(path);
}

class QueryNetwork : public NpuTest {};

TEST_F(QueryNetwork, RefusesANativeBinary) {
  const auto desc = graph_desc(ZE_GRAPH_FORMAT_NATIVE, kElfJunk, "");
  ze_graph_query_network_handle_t query = nullptr;
  EXPECT_EQ(npu().graph->pfnQueryNetworkCreate2(npu().context, npu().device, &desc, &query),
            ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
}

TEST_F(QueryNetwork, NamesTheLayersThatTheCompilerTakes) {
  if (npu().compiler.major == 0) {
    GTEST_SKIP() << "no compiler";
  }
  const IrWriter ir = add_relu_ir();
  const std::string layers =
      npu().supported_layers(classic_buffer(npu().compiler, ir.xml(), ir.weights()));
  EXPECT_NE(layers.find("<sum>"), std::string::npos) << layers;
  EXPECT_NE(layers.find("<y>"), std::string::npos) << layers;
}

// Rows 37 and 69. Lights up where the driver compiles with profiling.
class Profiling : public NpuTest {
 protected:
  // Null where the driver has no profiling.
  ze_graph_profiling_pool_handle_t pool_of(const Graph& graph, uint32_t count) {
    ze_graph_profiling_pool_handle_t pool = nullptr;
    const ze_result_t made = npu().profiling->pfnProfilingPoolCreate(graph.get(), count, &pool);
    EXPECT_TRUE(made == ZE_RESULT_SUCCESS || made == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
                made == ZE_RESULT_ERROR_NOT_AVAILABLE);
    return pool;
  }
};

TEST_F(Profiling, NeedsAGraphThatWasCompiledForIt) {
  const Graph graph = compile(add_relu_ir());
  ze_graph_profiling_pool_handle_t pool = nullptr;
  const ze_result_t made = npu().profiling->pfnProfilingPoolCreate(graph.get(), 1, &pool);
  EXPECT_TRUE(made == ZE_RESULT_ERROR_NOT_AVAILABLE || made == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
      << testing::PrintToString(made);
}

TEST_F(Profiling, IsThenNeededByEveryExecute) {
  const Graph graph = compile(add_relu_ir(), ZE_GRAPH_FLAG_ENABLE_PROFILING);
  const auto pool = pool_of(graph, 1);
  if (pool == nullptr) {
    GTEST_SKIP() << "no profiling";
  }
  const Memory x = host_memory(kAddReluBytes);
  const Memory y = host_memory(kAddReluBytes);
  const List list = make_list();
  EXPECT_EQ(set_arguments(graph, {x.as<>(), y.as<>()}), ZE_RESULT_SUCCESS);
  EXPECT_EQ(append(list, graph), ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  EXPECT_EQ(npu().profiling->pfnProfilingPoolDestroy(pool), ZE_RESULT_SUCCESS);
}

TEST_F(Profiling, KeepsAPoolThatHasLiveQueries) {
  const Graph graph = compile(add_relu_ir(), ZE_GRAPH_FLAG_ENABLE_PROFILING);
  const auto pool = pool_of(graph, 1);
  if (pool == nullptr) {
    GTEST_SKIP() << "no profiling";
  }
  ze_graph_profiling_query_handle_t query = nullptr;
  ze_graph_profiling_query_handle_t second = nullptr;
  EXPECT_EQ(npu().profiling->pfnProfilingQueryCreate(pool, 0, &query), ZE_RESULT_SUCCESS);
  EXPECT_EQ(npu().profiling->pfnProfilingQueryCreate(pool, 0, &second),
            ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  EXPECT_EQ(npu().profiling->pfnProfilingQueryCreate(pool, 1, &second),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(npu().profiling->pfnProfilingPoolDestroy(pool), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
  EXPECT_EQ(npu().profiling->pfnProfilingQueryDestroy(query), ZE_RESULT_SUCCESS);
  EXPECT_EQ(npu().profiling->pfnProfilingPoolDestroy(pool), ZE_RESULT_SUCCESS);
}

// Lights up where the driver keeps a disk cache.
class DriverCache : public NpuTest {};

TEST_F(DriverCache, RemembersAnIdenticalIr) {
  ze_graph_memory_query_t cache{};
  const bool has_cache =
      npu().graph_has(12) &&
      npu().graph->pfnQueryContextMemory(npu().context, ZE_GRAPH_QUERY_DRIVER_CACHE, &cache) ==
          ZE_RESULT_SUCCESS &&
      cache.total > 0;
  if (!has_cache) {
    GTEST_SKIP() << "no disk cache";
  }
  const Graph first = compile(add_relu_ir());
  const Graph second = compile(add_relu_ir());
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  ASSERT_EQ(npu().graph->pfnGetProperties3(second.get(), &properties), ZE_RESULT_SUCCESS);
  EXPECT_TRUE(properties.flags & ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE);
}

}  // namespace
}  // namespace conformance

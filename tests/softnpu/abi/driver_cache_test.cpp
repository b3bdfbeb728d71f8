// The driver's cache through the loader: SOFTNPU_CACHE_DIR.
#include <filesystem>
#include <fstream>

#include "child.hpp"

namespace softnpu_test {
namespace {

namespace fs = std::filesystem;

constexpr auto kFromCache = ZE_GRAPH_PROPERTIES_FLAG_LOADED_FROM_CACHE;
constexpr auto kCompiled = ZE_GRAPH_PROPERTIES_FLAG_COMPILED;

// Origin of a graph with this description, which is run and destroyed.
ze_graph_properties_flags_t origin(Client& client, const std::string& input,
                                   const char* flags_text = "", ze_graph_flags_t flags = 0,
                                   void* next = nullptr) {
  Graph graph;
  EXPECT_EQ(client.create(input, ZE_GRAPH_FORMAT_NGRAPH_LITE, graph, flags_text, flags, next),
            ZE_RESULT_SUCCESS)
      << client.log;
  if (graph == nullptr) return 0;
  ze_graph_properties_3_t properties{ZE_STRUCTURE_TYPE_GRAPH_PROPERTIES_3};
  client.graph->pfnGetProperties3(graph.get(), &properties);
  EXPECT_EQ(client.run(graph), kExpected);
  return properties.flags;
}

ze_graph_memory_query_t cache_memory(Client& client) {
  ze_graph_memory_query_t query{};
  client.graph->pfnQueryContextMemory(client.context, ZE_GRAPH_QUERY_DRIVER_CACHE, &query);
  return query;
}

ze_graph_input_hash_t hash_of(uint64_t value, void* next = nullptr) {
  return {ZE_STRUCTURE_TYPE_GRAPH_INPUT_HASH, next, value};
}

class DriverCache : public InChild {
 protected:
  void SetUp() override {
    InChild::SetUp();
    // The children keep the parent's name.
    ::setenv("SOFTNPU_TEST_RUN", std::to_string(::getpid()).c_str(), 0);
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "softnpu-driver-cache-" + std::getenv("SOFTNPU_TEST_RUN") + "-" +
              test->name();
  }
  void TearDown() override { fs::remove_all(folder_); }
  template <class Body>
  void expect_no_fault_with_cache(const Body& body) {
    expect_no_fault({{"SOFTNPU_CACHE_DIR", folder_}}, body);
  }
  std::string folder_;
};

TEST_F(DriverCache, IsOffUnlessAskedFor) {
  expect_no_fault({}, [](Client& client) {
    EXPECT_EQ(origin(client, sample_buffer()), kCompiled);
    EXPECT_EQ(origin(client, sample_buffer()), kCompiled);
    EXPECT_EQ(client.log, "");
    EXPECT_EQ(cache_memory(client).total, 0u);
  });
}

TEST_F(DriverCache, SaysWhatItDid) {
  expect_no_fault_with_cache([](Client& client) {
    EXPECT_EQ(cache_memory(client).total, uint64_t{4} << 30);
    EXPECT_EQ(cache_memory(client).allocated, 0u);
    EXPECT_EQ(origin(client, sample_buffer()), kCompiled);
    EXPECT_TRUE(has(client.log, "ZE DynamicCaching cache_status_t: cache_status_t::stored"));
    EXPECT_EQ(origin(client, sample_buffer()), kFromCache);
    EXPECT_TRUE(has(client.log, "ZE DynamicCaching cache_status_t: cache_status_t::found"));
    EXPECT_GT(cache_memory(client).allocated, 0u);
  });
}

TEST_F(DriverCache, LastsLongerThanAProcess) {
  expect_no_fault_with_cache(
      [](Client& client) { EXPECT_EQ(origin(client, sample_buffer()), kCompiled); });
  expect_no_fault_with_cache(
      [](Client& client) { EXPECT_EQ(origin(client, sample_buffer()), kFromCache); });
}

TEST_F(DriverCache, DoesNotMixDrivers) {
  expect_no_fault_with_cache(
      [](Client& client) { EXPECT_EQ(origin(client, sample_buffer()), kCompiled); });
  expect_no_fault({{"SOFTNPU_CACHE_DIR", folder_}, {"SOFTNPU_PLATFORM", "3720"}},
                  [](Client& client) { EXPECT_EQ(origin(client, sample_buffer()), kCompiled); });
  expect_no_fault(
      {{"SOFTNPU_CACHE_DIR", folder_}, {"SOFTNPU_COMPILER_VERSION", "7.6"}}, [](Client& client) {
        const std::string newer = classic_buffer({7, 6}, sample_ir().xml(), sample_ir().weights());
        EXPECT_EQ(origin(client, newer), kCompiled);
      });
}

TEST_F(DriverCache, DependsOnInputAndFlags) {
  expect_no_fault_with_cache([](Client& client) {
    EXPECT_EQ(origin(client, sample_buffer()), kCompiled);
    EXPECT_EQ(origin(client, sample_buffer(), "--config NPU_TILES=\"1\""), kCompiled);
    EXPECT_EQ(origin(client, sample_buffer(), "--config NPU_TILES=\"1\""), kFromCache);
    const std::string renamed = replaced(sample_ir().xml(), "name=\"sample\"", "name=\"other1\"");
    EXPECT_EQ(origin(client, classic_buffer(kCompiler, renamed, sample_ir().weights())), kCompiled);
  });
}

TEST_F(DriverCache, IsLeftOutOnRequest) {
  expect_no_fault_with_cache([](Client& client) {
    EXPECT_EQ(origin(client, sample_buffer(), "", ZE_GRAPH_FLAG_DISABLE_CACHING), kCompiled);
    EXPECT_EQ(cache_memory(client).allocated, 0u);
    EXPECT_EQ(origin(client, sample_buffer()), kCompiled);
    EXPECT_EQ(origin(client, sample_buffer(), "", ZE_GRAPH_FLAG_DISABLE_CACHING), kCompiled);
  });
}

TEST_F(DriverCache, SeesTheHashOnlyWhereItComesFirst) {
  expect_no_fault_with_cache([](Client& client) {
    ze_graph_input_hash_t second = hash_of(5);
    ze_graph_input_hash_t first{ZE_STRUCTURE_TYPE_GRAPH_ARGUMENT_METADATA, &second, 0};
    EXPECT_EQ(origin(client, sample_buffer(), "", 0, &first), kCompiled);
    EXPECT_EQ(origin(client, sample_buffer()), kFromCache) << "the input itself was the key";
  });
}

TEST_F(DriverCache, KnowsNoHashBeforeOneFourteen) {
  expect_no_fault({{"SOFTNPU_CACHE_DIR", folder_}, {"SOFTNPU_GRAPH_EXT_VERSION", "1.13"}},
                  [](Client& client) {
                    ze_graph_input_hash_t hash = hash_of(1);
                    EXPECT_EQ(origin(client, sample_buffer(), "", 0, &hash), kCompiled);
                    hash.hash = 2;
                    EXPECT_EQ(origin(client, sample_buffer(), "", 0, &hash), kFromCache);
                  });
}

TEST_F(DriverCache, LeavesNativeBinariesOut) {
  expect_no_fault_with_cache([](Client& client) {
    const std::string binary = client.sample_binary();
    const uint64_t before = cache_memory(client).allocated;
    const Graph graph = client.load(binary);
    EXPECT_EQ(cache_memory(client).allocated, before);
  });
}

}  // namespace
}  // namespace softnpu_test

// SOFTNPU_KEEP_COMPILED through the loader: which graphs compute with a model that was compiled
// before.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "child.hpp"

namespace softnpu_test {
namespace {

using Values = std::vector<float>;

/// The sample with weights that are larger by that.
std::string sample(float more = 0) {
  std::string weights = sample_ir().weights();
  auto* const values = reinterpret_cast<float*>(weights.data());
  for (std::size_t i = 0; i < weights.size() / sizeof(float); ++i) values[i] += more;
  return classic_buffer(kCompiler, sample_ir().xml(), weights);
}

Values computed(Client& client, const std::string& input,
                ze_graph_format_t format = ZE_GRAPH_FORMAT_NGRAPH_LITE, ze_graph_flags_t flags = 0,
                const char* build_flags = "") {
  Graph graph;
  EXPECT_EQ(client.create(input, format, graph, build_flags, flags), ZE_RESULT_SUCCESS)
      << client.log;
  return client.run(graph);
}

class KeptModels : public InChild {
 protected:
  void SetUp() override {
    InChild::SetUp();
    // The children keep the parent's name.
    ::setenv("SOFTNPU_TEST_RUN", std::to_string(::getpid()).c_str(), 0);
    trace_ = testing::TempDir() + "softnpu-kept-" + std::getenv("SOFTNPU_TEST_RUN") + "-" +
             testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  void TearDown() override { std::remove(trace_.c_str()); }

  /// How many of the graphs took a model that was kept.
  template <class Body>
  int kept(const char* most, const Body& body) {
    expect_no_fault({{"SOFTNPU_KEEP_COMPILED", most}, {"SOFTNPU_TRACE", trace_}}, body);
    int graphs = 0;
    std::ifstream file(trace_);
    for (std::string line; std::getline(file, line);) {
      graphs += nlohmann::json::parse(line).value("program", "") == "kept" ? 1 : 0;
    }
    return graphs;
  }

 private:
  std::string trace_;
};

TEST_F(KeptModels, AreNoneUnlessAskedFor) {
  EXPECT_EQ(kept("0",
                 [](Client& client) {
                   EXPECT_EQ(computed(client, sample()), kExpected);
                   EXPECT_EQ(computed(client, sample()), kExpected);
                 }),
            0);
}

TEST_F(KeptModels, ServeTheSameIrAndItsBinary) {
  EXPECT_EQ(kept("2",
                 [](Client& client) {
                   EXPECT_EQ(computed(client, sample()), kExpected);
                   EXPECT_EQ(computed(client, sample()), kExpected);
                   EXPECT_EQ(computed(client, client.sample_binary(), ZE_GRAPH_FORMAT_NATIVE),
                             kExpected);
                 }),
            3);
}

TEST_F(KeptModels, ServeNoOtherWeightsOrOptions) {
  EXPECT_EQ(kept("8",
                 [](Client& client) {
                   EXPECT_EQ(computed(client, sample()), kExpected);
                   EXPECT_EQ(computed(client, sample(1)), (Values{12, 23, 34, 45}));
                   EXPECT_EQ(computed(client, sample(), ZE_GRAPH_FORMAT_NGRAPH_LITE, 0,
                                      "--config NPU_TILES=\"1\""),
                             kExpected);
                 }),
            0);
}

TEST_F(KeptModels, AreTheLastOnesUsed) {
  EXPECT_EQ(kept("2",
                 [](Client& client) {
                   for (const float more :
                        {0.F, 1.F, 0.F, 2.F, 0.F}) {  // the second 0 and the third are kept
                     EXPECT_EQ(computed(client, sample(more)).front(), kExpected.front() + more);
                   }
                   EXPECT_EQ(computed(client, sample(1)).front(),
                             kExpected.front() + 1);  // 2 took its place
                 }),
            2);
}

// Neither is such a graph's model kept, nor does it take one: it reads the client's bytes.
TEST_F(KeptModels, ReferToNoMemoryOfTheClient) {
  EXPECT_EQ(kept("2",
                 [](Client& client) {
                   const auto persistent = [&client](const std::string& binary) {
                     return computed(client, binary, ZE_GRAPH_FORMAT_NATIVE,
                                     ZE_GRAPH_FLAG_INPUT_GRAPH_PERSISTENT);
                   };
                   const std::string binary = client.sample_binary();
                   EXPECT_EQ(persistent(binary), kExpected);  // beside one that is kept
                   computed(client, sample(1));
                   computed(client, sample(2));
                   EXPECT_EQ(persistent(binary), kExpected);  // beside none
                   EXPECT_EQ(computed(client, binary, ZE_GRAPH_FORMAT_NATIVE), kExpected);
                 }),
            0);
}

TEST_F(KeptModels, ServeGraphsThatLiveAtTheSameTime) {
  EXPECT_EQ(kept("1",
                 [](Client& client) {
                   Graph first = client.sample();
                   const Graph second = client.sample();
                   EXPECT_EQ(client.run(first), kExpected);
                   EXPECT_EQ(client.run(second), kExpected);
                   first = Graph();
                   EXPECT_EQ(client.run(second), kExpected);
                 }),
            1);
}

}  // namespace
}  // namespace softnpu_test

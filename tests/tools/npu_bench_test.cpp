#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include <npucore/npucore.hpp>

#include "ir_files.hpp"
#include "run_tool.hpp"

namespace npu::npu_bench_test {
namespace {

using test::Failure;
using test::TempDir;

test::ToolRun run(const std::string& words) {
  return test::run_tool("NPU_BENCH", words);
}

/// A folder with m.xml: two floats, doubled.
struct SmallModel {
  TempDir dir;
  std::string path;
  SmallModel() {
    dir.write("m.bin", std::string("\x00\x00\x00\x40", 4));
    path = dir.write("m.xml", test::multiply_ir()).string();
  }
};

nlohmann::json run_json(const std::string& words) {
  const auto result = run(words + " --device software --json 2>/dev/null");
  EXPECT_EQ(result.code, 0) << result.output;
  return nlohmann::json::parse(result.output);
}

TEST(NpuBenchTest, RunsAsManyInferencesAsAsked) {
  const SmallModel model;
  const auto json = run_json(model.path + " -i 37");
  EXPECT_EQ(json["inferences"], 37);
  EXPECT_EQ(json["requests"], 8);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["inputs"][0]["shape"], (std::vector<int>{1, 2}));
}

TEST(NpuBenchTest, OrdersItsPercentiles) {
  const SmallModel model;
  const auto latency = run_json(model.path + " -i 100")["latency_ms"];
  EXPECT_GT(latency["min"], 0.0);
  EXPECT_LE(latency["min"], latency["median"]);
  EXPECT_LE(latency["median"], latency["p90"]);
  EXPECT_LE(latency["p90"], latency["p99"]);
  EXPECT_LE(latency["p99"], latency["max"]);
}

TEST(NpuBenchTest, TheLatencyHintUsesOneRequest) {
  const SmallModel model;
  EXPECT_EQ(run_json(model.path + " -i 5 --hint latency")["requests"], 1);
}

TEST(NpuBenchTest, PropertiesReachTheModel) {
  const SmallModel model;
  EXPECT_EQ(run_json(model.path + " -i 5 -p PERFORMANCE_HINT=LATENCY")["requests"], 1);
}

TEST(NpuBenchTest, HostMemoryIsCopiedOrImportedAndGivesTheSameRun) {
  const SmallModel model;
  auto device = run_json(model.path + " -i 6 -n 2");
  auto host = run_json(model.path + " -i 6 -n 2 --memory host");
  EXPECT_EQ(device["copies"], 0);
  EXPECT_EQ(host["inferences"], 6);
  EXPECT_EQ(host["memory"], "host");
  for (auto* json : {&device, &host}) {
    for (auto& [name, value] : json->items()) {
      if (name.ends_with("_ms") || name == "seconds" || name == "throughput") {
        value = nullptr;
      }
    }
    for (const char* name : {"memory", "copies"}) json->erase(name);
  }
  EXPECT_EQ(device, host) << "but for times, memory and copies";
}

TEST(NpuBenchTest, ReshapesBeforeItCompiles) {
  const SmallModel model;
  for (const auto* shape : {"numbers=4,2", "'numbers=[4,2]'", "4,2"}) {
    const auto json = run_json(model.path + " -i 1 --reshape " + shape);
    EXPECT_EQ(json["inputs"][0]["shape"], (std::vector<int>{4, 2})) << shape;
  }
}

TEST(NpuBenchTest, TellsWhereTheTimeWent) {
  const SmallModel model;
  const auto layers = run_json(model.path + " -i 3 --pc")["layers"];
  ASSERT_FALSE(layers.empty());
  EXPECT_TRUE(layers[0].contains("duration_ns"));
  const auto text = run(model.path + " --device software -i 3 --pc");
  EXPECT_TRUE(has(text.output, layers[0]["name"].get<std::string>()));
  EXPECT_FALSE(run_json(model.path + " -i 3").contains("layers"));
}

TEST(NpuBenchTest, SyncUsesOneRequestWhateverTheHint) {
  const SmallModel model;
  const auto json = run_json(model.path + " -i 5 --api sync -n 4");
  EXPECT_EQ(json["requests"], 1);
  EXPECT_EQ(json["inferences"], 5);
}

TEST(NpuBenchTest, FewerInferencesThanRequestsAreFine) {
  const SmallModel model;
  EXPECT_EQ(run_json(model.path + " -i 2 -n 6")["inferences"], 2);
}

TEST(NpuBenchTest, TimeEndsTheRun) {
  const SmallModel model;
  const auto json = run_json(model.path + " -t 0.2");
  EXPECT_GT(json["inferences"], 0);
  EXPECT_GE(json["seconds"], 0.2);
}

TEST(NpuBenchTest, ACompiledModelHasAFeilABlobAFil) {
  const SmallModel model;
  const auto compiled = run_json(model.path + " -i 1");
  EXPECT_TRUE(compiled["feil_ms"].is_number());
  EXPECT_TRUE(compiled["fil_ms"].is_null());
  const auto blob = model.dir.path() / "m.blob";
  CompiledModel::compile(Device::open(DeviceKind::kSoftware), Model::read(model.path))
      .export_blob(blob);
  const auto loaded = run_json(blob.string() + " -i 1");
  EXPECT_TRUE(loaded["fil_ms"].is_number());
  EXPECT_TRUE(loaded["feil_ms"].is_null());
  EXPECT_EQ(loaded["loaded_from"], "blob");
}

TEST(NpuBenchTest, TheTextHasTheSameFigures) {
  const SmallModel model;
  const auto result = run(model.path + " --device software -i 12");
  ASSERT_EQ(result.code, 0) << result.output;
  for (const auto* part : {"FEIL", "12 in", "median", "p99", "inferences/s"}) {
    EXPECT_TRUE(has(result.output, part)) << part << " in " << result.output;
  }
}

TEST(NpuBenchTest, AnInterruptEndsItEarlyWithTheFigures) {
  const SmallModel model;
  const auto trace = model.dir.path() / "trace";
  ::setenv("SOFTNPU_TRACE", trace.c_str(), 1);
  const auto result = run(model.path + " --device software --json -t 600 2>/dev/null & pid=$!; " +
                          "until grep -q zeFenceReset " + trace.string() +
                          " 2>/dev/null; do sleep 0.1; done; kill -INT $pid; wait $pid");
  ::unsetenv("SOFTNPU_TRACE");
  EXPECT_EQ(result.code, 0) << result.output;
  const auto json = nlohmann::json::parse(result.output);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_GT(json["inferences"], 0);
}

class BenchFailureTest : public testing::TestWithParam<Failure> {};

TEST_P(BenchFailureTest, SaysWhy) {
  const SmallModel model;
  const auto result = run(GetParam().words_for(model.path) + " --device software");
  EXPECT_EQ(result.code, GetParam().code) << result.output;
  EXPECT_TRUE(has(result.output, GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BenchFailureTest,
    testing::Values(Failure{"no_model", "", 2, "model is required"},
                    Failure{"missing_model", "/nowhere/m.xml", 1, "npu-bench: cannot read"},
                    Failure{"missing_blob", "/nowhere/m.blob", 1, "npu-bench: cannot read"},
                    Failure{"unknown_option", "MODEL --fast", 2, "--fast"},
                    Failure{"bad_hint", "MODEL --hint quick", 2, "quick"},
                    Failure{"bad_property", "MODEL -p TURBO", 1, "--property needs KEY=VALUE"},
                    Failure{"unknown_property", "MODEL -p NPU_TURB=YES", 1, "NPU_TURBO"},
                    Failure{"bad_time", "MODEL -t 0", 2, "--time"},
                    Failure{"fewer_than_no_requests", "MODEL -n -1", 2, "--requests"},
                    Failure{"more_requests_than_memory", "MODEL -n 4294967295", 2, "--requests"},
                    Failure{"fewer_than_no_inferences", "MODEL -i -1", 2, "--iterations"},
                    Failure{"no_number_of_seconds", "MODEL -t nan", 2, "--time"},
                    Failure{"seconds_past_any_clock", "MODEL -t 1e10", 2, "--time"},
                    Failure{"bad_input", "MODEL -i 1 --input nope=/dev/null", 1, "no input 'nope'"},
                    Failure{"bad_reshape", "MODEL -i 1 --reshape numbers=1,x", 1,
                            "--reshape needs NAME"},
                    Failure{"bad_memory", "MODEL --memory gpu", 2, "gpu"}),
    by_name);

}  // namespace
}  // namespace npu::npu_bench_test

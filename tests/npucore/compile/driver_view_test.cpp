// Inputs of the driver, as its trace shows: one process for each driver and compiler version.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include <npucore/npucore.hpp>

#include "support.hpp"

namespace npu::test::driver_view_test {
namespace {

namespace fs = std::filesystem;
using Environment = std::map<std::string, std::string>;

struct View {
  std::string printed;
  nlohmann::json create;  ///< the trace line of the call that creates the graph
};

class DriverView : public ::testing::Test {
 protected:
  View compile(const fs::path& model, const std::string& properties, Environment environment,
               const std::string& option = "", const fs::path& blob = {}) {
    const fs::path trace = folder_.path() / "trace", output = folder_.path() / "output";
    fs::remove(trace);
    environment["SOFTNPU_TRACE"] = trace;
    const pid_t child = ::fork();
    if (child == 0) {
      for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      if (!std::freopen(output.c_str(), "w", stdout)) {
        ::_exit(126);
      }
      const char* program = std::getenv("COMPILE_WITH");
      ::execl(program, program, model.c_str(), properties.c_str(), option.c_str(),
              blob.empty() ? nullptr : blob.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return {read_file(output), created(trace)};
  }

  static nlohmann::json created(const fs::path& trace) {
    std::ifstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
      const auto entry = nlohmann::json::parse(line);
      const std::string call = entry.at("call");
      if (call == "pfnCreate" || call == "pfnCreate2" || call == "pfnCreate3") return entry;
    }
    return {};
  }

  const TempDir folder_;
};

struct SpellingRow {
  const char* name;
  const char* compiler;
  const char* extension;
  const char* properties;
  const char* config;   ///< what stands behind --config; null: the compiler refuses
  const char* message;  ///< part of what is printed
};

class Spelled : public DriverView, public ::testing::WithParamInterface<SpellingRow> {};

TEST_P(Spelled, ForTheDriversCompiler) {
  const SpellingRow& row = GetParam();
  const View view = compile(
      write_affine_model(folder_.path()), row.properties,
      {{"SOFTNPU_COMPILER_VERSION", row.compiler}, {"SOFTNPU_GRAPH_EXT_VERSION", row.extension}});
  EXPECT_TRUE(has(view.printed, row.message));
  if (!row.config) {
    EXPECT_TRUE(view.create.is_null()) << "it was handed to the driver: " << view.create;
    return;
  }
  ASSERT_FALSE(view.create.is_null());
  const std::string flags = view.create.at("build_flags");
  const auto config = flags.find(" --config ");
  EXPECT_EQ(config == std::string::npos ? "" : flags.substr(config + 10), row.config);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Spelled,
    ::testing::Values(
        SpellingRow{"nothing_set", "7.4", "1.16", "", "", "ok"},
        SpellingRow{"weightless", "7.5", "1.16", "",
                    R"(NPU_MODEL_SERIALIZER_VERSION="NO_WEIGHTS_COPY")", "ok"},
        SpellingRow{"weightless_is_not_guessed", "7.5", "1.10", "", "", "ok"},
        SpellingRow{"classic_by_choice", "7.5", "1.16",
                    "NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY", "", "ok"},
        SpellingRow{"classic_by_its_older_name", "7.5", "1.16", "NPU_USE_BASE_MODEL_SERIALIZER=YES",
                    "", "ok"},
        SpellingRow{"weightless_by_choice_on_an_old_compiler", "7.4", "1.16",
                    "NPU_MODEL_SERIALIZER_VERSION=NO_WEIGHTS_COPY", nullptr,
                    "does not take weights by address"},
        SpellingRow{"many", "7.21", "1.16",
                    "NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY NPU_TILES=2 NPU_TURBO=YES "
                    "PERFORMANCE_HINT=LATENCY "
                    "NPU_COMPILATION_MODE_PARAMS=\"optimization-level=2 "
                    "performance-hint-override=latency\" INFERENCE_PRECISION_HINT=f16 "
                    "NPU_PLATFORM=NPU4000 NPU_MAX_TILES=4",
                    R"(INFERENCE_PRECISION_HINT="f16" )"
                    R"(NPU_COMPILATION_MODE_PARAMS="optimization-level=2 )"
                    R"(performance-hint-override=latency" NPU_MAX_TILES="4" NPU_PLATFORM="4000" )"
                    R"(NPU_TILES="2" NPU_TURBO="YES" PERFORMANCE_HINT="LATENCY")",
                    "ok"},
        SpellingRow{"what_goes_without_saying", "7.21", "1.16",
                    "NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY NPU_TILES=-1 "
                    "PERFORMANCE_HINT=UNDEFINED NPU_PLATFORM=AUTO_DETECT "
                    "COMPILATION_NUM_THREADS=0 MODEL_PRIORITY=HIGH WORKLOAD_TYPE=EFFICIENT",
                    "", "ok"},
        SpellingRow{"turbo_is_left_out_where_unknown", "7.20", "1.16",
                    "NPU_TURBO=YES NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY", "", "ok"},
        SpellingRow{"cumulative_is_throughput", "7.4", "1.16",
                    "PERFORMANCE_HINT=CUMULATIVE_THROUGHPUT", R"(PERFORMANCE_HINT="THROUGHPUT")",
                    "ok"},
        SpellingRow{"profiling_is_a_flag", "7.4", "1.16", "PERF_COUNT=YES", "", "ok"},
        SpellingRow{"params_before_5_7", "5.6", "1.8",
                    "NPU_COMPILATION_MODE_PARAMS=\"optimization-level=2\" NPU_TILES=2",
                    R"(NPU_TILES="2")", "ok"},
        SpellingRow{"tiles_before_5_4", "5.3", "1.8", "NPU_TILES=2", R"(NPU_DPU_GROUPS="2")", "ok"},
        SpellingRow{"prefix_before_5_0", "4.2", "1.6", "NPU_TILES=2", R"(VPU_DPU_GROUPS="2")",
                    "ok"},
        SpellingRow{"prefix_before_4_0", "3.4", "1.5", "NPU_TILES=2 NPU_PLATFORM=4000",
                    R"(VPUX_PLATFORM="4000" VPUX_DPU_GROUPS="2")", "ok"},
        SpellingRow{"refused_by_version_where_the_driver_cannot_be_asked", "5.5", "1.8",
                    "EXECUTION_MODE_HINT=ACCURACY", nullptr,
                    "the driver's compiler 5.5 does not know EXECUTION_MODE_HINT (since 5.6)"},
        SpellingRow{"refused_where_the_driver_says_so", "7.19", "1.16", "NPU_QDQ_OPTIMIZATION=YES",
                    nullptr, "7.19 does not know NPU_QDQ_OPTIMIZATION (since 7.20)"}),
    by_name);

TEST_F(DriverView, NamesArgumentsByIndexSince5_9) {
  const auto model = write_affine_model(folder_.path());
  const std::string old =
      compile(model, "",
              {{"SOFTNPU_COMPILER_VERSION", "5.8"}, {"SOFTNPU_GRAPH_EXT_VERSION", "1.8"}})
          .create.at("build_flags");
  EXPECT_EQ(old.rfind("--inputs_precisions=\"input:FP32\"", 0), 0u) << old;
  const std::string since =
      compile(model, "", {{"SOFTNPU_COMPILER_VERSION", "5.9"}}).create.at("build_flags");
  EXPECT_EQ(since.rfind("--inputs_precisions=\"0:FP32\"", 0), 0u) << since;
}

constexpr int kDisableCaching = 1;

TEST_F(DriverView, LeavesTheDriversCacheOutOnlyWhenAsked) {
  const auto model = write_affine_model(folder_.path());
  const auto flags = [&](const std::string& properties) {
    return compile(model, properties, {}).create.at("flags").get<int>() & kDisableCaching;
  };
  EXPECT_EQ(flags(""), 0);
  EXPECT_EQ(flags("NPU_BYPASS_UMD_CACHING=YES"), kDisableCaching);
  EXPECT_EQ(flags("CACHE_DIR=" + (folder_.path() / "cache").string()), kDisableCaching);
}

TEST_F(DriverView, LetsTheDriversCacheHitThoughTheModelHoldsAddresses) {
  const auto model = write_affine_model(folder_.path());
  for (const char* serializer : {"NO_WEIGHTS_COPY", "ALL_WEIGHTS_COPY"}) {
    const Environment cache = {{"SOFTNPU_CACHE_DIR", folder_.path() / serializer}};
    const auto compiled = [&] {
      return compile(model, std::string("NPU_MODEL_SERIALIZER_VERSION=") + serializer, cache)
          .printed;
    };
    EXPECT_EQ(compiled(), "ok, from compiler\n") << serializer;
    EXPECT_EQ(compiled(), "ok, from driver cache\n") << serializer;
  }
}

TEST_F(DriverView, CopiesConstantsBelowTheThreshold) {
  const auto model = write_affine_model(folder_.path());
  const auto input_bytes = [&](const std::string& threshold) {
    return compile(model, "NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD=" + threshold, {})
        .create.at("input_bytes")
        .get<std::uint64_t>();
  };
  // Two constants of four bytes; what describes an address is longer than they are.
  EXPECT_EQ(input_bytes("4"), input_bytes("0"));
  EXPECT_LT(input_bytes("5"), input_bytes("4"));
}

struct InitRow {
  const char* name;
  const char* extension;
  const char* call;  ///< what loads the weights
};

class DeferredWeights : public DriverView, public ::testing::WithParamInterface<InitRow> {
 protected:
  /// How often the driver was asked to load weights before and after the first request was made;
  /// see compile_with.cpp.
  std::pair<int, int> initialized(const std::string& properties) {
    const fs::path trace = folder_.path() / "trace";
    const View view = compile(
        model_, properties,
        {{"SOFTNPU_GRAPH_EXT_VERSION", GetParam().extension}, {"COMPILE_WITH_REQUEST", "1"}});
    EXPECT_EQ(view.printed, "ok, from compiler\n");
    std::pair<int, int> counts;
    bool requested = false;
    std::ifstream lines(trace);
    for (std::string line; std::getline(lines, line);) {
      const std::string call = nlohmann::json::parse(line).at("call");
      if (call.rfind("pfnGetNativeBinary", 0) == 0) {
        requested = true;
      }
      if (call == GetParam().call) {
        ++(requested ? counts.second : counts.first);
      }
    }
    return counts;
  }

  const fs::path model_ = write_affine_model(folder_.path());
};

TEST_P(DeferredWeights, EnterTheDeviceWithTheFirstRequest) {
  using Counts = std::pair<int, int>;
  EXPECT_EQ(initialized(""), Counts(1, 0));
  EXPECT_EQ(initialized("NPU_DEFER_WEIGHTS_LOAD=YES"), Counts(0, 1));
}

INSTANTIATE_TEST_SUITE_P(Rows, DeferredWeights,
                         ::testing::Values(InitRow{"by_call", "1.16", "pfnGraphInitialize"},
                                           InitRow{"by_call_since_1_8", "1.8",
                                                   "pfnGraphInitialize"},
                                           InitRow{"by_list", "1.7", "pfnAppendGraphInitialize"}),
                         by_name);

class ForeignBlobs : public DriverView {
 protected:
  void SetUp() override {
    set_log_sink([this](LogLevel level, std::string_view message) {
      if (level <= LogLevel::kWarning) {
        warnings_ += std::string(message) + '\n';
      }
    });
    const View made = compile(model_, "", {{"SOFTNPU_PLATFORM", "3720"}}, "", blob_);
    ASSERT_EQ(made.printed, "ok, from compiler\n");
  }
  void TearDown() override { set_log_sink({}); }

  const Device device_ = Device::open(DeviceKind::kSoftware);
  const fs::path model_ = write_affine_model(folder_.path());
  const fs::path blob_ = folder_.path() / "foreign.blob";
  std::string warnings_;
};

TEST_F(ForeignBlobs, AreRefusedWithWhatBothSidesAre) {
  for (const char* part : {"the blob is for platform 3720, the device is a 4000", "foreign.blob",
                           "the blob: platform=3720 compiler=8.4"}) {
    expect_error(ErrorCode::kIncompatible, part, [&] { CompiledModel::import(device_, blob_); });
  }
}

TEST_F(ForeignBlobs, AreTheDriversToRefuseWhenAskedFor) {
  CompileOptions options;
  options.properties.set(property::disable_version_check, true);
  for (const char* part : {"pfnCreate3 failed", "the blob: platform=3720"}) {
    expect_error(ErrorCode::kIncompatible, part,
                 [&] { CompiledModel::import(device_, blob_, options); });
  }
}

TEST_F(ForeignBlobs, AreCompiledAgainWhereTheModelIsAtHand) {
  const auto model = CompiledModel::import(device_, blob_, Model::read(model_));
  EXPECT_EQ(model.load_stats().from, LoadedFrom::kCompiler);
  EXPECT_TRUE(has(warnings_, "affine.xml) is compiled instead"));
}

TEST_F(ForeignBlobs, OfNewerFirmwareSayThatTheDriverIsToBeUpdated) {
  const View made = compile(model_, "", {{"SOFTNPU_RUNTIME_VERSION", "9999.0.0"}}, "", blob_);
  ASSERT_EQ(made.printed, "ok, from compiler\n");
  for (const char* part :
       {"the blob is newer than the driver: update the NPU driver", "runtime=9999.0.0"}) {
    expect_error(ErrorCode::kIncompatible, part, [&] { CompiledModel::import(device_, blob_); });
  }
}

TEST_F(ForeignBlobs, ThatFitAreNotCompiledAgain) {
  const auto own = folder_.path() / "own.blob";
  const auto compiled = CompiledModel::compile(device_, Model::read(model_));
  compiled.export_blob(own);
  const auto model = CompiledModel::import(device_, own, Model::read(model_));
  EXPECT_EQ(model.load_stats().from, LoadedFrom::kBlob);
  EXPECT_EQ(model.get_property("RUNTIME_REQUIREMENTS"),
            compiled.get_property("RUNTIME_REQUIREMENTS"));
  EXPECT_TRUE(has(model.get_property("RUNTIME_REQUIREMENTS"), "desc=[compiler=8.4;npu=4000;elf="));
  EXPECT_EQ(read_blob_info(own).requirements, model.get_property("RUNTIME_REQUIREMENTS"));
  EXPECT_EQ(model.get_property("COMPATIBILITY_CHECK"), "SUPPORTED");
  EXPECT_EQ(warnings_, "");
}

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kHeavyWeights = 400 * kMiB;

/// Adds a constant of 400 MiB, which lies in a file without a single block of its own.
fs::path write_heavy_model(const fs::path& folder) {
  const IrShape shape{1, 1, 10240, 10240};
  IrWriter ir("heavy");
  const auto x = ir.parameter("input", "f32", shape);
  ir.result(ir.binary("Add", x, ir.constant_at("weights", "f32", shape, 0, kHeavyWeights)));
  write_file(folder / "heavy.bin", "");
  fs::resize_file(folder / "heavy.bin", kHeavyWeights);
  return ir.write(folder, "heavy");
}

/// Anonymous memory of the process as it enters the driver; the driver then refuses, and compiles
/// nothing.
class AnonymousMemory : public DriverView {
 protected:
  std::uint64_t at_entry(const fs::path& model, const std::string& serializer) {
    const View view =
        compile(model, "NPU_MODEL_SERIALIZER_VERSION=" + serializer, {}, "NO_SUCH_OPTION=1");
    EXPECT_TRUE(has(view.printed, "NO_SUCH_OPTION"));
    return view.create.at("anon_bytes");
  }
};

TEST_F(AnonymousMemory, HoldsNoWeightsWhenTheyGoByAddress) {
  const auto small = at_entry(write_affine_model(folder_.path()), "NO_WEIGHTS_COPY");
  const auto large = at_entry(write_heavy_model(folder_.path()), "NO_WEIGHTS_COPY");
  RecordProperty("small_bytes", std::to_string(small));
  RecordProperty("large_bytes", std::to_string(large));
  EXPECT_LT(large, small + 16 * kMiB);
}

TEST_F(AnonymousMemory, HoldsTheWeightsOnceWhenTheyAreCopied) {
  const auto small = at_entry(write_affine_model(folder_.path()), "ALL_WEIGHTS_COPY");
  const auto large = at_entry(write_heavy_model(folder_.path()), "ALL_WEIGHTS_COPY");
  RecordProperty("large_bytes", std::to_string(large));
  EXPECT_GT(large + kMiB, small + kHeavyWeights);
  EXPECT_LT(large, small + kHeavyWeights + 16 * kMiB);
}

}  // namespace
}  // namespace npu::test::driver_view_test

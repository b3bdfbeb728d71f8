#include "graph/build_flags.hpp"

#include <gtest/gtest.h>

#include "base/failure.hpp"
#include "support/expect.hpp"

namespace softnpu::build_flags_test {
namespace {

TEST(BuildFlags, TakeWhatOpenvinosPluginSends) {
  const BuildFlags flags = parse_build_flags(
      "--inputs_precisions=\"0:FP32 1:U8\" --inputs_layouts=\"0:NCHW 1:NC\" "
      "--outputs_precisions=\"0:FP32\" --outputs_layouts=\"0:**SCALAR**\" "
      "--config NPU_MAX_TILES=\"6\" NPU_STEPPING=\"0\" NPU_BATCH_MODE=\"COMPILER\" "
      "NPU_PLATFORM=\"4000\" ");
  EXPECT_EQ(flags.io.at("--inputs_precisions"), "0:FP32 1:U8");
  EXPECT_EQ(flags.config.at("NPU_PLATFORM"), "4000");
  EXPECT_EQ(flags.config.size(), 4u);
}

TEST(BuildFlags, MayBeEmpty) {
  EXPECT_TRUE(parse_build_flags("").config.empty());
}

TEST(BuildFlags, MayHaveBlanksInAValue) {
  const BuildFlags flags = parse_build_flags(
      "--config NPU_COMPILATION_MODE_PARAMS=\"optimization-level=1 a=b\" PERF_COUNT=\"YES\"");
  EXPECT_EQ(flags.config.at("NPU_COMPILATION_MODE_PARAMS"), "optimization-level=1 a=b");
  EXPECT_TRUE(flags.profiling());
}

TEST(BuildFlags, OfANativeBinaryMayNameTheConfigTwice) {
  EXPECT_TRUE(parse_recorded_flags("--config LOG_LEVEL=\"LOG_NONE\"  --config PERF_COUNT=\"YES\"")
                  .profiling());
}

TEST(BuildFlags, ProfileOnlyWhenAsked) {
  EXPECT_FALSE(parse_build_flags("--config PERF_COUNT=\"NO\"").profiling());
}

struct Row {
  const char* name;
  const char* text;
  const char* told;  // part of the message
};

class BadBuildFlags : public testing::TestWithParam<Row> {};

TEST_P(BadBuildFlags, AreRefusedByName) {
  try {
    parse_build_flags(GetParam().text);
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(has(failure.what(), GetParam().told));
  }
}

INSTANTIATE_TEST_SUITE_P(
    BuildFlags, BadBuildFlags,
    testing::Values(
        Row{"unknown_option", "--config NPU_MAGIC=\"1\"",
            "[ NOT_FOUND ] Option 'NPU_MAGIC' is not supported"},
        Row{"second_config", "--config PERF_COUNT=\"NO\" --config LOG_LEVEL=\"LOG_NONE\"",
            "[ NOT_FOUND ] Option '--config' is not supported"},
        Row{"precisions_behind_config", "--config --inputs_layouts=\"0:NC\"",
            "[ NOT_FOUND ] Option '--inputs_layouts' is not supported"},
        Row{"no_blank_between", "--config PERF_COUNT=\"NO\"PERF_COUNT=\"YES\"", "PERF_COUNT"},
        Row{"impossible_value", "--config PERF_COUNT=\"MAYBE\"", "MAYBE"},
        Row{"serializer_auto", "--config NPU_MODEL_SERIALIZER_VERSION=\"AUTO\"", "AUTO"},
        Row{"no_quotes", "--config PERF_COUNT=YES", "PERF_COUNT=YES"},
        Row{"no_closing_quote", "--config PERF_COUNT=\"YES", "PERF_COUNT"},
        Row{"no_config_word", "PERF_COUNT=\"YES\"", "PERF_COUNT"},
        Row{"only_a_word", "--config hello", "hello"},
        Row{"config_glued_on", "--configPERF_COUNT", "--configPERF_COUNT"},
        Row{"threads_no_number", "--config COMPILATION_NUM_THREADS=\"many\"", "many"}),
    by_name);

/// As Intel's compiler 8.4 says it.
TEST(BuildFlags, KnowStridesFromPlatform4000On) {
  constexpr const char* kText = "--config NPU_ENABLE_STRIDES_FOR=\"x\"";
  EXPECT_EQ(parse_build_flags(kText, kDefaultCompiler, 4000).strides_for(), "x");
  EXPECT_THROW(parse_build_flags(kText, kDefaultCompiler, 3720), Failure);
  EXPECT_TRUE(is_option_supported("NPU_ENABLE_STRIDES_FOR", "", kDefaultCompiler, 5010));
  EXPECT_FALSE(is_option_supported("NPU_ENABLE_STRIDES_FOR", "", kDefaultCompiler, 3720));
  EXPECT_FALSE(has(supported_options(kDefaultCompiler, 3720), "STRIDES"));
  EXPECT_TRUE(has(supported_options(kDefaultCompiler, 4000), "STRIDES"));
}

TEST(BuildFlags, KnowTheOldPrefixesAndNames) {
  const BuildFlags flags =
      parse_build_flags("--config VPU_TILES=\"1\" VPUX_PLATFORM=\"3720\" NPU_DPU_GROUPS=\"2\"");
  EXPECT_EQ(flags.config.at("NPU_TILES"), "2");
  EXPECT_EQ(flags.config.at("NPU_PLATFORM"), "3720");
}

TEST(BuildFlags, DropWhatIsNotForTheCompiler) {
  EXPECT_TRUE(
      parse_build_flags("--config MODEL_PRIORITY=\"HIGH\" CACHE_DIR=\"/x\"").config.empty());
}

TEST(BuildFlags, OfANativeBinaryMayBeOfAnyCompiler) {
  EXPECT_EQ(parse_recorded_flags("--config VPUX_DMA_ENGINES=\"2\" NPU_TURBO=\"YES\"").config.size(),
            2u);
}

// An option that a compiler takes from some version on, and the version before does not.
struct Learnt {
  const char* name;
  CompilerVersion since;
  CompilerVersion before;
  const char* option;
  const char* value;
};

class CompilerOptions : public testing::TestWithParam<Learnt> {};

TEST_P(CompilerOptions, AreTakenFromTheirVersionOn) {
  const Learnt& row = GetParam();
  const std::string text = std::string("--config ") + row.option + "=\"" + row.value + "\"";
  EXPECT_NO_THROW(parse_build_flags(text, row.since));
  EXPECT_THROW(parse_build_flags(text, row.before), Failure);
}

constexpr CompilerVersion kOld{3, 9};
INSTANTIATE_TEST_SUITE_P(
    BuildFlags, CompilerOptions,
    testing::Values(
        Learnt{"npu_prefix", {5, 0}, {4, 99}, "NPU_PLATFORM", "4000"},
        Learnt{"vpu_prefix", {4, 0}, kOld, "VPU_PLATFORM", "3720"},
        Learnt{"tiles", {5, 4}, {5, 3}, "NPU_TILES", "1"},
        Learnt{"stepping", {5, 3}, {5, 2}, "NPU_STEPPING", "0"},
        Learnt{"precision", {5, 4}, {5, 3}, "INFERENCE_PRECISION_HINT", "f16"},
        Learnt{"execution", {5, 6}, {5, 5}, "EXECUTION_MODE_HINT", "ACCURACY"},
        Learnt{"batch", {5, 5}, {5, 4}, "NPU_BATCH_MODE", "COMPILER"},
        Learnt{"level", {5, 7}, {5, 6}, "NPU_COMPILATION_MODE_PARAMS", "optimization-level=1"},
        Learnt{"quantisation", {7, 1}, {7, 0}, "NPU_COMPILER_DYNAMIC_QUANTIZATION", "YES"},
        Learnt{"serializer", {7, 5}, {7, 4}, "NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"},
        Learnt{"strides", {7, 5}, {7, 4}, "NPU_ENABLE_STRIDES_FOR", "x"},
        Learnt{"qdq", {7, 20}, {7, 19}, "NPU_QDQ_OPTIMIZATION", "YES"},
        Learnt{"turbo", {7, 21}, {7, 20}, "NPU_TURBO", "YES"}),
    by_name);

TEST(CompilerOptions, AreAskedForUnderTodaysNames) {
  EXPECT_FALSE(has(supported_options({3, 9}), "VPU"));
  EXPECT_TRUE(is_option_supported("NPU_PLATFORM", "", {3, 9}));
  EXPECT_TRUE(is_option_supported("VPUX_PLATFORM", "", {3, 9}));
  EXPECT_FALSE(is_option_supported("NPU_TILES", "", {5, 3}));
  EXPECT_TRUE(is_option_supported("NPU_DPU_GROUPS", "", {5, 3}));
  EXPECT_FALSE(has(supported_options({7, 20}), "NPU_TURBO"));
}

// Values as Intel's compiler 8.4 takes (or refuses) them on 4000.
struct Value {
  const char* option;
  const char* value;
  bool is_taken;
};

void PrintTo(const Value& row, std::ostream* out) {
  *out << row.option << "=" << row.value;
}

class Values : public testing::TestWithParam<Value> {};

TEST_P(Values, AreTakenAsByIntels) {
  const Value& row = GetParam();
  const std::string text = std::string("--config ") + row.option + "=\"" + row.value + "\"";
  const auto parse = [&text] { parse_build_flags(text, kDefaultCompiler, 4000); };
  if (row.is_taken) {
    EXPECT_NO_THROW(parse());
  } else {
    EXPECT_THROW(parse(), Failure);
  }
  EXPECT_NO_THROW(parse_recorded_flags(text));
}

INSTANTIATE_TEST_SUITE_P(
    BuildFlags, Values,
    testing::Values(Value{"PERF_COUNT", "true", true}, Value{"PERF_COUNT", "No", true},
                    Value{"NPU_TURBO", "1", true}, Value{"NPU_TURBO", "on", false},
                    Value{"PERF_COUNT", "", false}, Value{"PERFORMANCE_HINT", "", true},
                    Value{"PERFORMANCE_HINT", "UNDEFINED", false},
                    Value{"INFERENCE_PRECISION_HINT", "i8", true},
                    Value{"INFERENCE_PRECISION_HINT", "f32", false},
                    Value{"LOG_LEVEL", "LOG_TRACE", true}, Value{"LOG_LEVEL", "ERROR", false},
                    Value{"NPU_PLATFORM", "NPU3720", true}, Value{"NPU_PLATFORM", "6010", true},
                    Value{"NPU_PLATFORM", "AUTO_DETECT", true},
                    Value{"NPU_PLATFORM", "3700", false}, Value{"NPU_PLATFORM", "", false},
                    Value{"NPU_TILES", "99", true}, Value{"NPU_TILES", "1x", true},
                    Value{"NPU_TILES", "0", false}, Value{"NPU_TILES", "-1", false},
                    Value{"NPU_TILES", "x1", false}, Value{"NPU_MAX_TILES", "-1", true},
                    Value{"NPU_STEPPING", "0", true}, Value{"NPU_STEPPING", "x", false},
                    Value{"NPU_DMA_ENGINES", "2", true}, Value{"NPU_DMA_ENGINES", "3", false},
                    Value{"COMPILATION_NUM_THREADS", "64", true},
                    Value{"COMPILATION_NUM_THREADS", "0", false},
                    Value{"COMPILATION_NUM_THREADS", "9999999999", false},
                    Value{"NPU_BATCH_MODE", "AUTO", true}, Value{"NPU_BATCH_MODE", "auto", false},
                    Value{"NPU_COMPILATION_MODE", "HostCompile", true},
                    Value{"NPU_COMPILATION_MODE", "defaulthw", false},
                    Value{"NPU_COMPILATION_MODE_PARAMS", "optimization-level=3", true},
                    Value{"NPU_COMPILATION_MODE_PARAMS", "optimization-level=4", false},
                    Value{"NPU_COMPILATION_MODE_PARAMS", "performance-hint-override=x", false},
                    Value{"CACHE_MODE", "x", false}, Value{"COMPATIBILITY_CHECK", "YES", false},
                    Value{"NPU_COMPILER_TYPE", "MLIR", false},
                    Value{"PERFORMANCE_HINT_NUM_REQUESTS", "0", true},
                    Value{"PERFORMANCE_HINT_NUM_REQUESTS", "-1", false}));

TEST(Options, AreSupportedByNameAndValue) {
  EXPECT_TRUE(is_option_supported("PERF_COUNT", ""));
  EXPECT_TRUE(is_option_supported("PERF_COUNT", "YES"));
  EXPECT_FALSE(is_option_supported("PERF_COUNT", "MAYBE"));
  EXPECT_TRUE(is_option_supported("NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"));
  EXPECT_FALSE(is_option_supported("NPU_MODEL_SERIALIZER_VERSION", "AUTO"));
  EXPECT_FALSE(is_option_supported("NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY", {7, 4}));
  EXPECT_FALSE(is_option_supported("NPU_MAGIC", ""));
}

TEST(Options, AreListedOnce) {
  const std::string list = supported_options();
  EXPECT_EQ(list.find("PERF_COUNT"), list.rfind("PERF_COUNT"));
  EXPECT_TRUE(has(list, "PERF_COUNT"));
}

}  // namespace
}  // namespace softnpu::build_flags_test

#include <gtest/gtest.h>

#include "build_flags.hpp"
#include "failure.hpp"

namespace softnpu {
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

TEST(BuildFlags, MayNameTheConfigTwice) {
  EXPECT_TRUE(parse_build_flags("--config LOG_LEVEL=\"LOG_NONE\"  --config PERF_COUNT=\"YES\"")
                  .profiling());
}

TEST(BuildFlags, ProfileOnlyWhenAsked) {
  EXPECT_FALSE(parse_build_flags("--config PERF_COUNT=\"NO\"").profiling());
}

TEST(BuildFlags, CountCompilationThreads) {
  EXPECT_EQ(parse_build_flags("--config COMPILATION_NUM_THREADS=\"3\"").compilation_threads(), 3u);
}

struct Row {
  const char* name;
  const char* text;
  const char* told;  // part of the message
};

class BadBuildFlags : public testing::TestWithParam<Row> {};

TEST_P(BadBuildFlags, AreRefusedByName) {
  try {
    parse_build_flags(GetParam().text).compilation_threads();
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(failure.what()).find(GetParam().told), std::string::npos)
        << failure.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    BuildFlags, BadBuildFlags,
    testing::Values(Row{"unknown_option", "--config NPU_MAGIC=\"1\"", "NPU_MAGIC"},
                    Row{"impossible_value", "--config PERF_COUNT=\"MAYBE\"", "MAYBE"},
                    Row{"weights_by_address",
                        "--config NPU_MODEL_SERIALIZER_VERSION=\"NO_WEIGHTS_COPY\"",
                        "NO_WEIGHTS_COPY"},
                    Row{"no_quotes", "--config PERF_COUNT=YES", "PERF_COUNT=YES"},
                    Row{"no_closing_quote", "--config PERF_COUNT=\"YES", "PERF_COUNT"},
                    Row{"no_config_word", "PERF_COUNT=\"YES\"", "PERF_COUNT"},
                    Row{"only_a_word", "--config hello", "hello"},
                    Row{"config_glued_on", "--configPERF_COUNT", "--configPERF_COUNT"},
                    Row{"threads_no_number", "--config COMPILATION_NUM_THREADS=\"many\"", "many"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Options, AreSupportedByNameAndValue) {
  EXPECT_TRUE(is_option_supported("PERF_COUNT", ""));
  EXPECT_TRUE(is_option_supported("PERF_COUNT", "YES"));
  EXPECT_FALSE(is_option_supported("PERF_COUNT", "MAYBE"));
  EXPECT_FALSE(is_option_supported("NPU_MODEL_SERIALIZER_VERSION", "NO_WEIGHTS_COPY"));
  EXPECT_FALSE(is_option_supported("NPU_MAGIC", ""));
}

TEST(Options, AreListedOnce) {
  const std::string& list = supported_options();
  EXPECT_EQ(list.find("PERF_COUNT"), list.rfind("PERF_COUNT"));
  EXPECT_NE(list.find("PERF_COUNT"), std::string::npos);
}

}  // namespace
}  // namespace softnpu

#include "base/config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/expect.hpp"

namespace softnpu {
namespace {

std::map<std::string, std::string> environment;

Config read_with(const std::map<std::string, std::string>& variables) {
  environment = variables;
  return read_config([](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(Config, HasDefaults) {
  const Config config = read_with({});
  EXPECT_EQ(config.platform->platform, 4000u);
  EXPECT_EQ(config.platform->pciDeviceIds[0], 0x643e);
  EXPECT_EQ(config.execution, Execution::kCpu);
  EXPECT_FALSE(config.allow_memfd);
  EXPECT_TRUE(config.trace_path.empty());
}

TEST(Config, TakesEveryPlatform) {
  for (const auto& known : kZeNpuPlatforms) {
    const std::string name = std::to_string(known.platform);
    EXPECT_EQ(read_with({{"SOFTNPU_PLATFORM", name}}).platform, &known);
  }
}

TEST(Config, AsksTheRealCompilerOnlyWhenToldTo) {
  EXPECT_FALSE(read_with({}).real_compiler);
  EXPECT_FALSE(read_with({{"SOFTNPU_COMPILER", "software"}}).real_compiler);
  EXPECT_FALSE(read_with({{"SOFTNPU_COMPILER", "yes"}}).real_compiler);
  const Config config =
      read_with({{"SOFTNPU_COMPILER", "real"}, {"SOFTNPU_COMPILER_LIBRARY", "/x/compiler"}});
  EXPECT_TRUE(config.real_compiler);
  EXPECT_EQ(config.compiler_library, "/x/compiler");
}

TEST(Config, TakesALayerToRefuse) {
  EXPECT_TRUE(read_with({}).refusal.layer.empty());
  const Refusal told = read_with({{"SOFTNPU_REFUSE", "Relu"}}).refusal;
  EXPECT_EQ(told.layer, "Relu");
  EXPECT_FALSE(told.quietly);
  const Refusal quiet = read_with({{"SOFTNPU_REFUSE", "quietly:a:b"}}).refusal;
  EXPECT_EQ(quiet.layer, "a:b");
  EXPECT_TRUE(quiet.quietly);
}

TEST(Config, TakesADelay) {
  const Config config = read_with({{"SOFTNPU_EXEC", "delay:2500"}});
  EXPECT_EQ(config.execution, Execution::kDelay);
  EXPECT_EQ(config.delay_us, 2500u);
}

TEST(Config, TakesNoExecution) {
  EXPECT_EQ(read_with({{"SOFTNPU_EXEC", "null"}}).execution, Execution::kNull);
}

TEST(Config, TakesWhatIsExported) {
  EXPECT_EQ(read_with({}).exports, Export::kAuto);
  EXPECT_EQ(read_with({{"SOFTNPU_EXPORT", "memfd"}}).exports, Export::kMemfd);
  EXPECT_EQ(read_with({{"SOFTNPU_EXPORT", "none"}}).exports, Export::kNone);
}

TEST(Config, ActsAsOlderVersions) {
  const Config config =
      read_with({{"SOFTNPU_GRAPH_EXT_VERSION", "1.8"}, {"SOFTNPU_COMPILER_VERSION", "5.30"}});
  EXPECT_EQ(config.graph_minor, 8u);
  EXPECT_EQ(config.compiler.text(), "5.30");
  EXPECT_EQ(read_with({}).graph_minor, kNewestGraphMinor);
  EXPECT_EQ(read_with({}).compiler.text(), kDefaultCompiler.text());
}

TEST(Config, HasACacheOnlyWhereAFolderIsNamed) {
  EXPECT_EQ(read_with({}).cache_folder, "");
  EXPECT_EQ(read_with({{"SOFTNPU_CACHE_DIR", ""}}).cache_folder, "");
  const Config config = read_with({{"SOFTNPU_CACHE_DIR", "/x"}, {"SOFTNPU_CACHE_SIZE", "12"}});
  EXPECT_EQ(config.cache_folder, "/x");
  EXPECT_EQ(config.cache_limit_bytes, 12u);
  EXPECT_EQ(read_with({{"SOFTNPU_CACHE_SIZE", "4G"}}).cache_limit_bytes, 0u);
}

TEST(Config, IsStrictWhereTold) {
  EXPECT_FALSE(read_with({}).strict);
  EXPECT_FALSE(read_with({{"SOFTNPU_STRICT", "0"}}).strict);
  EXPECT_TRUE(read_with({{"SOFTNPU_STRICT", "1"}}).strict);
}

TEST(Config, KeepsAsManyCompiledModelsAsTold) {
  EXPECT_EQ(read_with({}).keep_compiled, 0u);
  EXPECT_EQ(read_with({{"SOFTNPU_KEEP_COMPILED", "4"}}).keep_compiled, 4u);
}

TEST(Config, TakesARuntimeVersion) {
  const Config config = read_with({{"SOFTNPU_RUNTIME_VERSION", "8.12.3"}});
  ASSERT_TRUE(config.runtime.has_value());
  EXPECT_EQ(config.runtime->text(), "8.12.3");
  EXPECT_FALSE(read_with({}).runtime.has_value());
}

struct Row {
  const char* name;
  const char* variable;
  const char* value;
};

class UnknownValues : public testing::TestWithParam<Row> {};

TEST_P(UnknownValues, AreToldOnceAndLeaveTheDefault) {
  testing::internal::CaptureStderr();
  const Config config = read_with({{GetParam().variable, GetParam().value}});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(has(told, GetParam().variable));
  EXPECT_TRUE(has(told, GetParam().value));
  EXPECT_EQ(told.find('\n'), told.size() - 1) << told;
  EXPECT_EQ(config.platform->platform, 4000u);
  EXPECT_EQ(config.execution, Execution::kCpu);
  EXPECT_FALSE(config.allow_memfd);
  EXPECT_FALSE(config.strict);
  EXPECT_EQ(config.exports, Export::kAuto);
  EXPECT_EQ(config.threads, 0u);
  EXPECT_EQ(config.keep_compiled, 0u);
  EXPECT_EQ(config.graph_minor, kNewestGraphMinor);
  EXPECT_EQ(config.compiler.text(), kDefaultCompiler.text());
}

INSTANTIATE_TEST_SUITE_P(Config, UnknownValues,
                         testing::Values(Row{"platform", "SOFTNPU_PLATFORM", "9000"},
                                         Row{"platform_word", "SOFTNPU_PLATFORM", "4000x"},
                                         Row{"execution", "SOFTNPU_EXEC", "gpu"},
                                         Row{"export", "SOFTNPU_EXPORT", "dmabuf"},
                                         Row{"delay", "SOFTNPU_EXEC", "delay:soon"},
                                         Row{"memfd", "SOFTNPU_ALLOW_MEMFD", "yes"},
                                         Row{"strict", "SOFTNPU_STRICT", "yes"},
                                         Row{"graph_too_old", "SOFTNPU_GRAPH_EXT_VERSION", "1.4"},
                                         Row{"graph_too_new", "SOFTNPU_GRAPH_EXT_VERSION", "1.17"},
                                         Row{"graph_major", "SOFTNPU_GRAPH_EXT_VERSION", "2.8"},
                                         Row{"graph_word", "SOFTNPU_GRAPH_EXT_VERSION", "new"},
                                         Row{"compiler_word", "SOFTNPU_COMPILER_VERSION", "7"},
                                         Row{"compiler_old", "SOFTNPU_COMPILER_VERSION", "2.9"},
                                         Row{"runtime_short", "SOFTNPU_RUNTIME_VERSION", "8.1"},
                                         Row{"runtime_word", "SOFTNPU_RUNTIME_VERSION", "8.1.x"},
                                         Row{"threads", "SOFTNPU_THREADS", "-1"},
                                         Row{"kept", "SOFTNPU_KEEP_COMPILED", "65"}),
                         by_name);

}  // namespace
}  // namespace softnpu

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <npucore/properties.hpp>

#include "properties/property_table.hpp"

#include "support.hpp"

namespace npu::test {
namespace {

struct SpellingRow {
  const char* name;
  const char* property;
  const char* value;
  const char* kept;
};

class Spellings : public ::testing::TestWithParam<SpellingRow> {};

TEST_P(Spellings, AreOne) {
  Properties properties;
  properties.set(GetParam().property, GetParam().value);
  EXPECT_EQ(properties.get(std::string(GetParam().property)), GetParam().kept);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Spellings,
    ::testing::Values(SpellingRow{"yes", "NPU_TURBO", "yes", "YES"},
                      SpellingRow{"true_is_yes", "NPU_TURBO", "True", "YES"},
                      SpellingRow{"zero_is_no", "NPU_TURBO", "0", "NO"},
                      SpellingRow{"hint", "PERFORMANCE_HINT", "latency", "LATENCY"},
                      SpellingRow{"log_level_without_prefix", "LOG_LEVEL", "debug", "LOG_DEBUG"},
                      SpellingRow{"log_level", "LOG_LEVEL", "LOG_TRACE", "LOG_TRACE"},
                      SpellingRow{"bytes", "CACHE_SIZE", "100", "100"},
                      SpellingRow{"megabytes", "CACHE_SIZE", "2M", "2097152"},
                      SpellingRow{"platform_with_prefix", "NPU_PLATFORM", "NPU4000", "4000"},
                      SpellingRow{"old_platform_prefix", "NPU_PLATFORM", "vpu3720", "3720"},
                      SpellingRow{"automatic_platform", "NPU_PLATFORM", "auto_detect",
                                  "AUTO_DETECT"},
                      SpellingRow{"no_tiles", "NPU_TILES", "0", "-1"},
                      SpellingRow{"precision", "INFERENCE_PRECISION_HINT", "F16", "f16"},
                      SpellingRow{"mode_params", "NPU_COMPILATION_MODE_PARAMS",
                                  "optimization-level=2   performance-hint-override=latency",
                                  "optimization-level=2 performance-hint-override=latency"},
                      SpellingRow{"any_device", "DEVICE_ID", "", ""}),
    by_name);

struct RefusedRow {
  const char* name;
  const char* property;
  const char* value;
  const char* part;
};

class Refused : public ::testing::TestWithParam<RefusedRow> {};

TEST_P(Refused, ValuesAreNamedWithWhatTheyMayBe) {
  expect_error(ErrorCode::kInvalidArgument, GetParam().part,
               [] { Properties().set(GetParam().property, GetParam().value); });
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Refused,
    ::testing::Values(RefusedRow{"maybe", "NPU_TURBO", "maybe",
                                 "the property NPU_TURBO cannot be 'maybe': use YES or NO"},
                      RefusedRow{"hint", "PERFORMANCE_HINT", "FAST", "LATENCY, THROUGHPUT"},
                      RefusedRow{"seven_tiles", "NPU_MAX_TILES", "7", "1 to 6"},
                      RefusedRow{"level", "NPU_COMPILATION_MODE_PARAMS", "optimization-level=3",
                                 "optimization-level is 0, 1 or 2"},
                      RefusedRow{"override", "NPU_COMPILATION_MODE_PARAMS",
                                 "performance-hint-override=speed", "efficiency or latency"},
                      RefusedRow{"negative_threads", "COMPILATION_NUM_THREADS", "-1", "0 and up"},
                      RefusedRow{"unit", "CACHE_SIZE", "3T", "K, M or G"},
                      RefusedRow{"overflow", "CACHE_SIZE", "99999999999G", "number of bytes"},
                      RefusedRow{"quotes", "NPU_ENABLE_STRIDES_FOR", "a\"b", "without quotes"},
                      RefusedRow{"compiler", "NPU_COMPILER_TYPE", "VENDOR", "PREFER_PLUGIN"},
                      RefusedRow{"platform", "NPU_PLATFORM", "9000", "AUTO_DETECT, 3720"},
                      RefusedRow{"read_only", "FULL_DEVICE_NAME", "x", "can only be read"}),
    by_name);

struct NearRow {
  const char* name;
  const char* asked;
  const char* nearest;
};

class NearNames : public ::testing::TestWithParam<NearRow> {};

TEST_P(NearNames, AreInTheError) {
  expect_error(ErrorCode::kInvalidArgument, std::string("did you mean ") + GetParam().nearest,
               [] { Properties().set(GetParam().asked, "x"); });
}

INSTANTIATE_TEST_SUITE_P(Rows, NearNames,
                         ::testing::Values(NearRow{"letter_lost", "NPU_TURB", "NPU_TURBO"},
                                           NearRow{"letters_swapped", "CAHCE_DIR", "CACHE_DIR"},
                                           NearRow{"lower_case", "npu_tiles", "NPU_TILES"},
                                           NearRow{"without_prefix", "TURBO", "NPU_TURBO"},
                                           NearRow{"without_end", "PERFORMANCE",
                                                   "PERFORMANCE_HINT"}),
                         by_name);

TEST(Properties, OfANameLikeNoOtherTellWhereTheyAreListed) {
  expect_error(ErrorCode::kInvalidArgument, "npu-info --properties",
               [] { Properties().set("XQ", "1"); });
}

TEST(Properties, HaveTypedNames) {
  Properties properties;
  properties.set(property::turbo, true)
      .set(property::tiles, 2)
      .set(property::priority, Priority::kHigh)
      .set(property::serializer, Serializer::kNoWeightsCopy)
      .set(property::cache_dir, "/tmp/x")
      .set(property::performance_hint, "throughput");
  EXPECT_EQ(properties.to_string(),
            "CACHE_DIR=/tmp/x MODEL_PRIORITY=HIGH NPU_MODEL_SERIALIZER_VERSION=NO_WEIGHTS_COPY "
            "NPU_TILES=2 NPU_TURBO=YES PERFORMANCE_HINT=THROUGHPUT");
  EXPECT_TRUE(properties.get(property::turbo));
  EXPECT_EQ(properties.get(property::tiles), 2);
  EXPECT_EQ(properties.get(property::priority), Priority::kHigh);
}

TEST(Properties, HaveAnOlderNameOfTheSerializer) {
  const char* const older = "NPU_USE_BASE_MODEL_SERIALIZER";
  Properties properties;
  EXPECT_FALSE(properties.is_set(older));
  EXPECT_EQ(properties.get(std::string(older)), "NO");
  properties.set(older, "true");
  EXPECT_TRUE(properties.is_set(older));
  EXPECT_EQ(properties.get(std::string(older)), "YES");
  EXPECT_EQ(properties.to_string(), "NPU_MODEL_SERIALIZER_VERSION=ALL_WEIGHTS_COPY");
  EXPECT_EQ(Properties::parse("NPU_USE_BASE_MODEL_SERIALIZER=NO").get(property::serializer),
            Serializer::kNoWeightsCopy);
  properties.set(property::serializer, Serializer::kAuto);
  EXPECT_EQ(properties.get(std::string(older)), "NO") << "the last one set counts";
  expect_error(ErrorCode::kInvalidArgument, "use YES or NO",
               [&] { properties.set(older, "AUTO"); });
}

TEST(Properties, AnswerWithTheirDefaults) {
  const Properties properties;
  EXPECT_FALSE(properties.is_set(property::priority));
  EXPECT_EQ(properties.get(property::priority), Priority::kMedium);
  EXPECT_EQ(properties.get(property::tiles), -1);
  EXPECT_EQ(properties.get(property::cache_size), std::uint64_t{4} << 30);
  EXPECT_EQ(properties.get(property::workload_type), WorkloadType::kDefault);
}

TEST(Properties, AreReadFromALine) {
  const auto properties = Properties::parse(
      "NPU_TURBO=YES, NPU_COMPILATION_MODE_PARAMS=\"optimization-level=1 x=y\" CACHE_DIR=\"\"");
  EXPECT_EQ(properties.values().size(), 3u);
  EXPECT_EQ(properties.get(property::compilation_mode_params), "optimization-level=1 x=y");
  EXPECT_TRUE(properties.is_set(property::cache_dir));
}

TEST(Properties, ComeBackFromTheirOwnLine) {
  const auto properties = Properties::parse(
      "CACHE_DIR=\"/a folder,with both\" NPU_TILES=2 DEVICE_ID=\"\" PERF_COUNT=1");
  EXPECT_EQ(Properties::parse(properties.to_string()), properties);
}

TEST(Properties, RefuseALineThatIsNone) {
  for (const char* line : {"NPU_TURBO", "=YES", "NPU_TURBO=\"YES", "A B=1"}) {
    expect_error(ErrorCode::kInvalidArgument, "write KEY=VALUE", [&] { Properties::parse(line); });
  }
}

TEST(Properties, WinOverDefaults) {
  const auto defaults = Properties::parse("NPU_TURBO=YES NPU_TILES=1");
  const auto both = Properties::parse("NPU_TILES=2").over(defaults);
  EXPECT_EQ(both.to_string(), "NPU_TILES=2 NPU_TURBO=YES");
}

TEST(PropertyTable, HasOneRowForEachNameInOrder) {
  const auto& rows = known_properties();
  for (std::size_t index = 1; index < rows.size(); ++index) {
    EXPECT_LT(rows[index - 1].name, rows[index].name);
  }
}

TEST(PropertyTable, TakesItsOwnDefaults) {
  for (const auto& row : internal::property_rows()) {
    if (!row.normalize || row.info.default_value.empty()) continue;
    EXPECT_EQ(row.normalize(row.info.default_value), row.info.default_value) << row.info.name;
  }
}

TEST(PropertyTable, SaysSomethingOfEveryProperty) {
  for (const auto& info : known_properties()) {
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    EXPECT_FALSE(info.values.empty()) << info.name;
    EXPECT_TRUE(info.of_device || info.of_model) << info.name;
  }
}

TEST(PropertyTable, HoldsWhatUsersOfOpenVinoExpect) {
  for (const char* name : {"SUPPORTED_PROPERTIES",
                           "SUPPORTED_METRICS",
                           "SUPPORTED_CONFIG_KEYS",
                           "CACHING_PROPERTIES",
                           "COMPILATION_NUM_THREADS",
                           "NUM_STREAMS",
                           "OPTIMAL_NUMBER_OF_INFER_REQUESTS",
                           "RANGE_FOR_ASYNC_INFER_REQUESTS",
                           "RANGE_FOR_STREAMS",
                           "COMPATIBILITY_CHECK",
                           "RUNTIME_REQUIREMENTS",
                           "PERF_COUNT",
                           "PERFORMANCE_HINT",
                           "PERFORMANCE_HINT_NUM_REQUESTS",
                           "MODEL_PRIORITY",
                           "ENABLE_CPU_PINNING",
                           "LOG_LEVEL",
                           "CACHE_DIR",
                           "AVAILABLE_DEVICES",
                           "DEVICE_ID",
                           "DEVICE_UUID",
                           "DEVICE_ARCHITECTURE",
                           "FULL_DEVICE_NAME",
                           "DEVICE_TYPE",
                           "DEVICE_GOPS",
                           "DEVICE_PCI_INFO",
                           "EXCLUSIVE_ASYNC_REQUESTS",
                           "NPU_DEVICE_ALLOC_MEM_SIZE",
                           "NPU_DEVICE_TOTAL_MEM_SIZE",
                           "NPU_DRIVER_VERSION",
                           "NPU_COMPILATION_MODE_PARAMS",
                           "NPU_TURBO",
                           "NPU_TILES",
                           "NPU_MAX_TILES",
                           "NPU_BYPASS_UMD_CACHING",
                           "NPU_DEFER_WEIGHTS_LOAD",
                           "NPU_MODEL_SERIALIZER_VERSION",
                           "NPU_USE_BASE_MODEL_SERIALIZER",
                           "NPU_SERIALIZATION_WEIGHTS_SIZE_THRESHOLD"}) {
    EXPECT_NE(find_property(name), nullptr) << name;
  }
}

std::string version_text(std::uint32_t version) {
  return version == 0 ? "" : std::to_string(version >> 16) + '.' + std::to_string(version & 0xffff);
}

/// A cell of a table: bars would end it.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string row_of(const PropertyInfo& info) {
  const bool writable = info.access == Access::kReadWrite;
  const std::string where = std::string(info.of_device ? "D" : "") + (info.of_model ? "M" : "");
  const std::string access = !writable ? "read" : info.changeable ? "changeable" : "write";
  const std::string since = version_text(info.oldest_compiler);
  const std::string compiler = !info.compile_time ? "" : since.empty() ? "yes" : since;
  const std::string fallback = info.default_value.empty() ? "" : '`' + info.default_value + '`';
  return "| `" + info.name + "` | " + access + " | " + where + " | " + cell(info.values) + " | " +
         fallback + " | " + compiler + " | " + (info.in_cache_key ? "yes" : "") + " | " +
         cell(info.meaning) + " |\n";
}

TEST(PropertyTable, IsInTheDocumentationAsItIs) {
  std::string table =
      "\n| name | access | | values | default | to the compiler | cache | meaning |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const auto& info : known_properties()) table += row_of(info);
  table += '\n';
  const std::filesystem::path file = std::getenv("PROPERTIES_MD");
  std::string text = read_file(file);
  const auto start = text.find("-->\n", text.find("<!-- table of properties")) + 4;
  const auto end = text.find("<!-- end of the table");
  ASSERT_LE(start, end);
  if (std::getenv("UPDATE_DOCS")) {
    write_file(file, text.replace(start, end - start, table));
  }
  EXPECT_EQ(read_file(file).substr(start, table.size()), table)
      << "run again with UPDATE_DOCS=1 to write it";
}

}  // namespace
}  // namespace npu::test

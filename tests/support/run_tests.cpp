#include "support/run_tests.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <span>
#include <string>
#include <string_view>

namespace npu::test {
namespace {

bool is_of_file(const testing::TestInfo& test, std::string_view file) {
  const std::string_view path = test.file();
  return path.ends_with(file) &&
         (path.size() == file.size() || path[path.size() - file.size() - 1] == '/');
}

/// GoogleTest's patterns: any of "a*:b?" matches.
bool matches_any(const std::string& name, std::string_view patterns) {
  while (!patterns.empty()) {
    const auto end = std::min(patterns.find(':'), patterns.size());
    if (::fnmatch(std::string(patterns.substr(0, end)).c_str(), name.c_str(), 0) == 0) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

/// Whether `filter`, "wanted-unwanted", takes a test of this name.
bool passes(const std::string& name, std::string_view filter) {
  const auto dash = std::min(filter.find('-'), filter.size());
  const auto wanted = filter.substr(0, dash);
  const auto unwanted = filter.substr(std::min(dash + 1, filter.size()));
  return (wanted.empty() || matches_any(name, wanted)) && !matches_any(name, unwanted);
}

/// The names of the tests in `file` that pass `filter`, as a filter of its own.
std::string names_in(std::string_view file, std::string_view filter) {
  std::string names;
  const auto& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const auto& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const auto& test = *suite.GetTestInfo(j);
      const auto name = std::string(suite.name()) + "." + test.name();
      if (is_of_file(test, file) && passes(name, filter)) {
        names += (names.empty() ? "" : ":") + name;
      }
    }
  }
  return names;
}

/// Narrows the filter to the files; false when one of them has no test that passes it.
bool choose(std::span<char* const> files) {
  const std::string filter = GTEST_FLAG_GET(filter);
  std::string chosen;
  for (const std::string_view file : files) {
    const auto names = names_in(file, filter);
    if (names.empty()) {
      std::cerr << "no test of " << file << " passes the filter " << filter << '\n';
      return false;
    }
    chosen += (chosen.empty() ? "" : ":") + names;
  }
  if (!files.empty()) {
    GTEST_FLAG_SET(filter, chosen);
  }
  return true;
}

/// A death test starts the program once more with a filter for itself, beside the same files.
bool is_death_test(std::span<char* const> arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](std::string_view argument) {
    return argument.starts_with("--gtest_internal_run_death_test=");
  });
}

}  // namespace

int run_tests(int argc, char** argv) {
  const bool in_death_test = is_death_test(std::span(argv, static_cast<std::size_t>(argc)));
  testing::InitGoogleTest(&argc, argv);
  if (in_death_test) return RUN_ALL_TESTS();
  if (!choose(std::span(argv, static_cast<std::size_t>(argc)).subspan(1))) return 1;
  const int result = RUN_ALL_TESTS();
  if (testing::UnitTest::GetInstance()->test_to_run_count() > 0) return result;
  std::cerr << "no test passes the filter " << GTEST_FLAG_GET(filter) << '\n';
  return 1;
}

}  // namespace npu::test

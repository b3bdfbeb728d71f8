#include "base/api.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "support.hpp"

namespace npu::test {
namespace {

TEST(OnlyErrors, PassesResultsAndErrorsOn) {
  int value = 1;
  EXPECT_EQ(&base::only_errors([&]() -> int& { return value; }), &value);
  expect_error(ErrorCode::kTimeout, "late",
               [] { base::only_errors([] { throw Error(ErrorCode::kTimeout, "late"); }); });
}

TEST(OnlyErrors, MakesOneOfEachThatTheStandardLibraryThrows) {
  using base::only_errors;
  expect_error(ErrorCode::kOutOfMemory, "no memory left (std::bad_alloc)",
               [] { only_errors([] { throw std::bad_alloc(); }); });
  expect_error(ErrorCode::kOutOfMemory, "something is larger than memory can be",
               [] { only_errors([] { std::vector<int>().reserve(SIZE_MAX); }); });
  expect_error(ErrorCode::kNotFound, "/nowhere",
               [] { only_errors([] { return std::filesystem::file_size("/nowhere"); }); });
  expect_error(ErrorCode::kIo, "/dev/null/x",
               [] { only_errors([] { std::filesystem::create_directory("/dev/null/x"); }); });
  expect_error(ErrorCode::kOutOfMemory, "raise the limits of the process", [] {
    only_errors([] {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    });
  });
}

TEST(OnlyErrors, LetsThroughWhatTheApplicationThrows) {
  EXPECT_THROW(base::only_errors([] { throw std::runtime_error("the callback's"); }),
               std::runtime_error);
  EXPECT_THROW(base::only_errors([] { throw 1; }), int);
}

}  // namespace
}  // namespace npu::test

// Texts and rows of tables in tests. In no namespace: tests stand in many.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>

/// Whether `text` holds `part`, for EXPECT_TRUE and EXPECT_FALSE, which then show both.
inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  const bool is_there = text.find(part) != std::string_view::npos;
  return (is_there ? testing::AssertionSuccess() : testing::AssertionFailure())
         << "'" << part << (is_there ? "' is in: " : "' is not in: ") << text;
}

/// The words of the exception that `call` must throw.
template <class Call>
std::string thrown_by(const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::logic_error& error) {
    return error.what();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

/// A row that failures and the tests themselves are named after.
struct Named {
  const char* name;
};

inline std::ostream& operator<<(std::ostream& out, const Named& row) {
  return out << row.name;
}

/// For INSTANTIATE_TEST_SUITE_P.
inline constexpr auto by_name = [](const auto& row) { return std::string(row.param.name); };

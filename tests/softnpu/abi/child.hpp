// Cases that need a process of their own, because the driver reads its environment once.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "client.hpp"

namespace softnpu_test {

struct Variable {
  const char* name;
  std::string value;
};

// For a process of its own: ends with 0 when `body` found no fault.
template <class Body>
[[noreturn]] void run_under(std::initializer_list<Variable> variables, const Body& body) {
  for (const Variable& variable : variables) ::setenv(variable.name, variable.value.c_str(), 1);
  {
    Client client;
    body(client);
  }
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

// A test in such a process.
class InChild : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  template <class Body>
  void expect_no_fault(std::initializer_list<Variable> variables, const Body& body) {
    EXPECT_EXIT(run_under(variables, body), testing::ExitedWithCode(0), "");
  }
};

}  // namespace softnpu_test

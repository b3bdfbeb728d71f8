#pragma once

#include <npucore/error.hpp>

#include "support/expect.hpp"

namespace npu {

/// Runs `action`, which must throw an Error with `code` whose text holds `part`; the text.
template <class Action>
std::string expect_error(ErrorCode code, std::string_view part, const Action& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(to_string(error.code()), std::string(to_string(code))) << error.what();
    EXPECT_TRUE(has(error.what(), part));
    return error.what();
  }
  return {};
}

}  // namespace npu

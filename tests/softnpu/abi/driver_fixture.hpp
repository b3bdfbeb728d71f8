#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client.hpp"

namespace softnpu_test {

// The sample's results for (10, 20, 30, 40).
inline const std::vector<float> kExpected = {11, 22, 33, 44};

// Every test ends with as many live driver objects as it began with.
class Driver : public testing::Test {
 protected:
  void TearDown() override {
    std::string names;
    EXPECT_EQ(client_.live_objects(&names), before_) << names;
  }
  Client client_;
  uint32_t before_ = client_.live_objects();
};

}  // namespace softnpu_test

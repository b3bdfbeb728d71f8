#pragma once

#include <gtest/gtest.h>

#include "client.hpp"

namespace softnpu_test {

// Every test ends with as many live driver objects as it began with, those of its fixture among
// them.
class Driver : public testing::Test {
 protected:
  ~Driver() override {
    const LiveObjects now = client_.live_objects();
    EXPECT_EQ(now.count, before_) << now.text;
  }
  Client client_;
  uint32_t before_ = client_.live_objects().count;
};

}  // namespace softnpu_test

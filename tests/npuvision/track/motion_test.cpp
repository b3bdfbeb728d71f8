#include "track/motion.hpp"

#include <gtest/gtest.h>

namespace npu::vision {
namespace {

TEST(Motion, LearnsAVelocity) {
  Motion motion(Edges{100, 50, 140, 90});
  for (int i = 1; i <= 10; ++i) {
    motion.predict(0.1);
    motion.correct({100 + 6.0 * i, 50 - 3.0 * i, 140 + 6.0 * i, 90 - 3.0 * i});
  }
  EXPECT_NEAR(motion.velocity_x(), 60, 1);
  EXPECT_NEAR(motion.velocity_y(), -30, 1);
  motion.predict(0.5);
  EXPECT_NEAR(motion.edges()[0], 100 + 60 + 30, 2);
  EXPECT_NEAR(motion.edges()[3], 90 - 30 - 15, 2);
}

TEST(Motion, IsTheSameForTheSameTimeInSmallerSteps) {
  Motion once(Edges{0, 0, 20, 40}), often = once;
  once.predict(0.4);
  for (int i = 0; i < 8; ++i) {
    often.predict(0.05);
  }
  once.correct({10, 4, 30, 44});
  often.correct({10, 4, 30, 44});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(once.edges()[i], often.edges()[i], 1e-9);
  }
  EXPECT_NEAR(once.velocity_x(), often.velocity_x(), 1e-9);
}

TEST(Motion, NeverTurnsInsideOut) {
  Motion motion(Edges{0, 0, 40, 40});
  motion.predict(0.1);
  motion.correct({0, 0, 10, 40});  // shrinks fast
  motion.predict(5);
  EXPECT_GT(motion.edges()[2], motion.edges()[0]);
}

// A filter that is certain moves little, one that knows nothing goes to what was found.
TEST(Coordinate, WeighsByItsDeviation) {
  Coordinate known(10, 0.01, 0), unknown(10, 100, 0);
  known.correct(20, 1);
  unknown.correct(20, 1);
  EXPECT_NEAR(known.place(), 10, 0.01);
  EXPECT_NEAR(unknown.place(), 20, 0.01);
}

}  // namespace
}  // namespace npu::vision

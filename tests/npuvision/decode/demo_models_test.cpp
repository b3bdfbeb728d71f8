#include <gtest/gtest.h>

#include "reference.hpp"

namespace npu::vision {
namespace {

TEST(DemoModels, MeanWhatNumPyMakesOfTheirTensors) {
  expect_references("answers");
}

}  // namespace
}  // namespace npu::vision

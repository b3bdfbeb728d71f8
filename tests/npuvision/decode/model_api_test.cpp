#include <gtest/gtest.h>

#include "reference.hpp"

namespace npu::vision {
namespace {

TEST(ModelApi, MeansTheSameByTheSameTensors) {
  expect_references("model_api");
}

}  // namespace
}  // namespace npu::vision

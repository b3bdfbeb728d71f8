#include <gtest/gtest.h>

#include "reference.hpp"

namespace npu::vision {
namespace {

TEST(YoloReference, IsMetByEachHead) {
  expect_references("yolo");
}

}  // namespace
}  // namespace npu::vision

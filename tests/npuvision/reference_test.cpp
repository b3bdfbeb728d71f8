#include "reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decode/scalar.hpp"

namespace npu::vision {
namespace {

TEST(TestTensor, LiesWithPaddingBetweenItsRows) {
  TestTensor tensor("a", npu::ElementType::kF32, {1, 2, 3}, {0, 1, 2, 3, 4, 5}, 2);
  const TensorView view = tensor.view();
  EXPECT_EQ(view.describe(), "\"a\" f32 [1,2,3]");
  EXPECT_EQ(view.strides_bytes[1], 20U);
  EXPECT_EQ(view.size_bytes, 32U);
  EXPECT_EQ(load<float>(view.data + view.strides_bytes[1]), 3);
  tensor.set(5, 9);
  EXPECT_EQ(load<float>(view.data + view.strides_bytes[1] + 2 * view.strides_bytes[2]), 9);
}

TEST(HalfBits, AreThoseOfEachHalf) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = half;
    if (std::isnan(value)) continue;
    EXPECT_EQ(half_bits(value), half.bits) << value;
  }
  EXPECT_TRUE(std::isnan(float{Half{half_bits(std::numeric_limits<double>::quiet_NaN())}}));
}

TEST(References, SayHowTheirTensorsLie) {
  const std::vector<Reference> all = references("yolo");
  if (all.empty()) {
    GTEST_SKIP() << "the build found no NumPy";
  }
  const auto padded = std::find_if(all.begin(), all.end(), [](const Reference& one) {
    return one.name == "detect with padded rows";
  });
  ASSERT_NE(padded, all.end());
  EXPECT_EQ(padded->card.task, Task::kDetect);
  EXPECT_EQ(padded->card.labels.size(), 5U);
  EXPECT_EQ(padded->views().at(0).describe(), "\"output0\" f32 [1,9,252]");
  EXPECT_EQ(padded->views().at(0).strides_bytes[1], (252U + 11) * 4);
  EXPECT_EQ(padded->views_without_data().at(0).data, nullptr);
  EXPECT_EQ(padded->geometry.model_width, padded->input.width);
  EXPECT_FALSE(padded->answer.at("objects").empty());
}

}  // namespace
}  // namespace npu::vision

// A decoder that has seen its busiest frame asks for no more memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "allocations.hpp"
#include "reference.hpp"

namespace npu::vision {
namespace {

std::size_t allocations_when_warm(const Reference& reference) {
  const auto decoder =
      make_decoder(reference.card, reference.views_without_data(), reference.input);
  const std::vector<TensorView> views = reference.views();
  Answer answer;
  std::size_t before = 0;
  for (int frame = 0; frame < 3; ++frame) {
    before = allocations();
    decoder->decode(views, reference.geometry, reference.frame, reference.options, &answer);
  }
  return allocations() - before;
}

class WarmDecoder : public testing::TestWithParam<const char*> {};

TEST_P(WarmDecoder, AllocatesNothing) {
  const std::vector<Reference> all = references(GetParam());
  if (all.empty()) {
    GTEST_SKIP() << "the build found no NumPy";
  }
  for (const Reference& reference : all) {
    EXPECT_EQ(allocations_when_warm(reference), 0U) << reference.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, WarmDecoder,
                         testing::Values("centerface", "classification", "detr", "key_points",
                                         "mask_queries", "picodet", "pictures", "ssd", "text",
                                         "tf_detection", "torchvision"),
                         [](const auto& file) { return std::string(file.param); });

TEST(Allocations, AreCounted) {
  const std::size_t before = allocations();
  std::vector<int> values(100);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 0);
  EXPECT_EQ(allocations() - before, 1U);
}

}  // namespace
}  // namespace npu::vision

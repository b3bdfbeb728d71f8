#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(KeyPoints, MeanWhatTheirAuthorsMean) {
  expect_references("key_points");
}

class KeyPointRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(KeyPointRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard with_key_points(std::uint32_t count) {
  ModelCard card = card_of(Task::kKeyPoints);
  card.key_points = count;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, KeyPointRefusal,
    testing::Values(RefusalRow{"UnknownInput",
                               card_of(Task::kKeyPoints),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "has an input of unknown size",
                               {0, 0}},
                    RefusalRow{"OtherInput",
                               card_of(Task::kKeyPoints),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "simcc is [1, points, 2 * width] and [1, points, 2 * height], but "
                               "this has other tensors",
                               {192, 192}},
                    RefusalRow{"OtherPoints",
                               with_key_points(21),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "has 17 key points, not 21",
                               {192, 256}},
                    RefusalRow{"ThreeOutputs",
                               card_of(Task::kKeyPoints),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}, {"z", {1, 17, 512}}},
                               "of no family of models",
                               {192, 256}},
                    RefusalRow{"FacesOfAnotherInput",
                               card_of(Task::kDetect),
                               {{"b", {1, 896, 16}}, {"s", {1, 896, 1}}},
                               "of no family of models",
                               {192, 192}},
                    RefusalRow{"Palms",
                               card_of(Task::kDetect),
                               {{"b", {1, 2016, 18}}, {"s", {1, 2016, 1}}},
                               "of no family of models",
                               {192, 192}},
                    RefusalRow{"Faces",
                               card_of(Task::kUnknown),
                               {{"b", {1, 896, 16}}, {"s", {1, 896, 1}}},
                               "[anchors]"},
                    RefusalRow{"Simcc",
                               card_of(Task::kUnknown),
                               {{"x", {1, 17, 384}}, {"y", {1, 17, 512}}},
                               "[simcc]",
                               {192, 256}}),
    by_name);

}  // namespace
}  // namespace npu::vision

// RT-DETR as Ultralytics exports it.
#include <gtest/gtest.h>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision::rtdetr_test {
namespace {

using Rows = std::vector<std::vector<double>>;

const Frame kFrame{{.model_width = 640, .model_height = 320, .scale_x = 2, .scale_y = 1},
                   {1280, 320}};
constexpr InputSize kInput{640, 320};

ModelCard rtdetr(std::size_t labels) {
  ModelCard card = card_of(Task::kDetect, labels);
  card.family = Family::kRtDetr;
  return card;
}

Answer decode(const ModelCard& card, const Rows& rows, const DecodeOptions& options = {}) {
  return decoded(card, tensor_of_rows(rows), options, kFrame, kInput);
}

TEST(RtDetr, HasCentresAndSizesInSharesOfThePicture) {
  const Answer found = decode(rtdetr(80), {{0.5, 0.25, 0.25, 0.5, 0.9F, 16}, {0, 0, 0, 0, 0, 0}});
  ASSERT_EQ(found.objects.size(), 1U);
  expect_box(found.objects[0], 480, 0, 800, 160);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.9F);
  EXPECT_EQ(found.objects[0].label_id, 16U);
}

TEST(RtDetr, OfOlderExportsHasAScoreForEachClassOfWhichTheBestCounts) {
  const Answer found = decode(rtdetr(3), {{0.5, 0.5, 0.2, 0.2, 0.6F, 0.8F, 0.1F}});
  ASSERT_EQ(found.objects.size(), 1U);
  EXPECT_FLOAT_EQ(found.objects[0].confidence, 0.8F);
  EXPECT_EQ(found.objects[0].label_id, 1U);
}

TEST(RtDetr, SuppressesNothing) {
  EXPECT_EQ(decode(rtdetr(80), {{0.5, 0.5, 0.2, 0.2, 0.9F, 1}, {0.5, 0.5, 0.2, 0.2, 0.8F, 1}})
                .objects.size(),
            2U);
}

TEST(RtDetr, WithoutItsEndTakesTheBestOfAllBoxesAndClasses) {
  ModelCard card = rtdetr(3);
  card.host_postprocess = "topk";
  card.host_classes = 3;
  card.host_detections = 2;
  const Answer found = decode(
      card, {{0.5, 0.5, 0.2, 0.2, 0.6F, 0.8F, 0.3F}, {0.2, 0.2, 0.1, 0.1, 0.1F, 0.1F, 0.5F}});
  ASSERT_EQ(found.objects.size(), 2U);
  EXPECT_EQ(found.objects[0].label_id, 1U);
  EXPECT_EQ(found.objects[1].label_id, 0U);
}

TEST(RtDetr, OfTwoClassesCouldBeEither) {
  const Rows rows{{0.5, 0.5, 0.2, 0.2, 0.6F, 1}};
  EXPECT_NE(refusal_of([&] { decode(rtdetr(2), rows); }).find("tensor-layout"), std::string::npos);
  ModelCard card = rtdetr(2);
  card.end_to_end = true;
  EXPECT_EQ(decode(card, rows).objects.at(0).label_id, 1U);
  card.end_to_end = false;
  EXPECT_FLOAT_EQ(decode(card, rows).objects.at(0).confidence, 1);
}

TEST(RtDetr, RefusesPixels) {
  const std::string said = refusal_of([] { decode(rtdetr(80), {{320, 160, 100, 80, 0.9F, 1}}); });
  EXPECT_NE(said.find("pixels and not from 0 to 1"), std::string::npos) << said;
}

// Taken for corners, most of its boxes are empty.
TEST(RtDetr, TakenForAYoloIsRefusedWhateverThePictureShows) {
  for (const double x : {0.5, 0.1}) {
    const Rows rows{{x, x, 0.2, 0.2, 0.9F, 1}, {0, 0, 0, 0, 0, 0}};
    const std::string said = refusal_of([&] { decode(card_of(Task::kDetect, 80), rows); });
    EXPECT_NE(said.find("set model-family to rtdetr"), std::string::npos) << said;
  }
}

TEST(RtDetr, IsNotGuessed) {
  ModelCard card = card_of(Task::kDetect, 3);
  const std::string said = refusal_of([&] { decode(card, {{0.5, 0.5, 0.2, 0.2, 0.6F, 1, 1}}); });
  EXPECT_NE(said.find("set model-"), std::string::npos) << said;
}

}  // namespace
}  // namespace npu::vision::rtdetr_test

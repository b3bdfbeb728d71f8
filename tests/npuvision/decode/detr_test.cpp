#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(Detr, MeansWhatItsAuthorsMean) {
  expect_references("detr");
}

class DetrRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(DetrRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard softmax_card(std::size_t labels) {
  ModelCard card = card_of(Task::kDetect, labels);
  card.multilabel = false;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, DetrRefusal,
    testing::Values(
        RefusalRow{"OtherNames",
                   card_of(Task::kDetect, 80),
                   {{"a", {1, 300, 80}}, {"b", {1, 300, 4}}},
                   "could as well have scores and edges in pixels: set model-family to detr"},
        RefusalRow{"OtherLabels",
                   card_of(Task::kDetect, 90),
                   {{"labels", {1, 300, 91}}, {"dets", {1, 300, 4}}},
                   "has 91 classes, but there are 90 labels"},
        RefusalRow{"NoObjectIsNoClass",
                   softmax_card(10),
                   {{"logits", {1, 100, 10}}, {"pred_boxes", {1, 100, 4}}},
                   "has 9 classes, but there are 10 labels"},
        RefusalRow{"OnlyNoObject",
                   softmax_card(0),
                   {{"logits", {1, 100, 1}}, {"pred_boxes", {1, 100, 4}}},
                   "has only the class of no object"},
        RefusalRow{"OtherQueries",
                   card_of(Task::kDetect),
                   {{"logits", {1, 100, 10}}, {"pred_boxes", {1, 99, 4}}},
                   "of no family of models"},
        RefusalRow{"FourClassesWithoutNames",
                   card_of(Task::kDetect, 4, Family::kDetr),
                   {{"a", {1, 100, 4}}, {"b", {1, 100, 4}}},
                   "of no family of models"},
        RefusalRow{
            "SigmoidOrSoftmax",
            card_of(Task::kDetect),
            {{"logits", {1, 100, 10}}, {"pred_boxes", {1, 100, 4}}},
            "comes without labels, whose number would tell whether the last class is no object"},
        RefusalRow{"OtherTask",
                   card_of(Task::kPose),
                   {{"logits", {1, 100, 10}}, {"pred_boxes", {1, 100, 4}}},
                   "are those of no family"},
        RefusalRow{"DecodedWithoutNames",
                   card_of(Task::kDetect),
                   {{"a", {1, 300}, ElementType::kI64}, {"b", {1, 300, 4}}, {"c", {1, 300}}},
                   "its boxes could be from 0 to 1: set model-family"},
        RefusalRow{
            "DecodedOfOtherQueries",
            card_of(Task::kDetect),
            {{"labels", {1, 300}, ElementType::kI64}, {"boxes", {1, 300, 4}}, {"scores", {1, 299}}},
            "of no family of models"},
        RefusalRow{"MasksByNames",
                   card_of(Task::kUnknown),
                   {{"labels", {1, 300, 91}}, {"dets", {1, 300, 4}}, {"m", {1, 300, 108, 108}}},
                   "[detr]"},
        RefusalRow{"NoMasks",
                   card_of(Task::kSegment, 91),
                   {{"labels", {1, 300, 91}}, {"dets", {1, 300, 4}}},
                   "has no masks, or more than one output [1, queries, rows, columns]"},
        RefusalRow{"TwoMasks",
                   card_of(Task::kSegment, 91),
                   {{"labels", {1, 300, 91}},
                    {"dets", {1, 300, 4}},
                    {"a", {1, 300, 108, 108}},
                    {"b", {1, 300, 108, 108}}},
                   "has no masks, or more than one"},
        RefusalRow{"MasksOfHuggingFace",
                   card_of(Task::kSegment, 91),
                   {{"logits", {1, 300, 91}},
                    {"pred_boxes", {1, 300, 4}},
                    {"pred_masks", {1, 300, 108, 108}}},
                   "could have masks that are made into one: set model-family to detr"},
        RefusalRow{"ByNames",
                   card_of(Task::kUnknown),
                   {{"labels", {1, 300, 91}}, {"dets", {1, 300, 4}}},
                   "[detr]"},
        RefusalRow{
            "DecodedByNames",
            card_of(Task::kUnknown),
            {{"labels", {1, 300}, ElementType::kI64}, {"boxes", {1, 300, 4}}, {"scores", {1, 300}}},
            "[detr-decoded]"}),
    by_name);

TEST(DetrDecoded, WithAClassThatIsNoneIsRefused) {
  const TestTensor labels("labels", ElementType::kI64, {1, 1}, {3});
  const TestTensor boxes("boxes", ElementType::kF32, {1, 1, 4}, {10, 10, 50, 50});
  const TestTensor scores("scores", ElementType::kF32, {1, 1}, {0.9});
  const std::vector<TensorView> views{labels.view(), boxes.view(), scores.view()};
  const auto decoder = make_decoder(card_of(Task::kDetect, 3), views, {64, 64});
  Answer answer;
  EXPECT_THROW(
      decoder->decode(views, {.model_width = 64, .model_height = 64}, {64, 64}, {}, &answer),
      Error);
}

std::size_t objects_of(std::initializer_list<const TestTensor*> tensors, Family family) {
  std::vector<TensorView> views;
  for (const TestTensor* tensor : tensors) views.push_back(tensor->view());
  Answer answer;
  make_decoder(card_of(Task::kDetect, 2, family), views, {64, 64})
      ->decode(views, {.model_width = 64, .model_height = 64}, {640, 640}, {}, &answer);
  return answer.objects.size();
}

TEST(DetrDecoded, RefusesBoxesThatAreNoPixels) {
  const auto decode = [](const std::vector<double>& boxes) {
    const TestTensor labels("labels", ElementType::kI64, {1, 2}, {0, 1});
    const TestTensor edges("boxes", ElementType::kF32, {1, 2, 4}, boxes);
    const TestTensor scores("scores", ElementType::kF32, {1, 2}, {0.9, 0.1});
    return objects_of({&labels, &edges, &scores}, Family::kDetrDecoded);
  };
  EXPECT_THROW(decode({0.1, 0.1, 0.5, 0.5, 0, 0, 1, 1}), Error);
  EXPECT_EQ(decode({0.1, 0.1, 0.5, 0.5, 0, 0, 9, 9}), 1U) << "a tiny object";
}

TEST(Detr, GivesAsManyObjectsAsItsAuthorsTake) {
  const std::size_t queries = 120;
  const TestTensor logits("logits", ElementType::kF32, {1, queries, 2},
                          std::vector<double>(queries * 2, 3.0));
  std::vector<double> places;
  for (std::size_t i = 0; i < queries; ++i) places.insert(places.end(), {0.5, 0.5, 0.2, 0.2});
  const TestTensor boxes("pred_boxes", ElementType::kF32, {1, queries, 4}, places);
  const auto objects = [&](const char* architecture) {
    ModelCard card = card_of(Task::kDetect, 2, Family::kDetr);
    card.architecture = architecture;
    const std::vector<TensorView> views{logits.view(), boxes.view()};
    Answer answer;
    make_decoder(card, views, {64, 64})
        ->decode(views, {.model_width = 64, .model_height = 64}, {640, 640}, {}, &answer);
    return answer.objects.size();
  };
  EXPECT_EQ(objects("RTDetrForObjectDetection"), queries);
  EXPECT_EQ(objects("ConditionalDetrForObjectDetection"), 100U);
  EXPECT_EQ(objects("DeformableDetrForObjectDetection"), 100U);
}

TEST(Detr, RefusesBoxesThatArePixels) {
  const auto decode = [](const std::vector<double>& boxes) {
    const TestTensor logits("logits", ElementType::kF32, {1, 2, 2}, {3, -9, -9, -9});
    const TestTensor places("pred_boxes", ElementType::kF32, {1, 2, 4}, boxes);
    return objects_of({&logits, &places}, Family::kDetr);
  };
  EXPECT_THROW(decode({32, 32, 10, 10, 20, 20, 5, 5}), Error);
  EXPECT_EQ(decode({0.9, 0.9, 0.5, 0.5, 20, 20, 5, 5}), 1U) << "over the edge";
}

}  // namespace
}  // namespace npu::vision

#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(TfDetection, MeansWhatItsAuthorsMean) {
  expect_references("tf_detection");
}

std::vector<Shaped> outputs_of(std::vector<std::size_t> classes, std::vector<std::size_t> count) {
  return {{"detection_boxes", {1, 10, 4}},
          {"detection_classes", std::move(classes)},
          {"detection_scores", {1, 10}},
          {"num_detections", std::move(count)}};
}

std::vector<Shaped> unnamed() {
  return {{"p:0", {1, 10}}, {"p:1", {1, 10, 4}}, {"p:2", {1}}, {"p:3", {1, 10}}};
}

std::vector<Shaped> whole_scores() {
  auto outputs = outputs_of({1, 10}, {1});
  outputs[2].type = ElementType::kI32;
  return outputs;
}

ModelCard by_hand() {
  return card_of(Task::kDetect, 3, Family::kTfDetection);
}

class TfDetectionRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(TfDetectionRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, TfDetectionRefusal,
    testing::Values(
        RefusalRow{"Named", card_of(Task::kUnknown), outputs_of({1, 10}, {1}), "[tf-detection]"},
        RefusalRow{"CountOfABatch", by_hand(), outputs_of({1, 10}, {1, 1}), "[tf-detection]"},
        RefusalRow{"OtherClasses", by_hand(), outputs_of({1, 9}, {1}), "has other tensors"},
        RefusalRow{"Counts", card_of(Task::kDetect), outputs_of({1, 10}, {10}), "of no family"},
        RefusalRow{"WholeScores", card_of(Task::kDetect), whole_scores(), "of no family"},
        RefusalRow{"NoNames", card_of(Task::kDetect), unnamed(), "of no family of models"},
        RefusalRow{"NoNamesByHand", by_hand(), unnamed(), "[tf-detection]"},
        RefusalRow{"Masks", card_of(Task::kSegment), outputs_of({1, 10}, {1}), "of no family"}),
    by_name);

/// One detection, of the model's class.
Answer decoded(double label, double score, double count, std::size_t labels) {
  std::vector<TestTensor> tensors;
  tensors.emplace_back("detection_boxes", ElementType::kF32, std::vector<std::size_t>{1, 1, 4},
                       std::vector<double>{0.1, 0.2, 0.5, 0.8});
  tensors.emplace_back("detection_classes", ElementType::kF32, std::vector<std::size_t>{1, 1},
                       std::vector<double>{label});
  tensors.emplace_back("detection_scores", ElementType::kF32, std::vector<std::size_t>{1, 1},
                       std::vector<double>{score});
  tensors.emplace_back("num_detections", ElementType::kF32, std::vector<std::size_t>{1},
                       std::vector<double>{count});
  std::vector<TensorView> views;
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  const ModelCard card = card_of(Task::kDetect, labels);
  Answer answer;
  make_decoder(card, views, {100, 100})
      ->decode(views, {.model_width = 100, .model_height = 100}, {100, 100}, options_of(card),
               &answer);
  return answer;
}

TEST(TfDetection, GivesTheFirstLabelToClassOne) {
  const Answer answer = decoded(1, 0.9, 1, 3);
  ASSERT_EQ(answer.objects.size(), 1U);
  EXPECT_EQ(answer.objects[0].label_id, 0U);
  EXPECT_NEAR(answer.objects[0].left, 20, 1e-4);
  EXPECT_NEAR(answer.objects[0].top, 10, 1e-4);
  EXPECT_NEAR(answer.objects[0].right, 80, 1e-4);
  EXPECT_NEAR(answer.objects[0].bottom, 50, 1e-4);
}

TEST(TfDetection, RefusesAClassWithoutALabel) {
  EXPECT_THROW(decoded(0, 0.9, 1, 3), Error);
  EXPECT_EQ(decoded(3, 0.9, 1, 3).objects.at(0).label_id, 2U);
  EXPECT_THROW(decoded(4, 0.9, 1, 3), Error);
}

TEST(TfDetection, RefusesAnyNumberOfDetectionsThatIsNone) {
  EXPECT_THROW(decoded(1, 0.9, 0.5, 3), Error);
  EXPECT_THROW(decoded(1, 0.9, -1, 3), Error);
  EXPECT_TRUE(decoded(1, 0.9, 0, 3).objects.empty());
  EXPECT_EQ(decoded(1, 0.9, 100, 3).objects.size(), 1U);
}

}  // namespace
}  // namespace npu::vision

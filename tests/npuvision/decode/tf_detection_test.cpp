#include <gtest/gtest.h>

#include <array>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision::tf_detection_test {
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

/// Names of boxes, classes, scores and their number.
using OutputNames = std::array<const char*, 4>;
constexpr OutputNames kApi{"detection_boxes", "detection_classes", "detection_scores",
                           "num_detections"};
constexpr OutputNames kOthers{"a", "b", "c", "d"};
constexpr OutputNames kLite{"TFLite_Detection_PostProcess", "TFLite_Detection_PostProcess:1",
                            "TFLite_Detection_PostProcess:2", "TFLite_Detection_PostProcess:3"};
constexpr OutputNames kLite2{"StatefulPartitionedCall:3", "StatefulPartitionedCall:2",
                             "StatefulPartitionedCall:1", "StatefulPartitionedCall:0"};

/// One detection, of the model's class.
Answer decoded(const ModelCard& card, const OutputNames& names, double label, double score = 0.9,
               double count = 1) {
  std::vector<TestTensor> tensors;
  tensors.emplace_back(names[0], ElementType::kF32, std::vector<std::size_t>{1, 1, 4},
                       std::vector<double>{0.1, 0.2, 0.5, 0.8});
  tensors.emplace_back(names[1], ElementType::kF32, std::vector<std::size_t>{1, 1},
                       std::vector<double>{label});
  tensors.emplace_back(names[2], ElementType::kF32, std::vector<std::size_t>{1, 1},
                       std::vector<double>{score});
  tensors.emplace_back(names[3], ElementType::kF32, std::vector<std::size_t>{1},
                       std::vector<double>{count});
  std::vector<TensorView> views;
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  Answer answer;
  make_decoder(card, views, {100, 100})
      ->decode(views, {.model_width = 100, .model_height = 100}, {100, 100}, options_of(card),
               &answer);
  return answer;
}

Answer decoded(double label, double score, double count, std::size_t labels) {
  return decoded(card_of(Task::kDetect, labels), kApi, label, score, count);
}

std::string error_of(const ModelCard& card, const OutputNames& names, double label) {
  try {
    decoded(card, names, label);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
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

TEST(TfDetection, NamesTheModelsClassAndWhatHelps) {
  const ModelCard card = card_of(Task::kDetect, 2);
  EXPECT_TRUE(has(error_of(card, kApi, 3),
                  "has the class 3, but the 2 labels end with that of class 2: give a label for "
                  "each class"));
  EXPECT_TRUE(has(error_of(card, kApi, 0),
                  "has the class 0, but the first label is that of class 1: set model-family to "
                  "tflite-detection where classes count from 0, or begin labels with ???"));
  EXPECT_TRUE(has(error_of(card, kApi, -1), "has the class -1"));
  EXPECT_TRUE(has(error_of(card, kApi, 1.5), "has the class 1.5"));
}

TEST(TfDetection, CountsFromZeroWhereTensorFlowLiteMadeIt) {
  ModelCard card = card_of(Task::kDetect, 3);
  const auto label_of = [&](const OutputNames& names, double label) {
    return decoded(card, names, label).objects.at(0).label_id;
  };
  for (const Family family : {Family::kAuto, Family::kTfDetection, Family::kTfliteDetection}) {
    card.family = family;
    EXPECT_EQ(label_of(kLite, 0), 0U);
    EXPECT_EQ(label_of(kLite2, 2), 2U);
    EXPECT_TRUE(has(error_of(card, kLite, 3), "the 3 labels end with that of class 2"));
  }
  EXPECT_EQ(label_of(kOthers, 0), 0U);  // as model-family says
  EXPECT_EQ(label_of(kApi, 0), 0U);
  card.labels[0] = "???";  // its lists may begin with it: the classes leave it out
  EXPECT_EQ(label_of(kLite, 0), 1U);
  card.family = Family::kTfDetection;
  EXPECT_EQ(label_of(kOthers, 2), 2U);
}

TEST(TfDetection, RefusesAnyNumberOfDetectionsThatIsNone) {
  EXPECT_THROW(decoded(1, 0.9, 0.5, 3), Error);
  EXPECT_THROW(decoded(1, 0.9, -1, 3), Error);
  EXPECT_TRUE(decoded(1, 0.9, 0, 3).objects.empty());
  EXPECT_EQ(decoded(1, 0.9, 100, 3).objects.size(), 1U);
}

}  // namespace
}  // namespace npu::vision::tf_detection_test

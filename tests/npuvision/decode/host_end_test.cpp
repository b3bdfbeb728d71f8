// Ends of detectors that were cut off the graph: the same answer as the graph would have given.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <npuvision/tensor_group.hpp>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision::host_end_test {
namespace {

using Rows = std::vector<std::vector<double>>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ModelCard cut(ModelCard card, const char* step, std::uint32_t classes, std::uint32_t detections) {
  card.family = Family::kYoloEndToEnd;
  card.end_to_end = true;
  card.host_postprocess = step;
  card.host_classes = classes;
  card.host_detections = detections;
  return card;
}

/// Boxes of 40x20, each with so many scores and more values.
Rows random_rows(std::size_t boxes, std::size_t classes, std::size_t more) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(0, 1);
  Rows rows;
  for (std::size_t i = 0; i < boxes; ++i) {
    const double left = std::floor(any(random) * 500), top = std::floor(any(random) * 500);
    rows.push_back({left, top, left + 40, top + 20});
    for (std::size_t j = 0; j < classes + more; ++j) rows.back().push_back(any(random));
  }
  return rows;
}

/// As the graph would have gone on: the best of all boxes and classes.
Rows best_by_hand(const Rows& raw, std::size_t classes, std::size_t detections) {
  Rows all;
  for (const auto& box : raw) {
    for (std::size_t label = 0; label < classes; ++label) {
      std::vector<double> row(box.begin(), box.begin() + 4);
      row.push_back(box[4 + label]);
      row.push_back(static_cast<double>(label));
      row.insert(row.end(), box.begin() + 4 + static_cast<std::ptrdiff_t>(classes), box.end());
      all.push_back(row);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& one, const auto& other) { return one[4] > other[4]; });
  all.resize(detections);
  return all;
}

void expect_equal(const Answer& one, const Answer& other) {
  ASSERT_EQ(one.objects.size(), other.objects.size());
  for (std::size_t i = 0; i < one.objects.size(); ++i) {
    const Object& box = other.objects[i];
    expect_box(one.objects[i], box.left, box.top, box.right, box.bottom);
    EXPECT_FLOAT_EQ(one.objects[i].confidence, box.confidence);
    EXPECT_EQ(one.objects[i].label_id, box.label_id);
    EXPECT_EQ(one.objects[i].oriented.has_value(), box.oriented.has_value());
    if (!box.oriented || !one.objects[i].oriented) continue;
    EXPECT_NEAR(one.objects[i].oriented->angle, box.oriented->angle, 1e-5);
  }
  ASSERT_EQ(one.key_points.size(), other.key_points.size());
  for (std::size_t i = 0; i < one.key_points.size(); ++i) {
    EXPECT_NEAR(one.key_points[i].x, other.key_points[i].x, 1e-3);
    EXPECT_NEAR(one.key_points[i].confidence, other.key_points[i].confidence, 1e-6);
  }
  EXPECT_EQ(one.mask_pixels, other.mask_pixels);
}

struct Case {
  const char* name;
  Task task;
  std::size_t classes, more;
};

class HostEnd : public testing::TestWithParam<Case> {};

TEST_P(HostEnd, AnswersAsTheGraph) {
  const auto& [name, task, classes, more] = GetParam();
  constexpr std::size_t kBoxes = 700, kDetections = 50;
  ModelCard card = card_of(task, classes);
  card.end_to_end = true;
  if (task == Task::kPose) {
    card.key_points = static_cast<std::uint32_t>(more / 3);
    card.key_point_values = 3;
  }
  const Rows raw = random_rows(kBoxes, classes, more);
  const auto tensors = [&](const Rows& rows, bool channels_first) {
    std::vector<TestTensor> all;
    all.push_back(tensor_of_rows(rows, channels_first));
    if (task == Task::kSegment) {
      std::vector<double> protos(more * 16 * 16);
      for (std::size_t i = 0; i < protos.size(); ++i) {
        protos[i] = std::sin(static_cast<double>(i));
      }
      all.emplace_back("output1", ElementType::kF32, std::vector<std::size_t>{1, more, 16, 16},
                       protos);
    }
    return all;
  };
  const ModelCard left = cut(card, "topk", static_cast<std::uint32_t>(classes), kDetections);
  const InputSize input{640, 640};
  const Rows rows = best_by_hand(raw, classes, kDetections);
  for (const float threshold : {0.0F, 0.5F, 0.99F}) {
    const DecodeOptions options{.confidence_threshold = threshold};
    const Answer expected = decoded(card, tensors(rows, false), options, {}, input);
    EXPECT_FALSE(expected.objects.empty());
    for (const bool channels_first : {false, true}) {
      expect_equal(decoded(left, tensors(raw, channels_first), options, {}, input), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, HostEnd,
                         testing::Values(Case{"detect", Task::kDetect, 80, 0},
                                         Case{"one_class", Task::kDetect, 1, 0},
                                         Case{"segment", Task::kSegment, 5, 8},
                                         Case{"pose", Task::kPose, 2, 6},
                                         Case{"obb", Task::kOriented, 4, 1}),
                         by_name);

// ---- NonMaxSuppression

ModelCard suppressed(float iou, float score) {
  ModelCard card = cut(card_of(Task::kDetect, 2), "nms", 2, 3);
  card.host_iou_threshold = iou;
  card.host_score_threshold = score;
  return card;
}

/// As many as a head has at least; the rest are nobody's.
Answer decode(const ModelCard& card, Rows rows, const DecodeOptions& options = {}) {
  rows.resize(20, std::vector<double>(6));
  return decoded(card, tensor_of_rows(rows), options);
}

TEST(HostNms, TakesTheThresholdsOfTheGraph) {
  const Rows rows{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 60, 0.8, 0}, {0, 0, 100, 100, 0.2, 0.7}};
  const DecodeOptions user{.confidence_threshold = 0.1F, .iou_threshold = 0.01F};
  EXPECT_EQ(decode(suppressed(0.7F, 0.1F), rows, user).objects.size(), 3U);
  EXPECT_EQ(decode(suppressed(0.5F, 0.1F), rows, user).objects.size(), 2U);
  EXPECT_EQ(decode(suppressed(0.7F, 0.7F), rows, user).objects.size(), 2U) << "0.7 is not above";
  EXPECT_EQ(decode(suppressed(0.7F, 0.1F), rows, {.confidence_threshold = 0.85F}).objects.size(),
            1U);
}

/// As OpenVINO's CPU plugin answers.
TEST(HostNms, DropsWhatOverlapsAsMuchAsTheThreshold) {
  const Rows half{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 50, 0.8, 0}};
  EXPECT_EQ(decode(suppressed(0.5F, 0.1F), half).objects.size(), 1U);
  const Rows same{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 100, 0.8, 0}};
  EXPECT_EQ(decode(suppressed(1, 0.1F), same).objects.size(), 1U);
  const Rows apart{{0, 0, 100, 100, 0.9, 0}, {200, 200, 300, 300, 0.8, 0}};
  EXPECT_EQ(decode(suppressed(0, 0.1F), apart).objects.size(), 1U);
  EXPECT_EQ(decode(suppressed(0.01F, 0.1F), apart).objects.size(), 2U);
}

TEST(HostNms, GivesNoMoreThanTheGraph) {
  Rows rows;
  for (int i = 0; i < 10; ++i) rows.push_back({i * 50.0, 0, i * 50.0 + 40, 40, 0.9, 0});
  EXPECT_EQ(decode(suppressed(0.5F, 0.1F), rows).objects.size(), 3U);
}

// ---- The best class of each box

ModelCard best_class(float iou, float scale, float offset) {
  ModelCard card = suppressed(iou, 0.1F);
  card.host_postprocess = "nms-best-class";
  card.host_box_scale = scale;
  card.host_class_offset = offset;
  return card;
}

TEST(HostBestClass, GivesABoxOneClass) {
  const Rows rows{{0, 0, 100, 100, 0.9, 0.8}, {0, 0, 100, 90, 0.3, 0.7}, {0, 0, 90, 100, 0.6, 0}};
  const DecodeOptions all{.confidence_threshold = 0.1F};
  const Answer apart = decode(best_class(0.5F, 1, 1000), rows, all);
  ASSERT_EQ(apart.objects.size(), 2U);
  EXPECT_EQ(apart.objects[0].label_id, 0U);
  EXPECT_EQ(apart.objects[1].label_id, 1U);
  EXPECT_FLOAT_EQ(apart.objects[1].confidence, 0.7F);
  EXPECT_EQ(decode(best_class(0.5F, 1, 0), rows, all).objects.size(), 1U) << "of any class";
}

TEST(HostBestClass, MovesScaledBoxesApart) {
  // The box of class 1, moved by 2, is just where that of class 0 is, scaled.
  const Rows rows{{20, 20, 60, 60, 0.9, 0}, {0, 0, 40, 40, 0, 0.8}};
  const DecodeOptions all{.confidence_threshold = 0.1F};
  EXPECT_EQ(decode(best_class(0.5F, 0.1F, 2), rows, all).objects.size(), 1U);
  EXPECT_EQ(decode(best_class(0.5F, 0.1F, 8), rows, all).objects.size(), 2U);
}

/// As PyTorch's max. With its class goes what suppresses a box.
TEST(HostBestClass, TakesTheFirstOfClassesWithOneScore) {
  Rows rows{{0, 0, 100, 100, 0.875, 0},
            {0, 0, 100, 90, 0.75, 0.75},
            {200, 0, 300, 100, 0.625, 0.625},
            {400, 0, 500, 100, 0.25, 0.5}};
  rows.resize(20, std::vector<double>(6));
  for (const auto type : {ElementType::kF32, ElementType::kF16}) {
    for (const bool channels_first : {false, true}) {
      const Answer answer =
          decoded(best_class(0.5F, 1, 1000), tensor_of_rows(rows, channels_first, 0, type),
                  {.confidence_threshold = 0.1F});
      std::vector<std::uint32_t> labels;
      for (const Object& object : answer.objects) labels.push_back(object.label_id);
      EXPECT_EQ(labels, (std::vector<std::uint32_t>{0, 0, 1}));
    }
  }
}

// ---- MulticlassNms and MatrixNms

ModelCard of_classes(const char* step) {
  ModelCard card = suppressed(0.5F, 0.25F);
  card.host_postprocess = step;
  return card;
}

TEST(HostMulticlassNms, TakesAScoreAtTheThreshold) {
  const DecodeOptions all{.confidence_threshold = 0.1F};
  const Rows rows{{0, 0, 100, 100, 0.25, 0}, {200, 0, 300, 100, 0, 0.5}};
  EXPECT_EQ(decode(of_classes("multiclass-nms"), rows, all).objects.size(), 2U);
  EXPECT_EQ(decode(of_classes("matrix-nms"), rows, all).objects.size(), 1U);
}

TEST(HostMulticlassNms, LeavesOutTheBackground) {
  ModelCard card = of_classes("multiclass-nms");
  const Rows rows{{0, 0, 100, 100, 0.9, 0.7}};
  EXPECT_EQ(decode(card, rows).objects.size(), 2U);
  card.host_background = 0;
  const Answer answer = decode(card, rows);
  ASSERT_EQ(answer.objects.size(), 1U);
  EXPECT_EQ(answer.objects[0].label_id, 1U);
}

TEST(HostMulticlassNms, TakesTheBestCandidatesOfAClass) {
  ModelCard card = of_classes("multiclass-nms");
  // The second is a candidate, and is suppressed; the third is none then.
  const Rows rows{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 90, 0.8, 0}, {300, 0, 400, 90, 0.7, 0.6}};
  EXPECT_EQ(decode(card, rows).objects.size(), 3U);
  card.host_class_candidates = 2;
  const Answer answer = decode(card, rows);
  ASSERT_EQ(answer.objects.size(), 2U);
  EXPECT_EQ(answer.objects[1].label_id, 1U);
}

TEST(HostMulticlassNms, CountsThePixelsOfTheBorder) {
  ModelCard card = of_classes("multiclass-nms");
  // As corners 4 of 9 parts; as pixels 9 of 16.
  const Rows rows{{0, 0, 3, 3, 0.9, 0}, {0, 0, 2, 2, 0.8, 0}};
  EXPECT_EQ(decode(card, rows).objects.size(), 2U);
  card.host_box_margin = 1;
  EXPECT_EQ(decode(card, rows).objects.size(), 1U);
}

TEST(HostMatrixNms, LetsScoresDecay) {
  ModelCard card = of_classes("matrix-nms");
  const DecodeOptions all{.confidence_threshold = 0.1F};
  const Rows rows{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 50, 0.8, 0.7}};
  const Answer linear = decode(card, rows, all);
  ASSERT_EQ(linear.objects.size(), 3U);
  EXPECT_FLOAT_EQ(linear.objects[1].confidence, 0.7F) << "the only one of its class";
  EXPECT_FLOAT_EQ(linear.objects[2].confidence, 0.4F);
  card.host_gaussian_sigma = 2;
  EXPECT_FLOAT_EQ(decode(card, rows, all).objects[2].confidence, 0.8F * std::exp(-0.5F));
  card.host_lowest_score = 0.5F;
  EXPECT_EQ(decode(card, rows, all).objects.size(), 2U);
}

// The second box of a class overlaps none of it, the third one the second; in the class before, the
// second one overlaps the first.
TEST(HostMatrixNms, ForgetsTheOverlapsOfTheClassBefore) {
  ModelCard card = of_classes("matrix-nms");
  card.host_detections = 5;
  const DecodeOptions all{.confidence_threshold = 0.1F};
  const Rows rows{{0, 0, 100, 100, 0.95, 0},
                  {0, 0, 100, 50, 0.85, 0},
                  {300, 0, 400, 100, 0, 0.9},
                  {500, 0, 600, 100, 0, 0.8},
                  {500, 0, 600, 50, 0, 0.7}};
  const Answer answer = decode(card, rows, all);
  ASSERT_EQ(answer.objects.size(), 5U);
  EXPECT_FLOAT_EQ(answer.objects[4].confidence, 0.35F) << "half of it is the second one's";
}

TEST(HostMatrixNms, AsksForTheThresholdOfDecayedScores) {
  const Rows rows{{0, 0, 100, 100, 0.9, 0}, {0, 0, 100, 50, 0.8, 0}};
  const DecodeOptions user{.confidence_threshold = 0.5F};
  EXPECT_EQ(decode(of_classes("matrix-nms"), rows, user).objects.size(), 1U);
}

// ---- One frame behind another

class HostFrames : public testing::TestWithParam<const char*> {};

TEST_P(HostFrames, KnowNothingOfTheOneBefore) {
  constexpr std::size_t kBoxes = 300, kClasses = 2;
  ModelCard card = cut(card_of(Task::kDetect, kClasses), GetParam(), kClasses, 40);
  card.host_iou_threshold = 0.3F;
  card.host_class_candidates = 60;
  const TestTensor before = tensor_of_rows(random_rows(kBoxes, kClasses, 0));
  Rows rows = random_rows(kBoxes, kClasses, 0);
  std::reverse(rows.begin(), rows.end());
  for (auto& row : rows) row[4] *= 0.9;
  const auto decoder = make_decoder(card, std::vector{before.view_without_data()}, {});
  const DecodeOptions options{.confidence_threshold = 0.2F};
  Answer answer;
  decoder->decode(std::vector{before.view()}, {}, {640, 640}, options, &answer);
  EXPECT_GT(answer.objects.size(), 20U);
  const TestTensor after = tensor_of_rows(rows);
  decoder->decode(std::vector{after.view()}, {}, {640, 640}, options, &answer);
  expect_equal(answer, decoded(card, tensor_of_rows(rows), options));
}

INSTANTIATE_TEST_SUITE_P(Steps, HostFrames,
                         testing::Values("topk", "nms", "nms-best-class", "multiclass-nms",
                                         "matrix-nms"));

TEST(HostTopK, GivesNoMoreThanTheUserAsksFor) {
  const ModelCard card = cut(card_of(Task::kDetect, 2), "topk", 2, 3);
  const Rows rows{{0, 0, 50, 50, 0.9, 0}, {60, 0, 90, 50, 0.8, 0}, {100, 0, 150, 50, 0, 0.7}};
  EXPECT_EQ(decode(card, rows).objects.size(), 3U);
  EXPECT_EQ(decode(card, rows, {.max_objects = 2}).objects.size(), 2U);
}

TEST(HostNms, SuppressesByBoxesThatNobodySees) {
  ModelCard card = suppressed(0.3F, 0.1F);
  const Rows rows{{-200, 0, 0, 100, 0.9, 0}, {-100, 0, 40, 100, 0.8, 0}};
  EXPECT_EQ(decode(card, rows).objects.size(), 0U);
}

/// As OpenVINO's CPU plugin answers.
TEST(HostNms, SuppressesByBoxesWhoseCornersAreSwapped) {
  const Rows rows{{100, 0, 0, 100, 0.9, 0}, {0, 0, 100, 90, 0.8, 0}, {0, 200, 100, 290, 0.7, 0}};
  EXPECT_EQ(decode(suppressed(0.5F, 0.1F), rows).objects.size(), 1U);
  EXPECT_EQ(decode(of_classes("multiclass-nms"), rows).objects.size(), 2U) << "are none there";
}

TEST(HostNms, OfEqualScoresTakesClassByClass) {
  const Rows rows{{0, 0, 40, 40, 0, 0.75},
                  {50, 0, 90, 40, 0.75, 0},
                  {100, 0, 140, 40, 0, 0.75},
                  {150, 0, 190, 40, 0.75, 0}};
  for (const char* step : {"nms", "multiclass-nms"}) {
    const Answer answer = decode(of_classes(step), rows);
    ASSERT_EQ(answer.objects.size(), 3U) << step;
    std::vector<double> lefts;
    for (const Object& object : answer.objects) lefts.push_back(object.left);
    std::sort(lefts.begin(), lefts.end());
    EXPECT_EQ(lefts, (std::vector<double>{0, 50, 150})) << step;
  }
}

TEST(HostNms, RefusesOrientedBoxes) {
  ModelCard card = cut(card_of(Task::kOriented, 2), "nms", 2, 3);
  EXPECT_TRUE(
      has(refusal_of([&] { decoded(card, tensor_of_rows(Rows(20, std::vector<double>(7)))); }),
          "suppresses upright boxes"));
}

TEST(HostTopK, LeavesOutNanAndRefusesWhatIsNoScore) {
  const ModelCard card = cut(card_of(Task::kDetect, 2), "topk", 2, 3);
  EXPECT_TRUE(
      decode(card, {{0, 0, 50, 50, kNaN, kNaN}, {kNaN, 0, 50, 50, 0.9, 0}}).objects.empty());
  EXPECT_TRUE(has(refusal_of([&] { decode(card, {{0, 0, 50, 50, 3, 0}}); }), "of another kind"));
}

TEST(HostTopK, RefusesWhatDoesNotFit) {
  const auto refusal = [](const ModelCard& card) {
    return refusal_of([&] { decode(card, {{0, 0, 50, 50, 0.9, 0}}); });
  };
  const ModelCard labelled = card_of(Task::kDetect, 2);
  EXPECT_EQ(refusal(cut(labelled, "topk", 2, 3)), "");
  EXPECT_TRUE(has(refusal(cut(labelled, "topk", 3, 3)), "6 values per box, which is not 4 + 3"));
  EXPECT_TRUE(has(refusal(cut(labelled, "argmax", 2, 3)), "none of topk, nms"));
  EXPECT_TRUE(has(refusal(cut(labelled, "topk", 0, 3)), "how many classes"));
  EXPECT_TRUE(has(refusal(cut(labelled, "topk", 2, 0)), "how many classes"));
  EXPECT_TRUE(has(refusal(cut(card_of(Task::kOriented, 2), "topk", 2, 3)), "1 for the task obb"));
}

/// An input of 32x32 has fewer boxes than a box has values.
TEST(HostTopK, KnowsRowsFromColumnsByTheNumberOfValues) {
  constexpr std::size_t kClasses = 30;
  Rows rows(21, std::vector<double>(4 + kClasses));
  rows[3] = {10, 20, 60, 80};
  rows[3].resize(4 + kClasses);
  rows[3][4 + 7] = 0.9;
  const ModelCard card = cut(card_of(Task::kDetect, kClasses), "topk", kClasses, 5);
  for (const bool channels_first : {false, true}) {
    const Answer answer = decoded(card, tensor_of_rows(rows, channels_first));
    ASSERT_EQ(answer.objects.size(), 1U) << channels_first;
    expect_box(answer.objects[0], 10, 20, 60, 80);
    EXPECT_EQ(answer.objects[0].label_id, 7);
  }
}

TEST(HostTopK, RefusesWhatCouldLieEitherWayRound) {
  const ModelCard card = cut(card_of(Task::kDetect, 17), "topk", 17, 5);
  const std::string refusal =
      refusal_of([&] { decoded(card, tensor_of_rows(Rows(21, std::vector<double>(21)))); });
  EXPECT_TRUE(has(refusal, "could be either way round"));
}

TEST(HostTopK, NamesWhatWasCutWhereItIsSaidToBeAnother) {
  ModelCard card = cut(card_of(Task::kDetect, 2), "topk", 2, 3);
  card.family = Family::kYolo;
  EXPECT_TRUE(has(refusal_of([&] {
                    decode(card, {{0, 0, 50, 50, 0.9, 0}});
                  }),
                  "whose end was cut off"));
}

TEST(HostTopK, HasNoNameOfTheRegistry) {
  // Two classes: as many values as an end-to-end head has.
  const TestTensor tensor = tensor_of_rows(Rows(20, std::vector<double>(6)));
  const std::vector<TensorView> views{tensor.view_without_data()};
  ModelCard card = card_of(Task::kDetect, 3);
  card.end_to_end = true;
  EXPECT_EQ(tensor_group_of(card, views, {}).id, "yolo-26-end2end-out");
  EXPECT_EQ(tensor_group_of(cut(card, "topk", 2, 3), views, {}).id, "");
}

TEST(HostTopK, IsInTheCard) {
  const std::map<std::string, std::string> info{
      {"host_postprocess", "nms"},     {"host_classes", "2"},
      {"host_detections", "300"},      {"host_iou_threshold", "0.45"},
      {"host_score_threshold", "0.1"}, {"host_box_scale", "0.015625"},
      {"host_class_offset", "0.25"},   {"host_class_candidates", "400"},
      {"host_background", "0"},        {"host_box_margin", "1"},
      {"host_gaussian_sigma", "2"},    {"host_lowest_score", "0.05"}};
  const ModelCard card =
      ModelCard::from_json(read_model_card("/nowhere/model.xml", info).to_json());
  EXPECT_EQ(card.host_postprocess, "nms");
  EXPECT_EQ(card.host_classes, 2U);
  EXPECT_EQ(card.host_detections, 300U);
  EXPECT_EQ(card.host_iou_threshold, 0.45F);
  EXPECT_EQ(card.host_score_threshold, 0.1F);
  EXPECT_EQ(card.host_box_scale, 0.015625F);
  EXPECT_EQ(card.host_class_offset, 0.25F);
  EXPECT_EQ(card.host_class_candidates, 400U);
  EXPECT_EQ(card.host_background, 0U);
  EXPECT_EQ(card.host_box_margin, 1.0F);
  EXPECT_EQ(card.host_gaussian_sigma, 2.0F);
  EXPECT_EQ(card.host_lowest_score, 0.05F);
}

}  // namespace
}  // namespace npu::vision::host_end_test

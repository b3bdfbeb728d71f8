// Graphs that end in the sigmoid or softmax which their family leaves to the decoder: the answers
// are those of their logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

/// How the graph may end.
enum class End { kLogits, kSigmoid, kSoftmax };

struct Output {
  Shaped shaped;
  std::vector<double> values;  ///< logits where `end` says so, else as they are
  End end = End::kLogits;
};

struct SharesRow {
  const char* name;
  ModelCard card;
  std::vector<Output> outputs;
  InputSize input;
};

void PrintTo(const SharesRow& row, std::ostream* out) {
  *out << row.name;
}

std::vector<double> ended(const Output& output) {
  std::vector<double> values = output.values;
  const std::size_t columns = output.shaped.dims.back();
  for (auto left = std::span(values); !left.empty(); left = left.subspan(columns)) {
    const auto row = left.first(columns);
    if (output.end == End::kSigmoid) {
      for (double& value : row) value = 1 / (1 + std::exp(-value));
    } else if (output.end == End::kSoftmax) {
      for (double& value : row) value = std::exp(value);
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& value : row) value /= sum;
    }
  }
  return values;
}

Answer decoded(const SharesRow& row, bool are_logits) {
  std::vector<TestTensor> tensors;
  std::vector<TensorView> views;
  for (const Output& output : row.outputs) {
    const auto& values = are_logits ? output.values : ended(output);
    tensors.emplace_back(output.shaped.name, output.shaped.type, output.shaped.dims, values);
  }
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  Answer answer;
  make_decoder(row.card, views, row.input)
      ->decode(views, {.model_width = row.input.width, .model_height = row.input.height},
               {row.input.width, row.input.height}, {.confidence_threshold = 0.3F}, &answer);
  return answer;
}

/// Values of this shape that are `usual`, but for `found` from `at` on.
Output output_of(const char* name, std::vector<std::size_t> dims, double usual, std::size_t at = 0,
                 const std::vector<double>& found = {}, End end = End::kLogits) {
  std::size_t count = 1;
  for (const std::size_t dim : dims) count *= dim;
  std::vector<double> values(count, usual);
  std::copy(found.begin(), found.end(), values.begin() + static_cast<std::ptrdiff_t>(at));
  return {{name, std::move(dims)}, std::move(values), end};
}

class Shares : public testing::TestWithParam<SharesRow> {};

TEST_P(Shares, GiveTheAnswersOfTheirLogits) {
  const Answer logits = decoded(GetParam(), true), shares = decoded(GetParam(), false);
  EXPECT_TRUE(!logits.objects.empty() || !logits.class_map.empty());
  ASSERT_EQ(shares.objects.size(), logits.objects.size());
  for (std::size_t i = 0; i < logits.objects.size(); ++i) {
    EXPECT_EQ(shares.objects[i].label_id, logits.objects[i].label_id);
    EXPECT_NEAR(shares.objects[i].confidence, logits.objects[i].confidence, 1e-4);
    EXPECT_NEAR(shares.objects[i].left, logits.objects[i].left, 1e-3);
    EXPECT_NEAR(shares.objects[i].bottom, logits.objects[i].bottom, 1e-3);
  }
  EXPECT_EQ(shares.mask_pixels, logits.mask_pixels);
  EXPECT_EQ(shares.class_map.values, logits.class_map.values);
}

constexpr InputSize kSmall{32, 32};

SharesRow torchvision(const char* name, std::size_t anchors, End end) {
  const double none = end == End::kSoftmax ? -2 : -6;
  SharesRow row{name,
                card_of(Task::kDetect),
                {output_of("bbox_regression", {1, anchors, 4}, 0.5),
                 output_of("cls_logits", {1, anchors, 3}, none, 30, {-3, 4, -1}, end)},
                kSmall};
  if (end == End::kSoftmax) {
    for (std::size_t i = 0; i < anchors * 3; i += 3) {
      if (i == 30) continue;
      row.outputs[1].values[i] = 3;  // the background
    }
  }
  return row;
}

SharesRow fcos() {
  SharesRow row = torchvision("Fcos", 86, End::kSigmoid);
  row.input = {64, 64};
  row.outputs.push_back(output_of("bbox_ctrness", {1, 86, 1}, -2, 10, {2}, End::kSigmoid));
  return row;
}

SharesRow faces() {
  return {"Faces",
          card_of(Task::kDetect),
          {output_of("boxes", {1, 896, 16}, 20),
           output_of("scores", {1, 896, 1}, -9, 300, {3}, End::kSigmoid)},
          {128, 128}};
}

SharesRow detr(const char* name, const char* architecture, End end) {
  SharesRow row{name,
                card_of(Task::kDetect, end == End::kSoftmax ? 4 : 5),
                {output_of("logits", {1, 8, 5}, -4, 10, {-1, 3, -4, -4, -4}, end),
                 output_of("pred_boxes", {1, 8, 4}, 0.25)},
                kSmall};
  row.card.architecture = architecture;
  if (end == End::kSoftmax) {
    for (std::size_t i = 4; i < 40; i += 5) row.outputs[0].values[i] = i == 14 ? -4 : 4;
  }
  return row;
}

/// A mask of 16x16 that covers the upper half.
std::vector<double> upper_half() {
  std::vector<double> plane(256, -3);
  std::fill_n(plane.begin(), 128, 3);
  return plane;
}

SharesRow rf_detr() {
  return {"RfDetr",
          card_of(Task::kSegment, 5),
          {output_of("dets", {1, 8, 4}, 0.25),
           output_of("labels", {1, 8, 5}, -4, 11, {3}, End::kSigmoid),
           output_of("masks", {1, 8, 16, 16}, -3, 512, upper_half(), End::kSigmoid)},
          kSmall};
}

SharesRow queries(const char* name, Task task, End classes, End masks) {
  SharesRow row{name,
                card_of(task, 3),
                {output_of("class_queries_logits", {1, 6, 4}, -3, 4, {-3, -3, 6, -3}, classes),
                 output_of("masks_queries_logits", {1, 6, 16, 16}, -3, 256, upper_half(), masks)},
                kSmall};
  for (std::size_t i = 3; i < 24; i += 4) row.outputs[0].values[i] = i == 7 ? -3 : 3;
  row.outputs[0].values[1] = 1;  // of the first query
  return row;
}

INSTANTIATE_TEST_SUITE_P(
    All, Shares,
    testing::Values(torchvision("SsdLite", 54, End::kSoftmax),
                    torchvision("RetinaNet", 207, End::kSigmoid), fcos(), faces(),
                    detr("Detr", "", End::kSigmoid),
                    detr("DetrWithASoftmax", "DetrForObjectDetection", End::kSoftmax), rf_detr(),
                    queries("Queries", Task::kSegment, End::kSoftmax, End::kSigmoid),
                    queries("QueriesClasses", Task::kSegment, End::kSoftmax, End::kLogits),
                    queries("QueriesMasks", Task::kSegment, End::kLogits, End::kSigmoid),
                    queries("Places", Task::kSemantic, End::kSoftmax, End::kSigmoid)),
    by_name);

// Twelve values may lie within 0..1 by chance.
TEST(Shares, AreNotGuessedFromAFewLogits) {
  SharesRow row = detr("", "", End::kLogits);
  row.card = card_of(Task::kDetect, 3);
  row.outputs = {output_of("logits", {1, 4, 3}, 0.1, 4, {0.9}),
                 output_of("pred_boxes", {1, 4, 4}, 0.25)};
  const Answer answer = decoded(row, true);
  ASSERT_EQ(answer.objects.size(), 4U);
  EXPECT_NEAR(answer.objects[0].confidence, 1 / (1 + std::exp(-0.9)), 1e-6);
}

}  // namespace
}  // namespace npu::vision

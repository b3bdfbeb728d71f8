// Models that end with MulticlassNms or MatrixNms: cut model and decoder together answer as the
// whole model does on OpenVINO's CPU plugin.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include <npucore/error.hpp>

#include "support/expect.hpp"

#include "class_nms_tails.hpp"
#include "cut_model.hpp"
#include "nms_tails.hpp"

namespace npu::class_nms_repair_test {
namespace {

using test::ClassTail;
using Sort = ClassTail::Sort;
/// Class, score, left, top, right, bottom.
using Row = std::array<double, 6>;

const char* operator_of(const ClassTail& tail) {
  return tail.is_matrix ? "MatrixNms" : "MulticlassNms";
}

/// Best first, as an answer's objects are.
std::vector<Row> rows_of(const std::vector<double>& values) {
  std::vector<Row> rows(values.size() / 6);
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / 6][i % 6] = values[i];
  std::sort(rows.begin(), rows.end(),
            [](const Row& one, const Row& other) { return one[1] > other[1]; });
  return rows;
}

void expect_rows(const vision::Answer& answer, const std::vector<Row>& rows) {
  ASSERT_GT(rows.size(), 2U);
  ASSERT_EQ(answer.objects.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& object = answer.objects[i];
    EXPECT_EQ(object.label_id, static_cast<std::uint32_t>(rows[i][0]));
    EXPECT_NEAR(object.confidence, rows[i][1], 1e-5);
    EXPECT_NEAR(object.left, rows[i][2], 1e-3);
    EXPECT_NEAR(object.top, rows[i][3], 1e-3);
    EXPECT_NEAR(object.right, rows[i][4], 1e-3);
    EXPECT_NEAR(object.bottom, rows[i][5], 1e-3);
  }
}

struct ClassRow : Named {
  ClassTail tail;
};
class ClassNmsTest : public testing::TestWithParam<ClassRow> {};

TEST_P(ClassNmsTest, ModelAndHostAnswerAsTheWholeModel) {
  const auto& tail = GetParam().tail;
  const Model whole = test::model_of(tail);
  EXPECT_THROW(whole.check_supported(), Error);
  Model cut = whole;
  const auto told = cut.repair();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with(std::string(operator_of(tail)) + " cut off")) << told[0];
  EXPECT_EQ(told[0].ends_with("is gone"), tail.shows_counts) << told[0];
  cut.check_supported();
  EXPECT_FALSE(test::has_layer(cut, operator_of(tail)));
  ASSERT_EQ(cut.outputs().size(), 1U);
  EXPECT_EQ(cut.outputs()[0].tensor_names, std::vector<std::string>{"output0"});
  EXPECT_EQ(test::wrong_shapes(cut), std::vector<std::string>());
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::map<std::string, test::Bytes> inputs{
        {"boxes", test::bytes_of(test::random_heads(tail.boxes, tail.classes, 0, seed))}};
    expect_rows(test::decoded(cut, test::run_with_openvino(cut, inputs)),
                rows_of(test::run_with_openvino(whole, inputs)));
  }
}

std::string name_of(const testing::TestParamInfo<ClassRow>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Multiclass, ClassNmsTest,
    testing::Values(ClassRow{"as_paddle", {}}, ClassRow{"by_score", {.sort = Sort::kByScore}},
                    ClassRow{"in_no_order", {.sort = Sort::kNone}},
                    ClassRow{"one_class", {.classes = 1}},
                    ClassRow{"few_candidates", {.candidates = 7}},
                    ClassRow{"candidates_of_all", {.candidates = 1000}},
                    ClassRow{"few_detections", {.detections = 5}},
                    ClassRow{"all_detections", {.detections = -1, .iou = 0.6F, .score = 0}},
                    ClassRow{"background", {.background = 1}},
                    ClassRow{"background_of_no_class", {.background = 3}},
                    ClassRow{"in_pixels", {.is_normalized = false}},
                    ClassRow{"low_thresholds", {.iou = 0.1F, .score = 0.01F}},
                    ClassRow{"long_numbers", {.has_long_numbers = true}},
                    ClassRow{"scores_by_class", {.are_scores_by_class = true}},
                    ClassRow{"rows_alone", {.shows_counts = false}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Matrix, ClassNmsTest,
    testing::Values(ClassRow{"linear", {.is_matrix = true}},
                    ClassRow{"gaussian", {.is_matrix = true, .is_gaussian = true}},
                    ClassRow{"wide_gaussian",
                             {.is_matrix = true, .is_gaussian = true, .sigma = 0.5F}},
                    ClassRow{"by_score", {.is_matrix = true, .sort = Sort::kByScore}},
                    ClassRow{"few_candidates", {.is_matrix = true, .candidates = 9}},
                    ClassRow{"few_detections", {.is_matrix = true, .detections = 6}},
                    ClassRow{"background", {.is_matrix = true, .background = 0}},
                    ClassRow{"in_pixels", {.is_matrix = true, .is_normalized = false}},
                    ClassRow{"high_lowest", {.is_matrix = true, .lowest = 0.5F}},
                    ClassRow{"all_detections", {.is_matrix = true, .detections = -1, .lowest = 0}},
                    ClassRow{"scores_by_class", {.is_matrix = true, .are_scores_by_class = true}},
                    ClassRow{"rows_alone", {.is_matrix = true, .shows_counts = false}}),
    name_of);

class AlmostClassNmsTest : public testing::TestWithParam<ClassRow> {};

TEST_P(AlmostClassNmsTest, IsLeftAlone) {
  Model model = test::model_of(GetParam().tail);
  const auto outputs = model.outputs().size();
  EXPECT_EQ(model.repair(), std::vector<std::string>());
  EXPECT_TRUE(test::has_layer(model, operator_of(GetParam().tail)));
  EXPECT_EQ(model.outputs().size(), outputs);
  EXPECT_FALSE(model.model_info().contains("host_postprocess"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, AlmostClassNmsTest,
    testing::Values(ClassRow{"falling_threshold", {.eta = 0.9F}},
                    ClassRow{"rows_of_all_classes", {.has_rows_of_all = true}},
                    ClassRow{"features_are_an_output", {.shows_features = true}},
                    ClassRow{"rows_are_changed", {.changes_rows = true}},
                    ClassRow{"rows_are_whole_numbers", {.has_whole_rows = true}},
                    ClassRow{"threshold_above_one", {.score = 1.5F}},
                    ClassRow{"no_detections", {.detections = 0}},
                    ClassRow{"negative_lowest", {.is_matrix = true, .lowest = -0.5F}},
                    ClassRow{"sigma_that_no_card_has",
                             {.is_matrix = true, .is_gaussian = true, .sigma = 1e35F}},
                    ClassRow{"matrix_rows_are_changed", {.is_matrix = true, .changes_rows = true}}),
    name_of);

/// At the threshold itself: MulticlassNms takes the score, MatrixNms does not, and as much overlap
/// as the threshold is too much.
TEST(ClassNmsThreshold, IsTakenAsTheOperatorsTakeIt) {
  for (const bool is_matrix : {false, true}) {
    const ClassTail tail{.is_matrix = is_matrix, .boxes = 20, .iou = 0.5F, .score = 0.5F};
    const Model whole = test::model_of(tail);
    Model cut = whole;
    cut.repair();
    std::vector<float> heads(std::size_t{20} * 7, 0);
    const auto put = [&](std::size_t box, const std::array<float, 7>& values) {
      for (std::size_t i = 0; i < values.size(); ++i) heads[i * 20 + box] = values[i];
    };
    put(0, {0, 0, 100, 100, 0.9F, 0, 0});
    put(1, {0, 0, 100, 50, 0.8F, 0, 0});  // half of the first
    put(2, {200, 200, 300, 300, 0.5F, 0.75F, 0});
    put(3, {400, 400, 500, 500, 0, 0, 0.625F});
    const std::map<std::string, test::Bytes> inputs{{"boxes", test::bytes_of(heads)}};
    expect_rows(test::decoded(cut, test::run_with_openvino(cut, inputs)),
                rows_of(test::run_with_openvino(whole, inputs)));
  }
}

/// The compiler would name an attribute that it does not know.
TEST(ClassNmsOfOtherSizes, IsRefusedWithWhatHelps) {
  for (const bool is_matrix : {false, true}) {
    const ClassTail tail{.is_matrix = is_matrix};
    Model model = test::model_of(tail);
    model.reshape({{"boxes", {1, 7, 50}}});
    EXPECT_EQ(model.repair(), std::vector<std::string>());
    const std::string said = thrown_by([&] { model.check_supported(); });
    EXPECT_TRUE(has(said, operator_of(tail)));
    EXPECT_TRUE(has(said, "reshape the model in Python"));
  }
}

}  // namespace
}  // namespace npu::class_nms_repair_test

// Models whose end was cut off and left to the host: model and decoder together answer as the whole
// model does on OpenVINO's CPU plugin.
#include <gtest/gtest.h>

#include <npucore/error.hpp>

#include "support/expect.hpp"

#include "cut_model.hpp"
#include "nms_tails.hpp"

namespace npu {
namespace {

using test::MaskedTail;

/// Rows of left, top, right, bottom, score, class and more, until one is of zeros.
void expect_rows(const vision::Answer& answer, const std::vector<double>& rows, int more) {
  const auto width = static_cast<std::size_t>(6 + more);
  std::size_t count = 0;
  while (count < rows.size() / width && rows[count * width + 4] > 0) ++count;
  ASSERT_GT(count, 0U);
  ASSERT_EQ(answer.objects.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& object = answer.objects[i];
    const double* row = rows.data() + i * width;
    EXPECT_NEAR(object.left, row[0], 1e-3);
    EXPECT_NEAR(object.top, row[1], 1e-3);
    EXPECT_NEAR(object.right, row[2], 1e-3);
    EXPECT_NEAR(object.bottom, row[3], 1e-3);
    EXPECT_NEAR(object.confidence, row[4], 1e-6);
    EXPECT_EQ(object.label_id, static_cast<std::uint32_t>(row[5]));
    if (more == 0) continue;
    EXPECT_NEAR(answer.key_points_of(i)[0].x, row[6], 1e-3);
  }
}

struct MaskedRow : Named {
  MaskedTail tail;
};
class MaskedTest : public testing::TestWithParam<MaskedRow> {};

TEST_P(MaskedTest, ModelAndHostAnswerAsTheWholeModel) {
  const auto& tail = GetParam().tail;
  const Model whole = test::model_of(tail);
  EXPECT_THROW(whole.check_supported(), Error);
  Model cut = whole;
  const auto told = cut.repair();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("NonMaxSuppression cut off")) << told[0];
  cut.check_supported();
  for (const char* type : {"NonZero", "NonMaxSuppression", "GatherND", "ScatterNDUpdate", "TopK"}) {
    EXPECT_FALSE(test::has_layer(cut, type)) << type;
  }
  EXPECT_EQ(cut.outputs()[0].tensor_names, std::vector<std::string>{"output0"});
  EXPECT_EQ(test::wrong_shapes(cut), std::vector<std::string>());
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::map<std::string, test::Bytes> inputs{
        {"boxes", test::bytes_of(test::random_heads(tail.boxes, tail.classes, tail.more, seed))}};
    expect_rows(test::decoded(cut, test::run_with_openvino(cut, inputs),
                              static_cast<std::uint32_t>(tail.more / 3)),
                test::run_with_openvino(whole, inputs), tail.more);
  }
}

/// As PyTorch's max, of which the export makes TopK. In the whole model a stable TopK does the
/// same.
TEST(TiedTest, TakesTheFirstOfClassesWithOneScore) {
  constexpr MaskedTail kTail{.classes = 20, .boxes = 90, .detections = 60, .is_stable = true};
  const Model whole = test::model_of(kTail);
  Model cut = whole;
  ASSERT_EQ(cut.repair().size(), 1U);
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::map<std::string, test::Bytes> inputs{
        {"boxes", test::bytes_of(test::tied_heads(kTail.boxes, kTail.classes, 0, seed))}};
    expect_rows(test::decoded(cut, test::run_with_openvino(cut, inputs)),
                test::run_with_openvino(whole, inputs), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, MaskedTest,
    testing::Values(MaskedRow{"detect", {}}, MaskedRow{"pose", {.more = 6}},
                    MaskedRow{"one_class", {.classes = 1}},
                    MaskedRow{"agnostic", {.is_agnostic = true}},
                    MaskedRow{"in_pixels", {.is_scaled = false}},
                    MaskedRow{"agnostic_in_pixels", {.is_agnostic = true, .is_scaled = false}},
                    MaskedRow{"few_detections", {.detections = 5}},
                    MaskedRow{"low_thresholds", {.conf = 0.01F, .iou = 0.1F}},
                    MaskedRow{"tensors_of_their_own", {.gathers_by_names = false}}),
    by_name);

TEST(MaskedBoxes, AreScaledWithWhatMovedThem) {
  Model cut = test::model_of(MaskedTail{.is_scaled = false, .scales_moved = 0.5F});
  ASSERT_EQ(cut.repair().size(), 1U);
  EXPECT_EQ(cut.model_info().at("host_box_scale"), "0.5");
  EXPECT_EQ(cut.model_info().at("host_class_offset"), "320") << "half of 640";
}

class AlmostMaskedTest : public testing::TestWithParam<MaskedRow> {};

TEST_P(AlmostMaskedTest, IsLeftAlone) {
  Model model = test::model_of(GetParam().tail);
  EXPECT_TRUE(model.repair().empty());
  EXPECT_TRUE(test::has_layer(model, "NonMaxSuppression"));
  EXPECT_FALSE(model.model_info().contains("host_postprocess"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, AlmostMaskedTest,
    testing::Values(MaskedRow{"mask_of_other_scores", {.masks_by_other_best = true}},
                    MaskedRow{"mask_with_equal_scores", {.masks_equal = true}},
                    MaskedRow{"class_of_the_lowest_score", {.takes_lowest_class = true}},
                    MaskedRow{"moved_by_another_class", {.moves_by_other_class = true}},
                    MaskedRow{"mask_is_an_output", {.shows_mask = true}},
                    MaskedRow{"boxes_are_changed", {.shows_other_boxes = true}},
                    MaskedRow{"scores_are_changed", {.changes_scores = true}},
                    MaskedRow{"fewer_than_the_output_has", {.limit = 10}},
                    MaskedRow{"two_pictures", {.limit = 10, .pictures = 2}},
                    MaskedRow{"fewer_in_front", {.limits_again = true, .limit = 10}},
                    MaskedRow{"moved_twice", {.moves_twice = true}},
                    MaskedRow{"written_elsewhere", {.first_place = 1}},
                    MaskedRow{"padding_in_front", {.padding_in_front = 6}},
                    MaskedRow{"filled_with_ones", {.padding = 1}},
                    MaskedRow{"few_of_a_class", {.most_of_class = 5}},
                    MaskedRow{"threshold_above_one", {.conf = 1.5F}}),
    by_name);

}  // namespace
}  // namespace npu

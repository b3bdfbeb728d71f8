#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(MaskRcnn, MeansWhatItsAuthorsMean) {
  expect_references("mask_rcnn");
}

std::vector<Shaped> outputs() {
  return {{"boxes", {100, 5}}, {"labels", {100}, ElementType::kI64}, {"masks", {100, 28, 28}}};
}

ModelCard card() {
  return card_of(Task::kSegment, 3, Family::kMaskRcnn);
}

class MaskRcnnRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(MaskRcnnRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  const std::string said = refusal_of(row.card, row.outputs, row.input);
  EXPECT_TRUE(has(said, row.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, MaskRcnnRefusal,
    testing::Values(
        RefusalRow{"Known", card(), outputs(), "[mask-rcnn]"},
        RefusalRow{"InABatch",
                   card(),
                   {{"m", {1, 9, 28, 28}}, {"l", {1, 9}}, {"b", {1, 9, 5}}},
                   "[mask-rcnn]"},
        RefusalRow{"BesideOtherOutputs",
                   card(),
                   {{"boxes", {9, 5}},
                    {"labels", {9}, ElementType::kI64},
                    {"masks", {9, 28, 28}},
                    {"feature_vector", {1, 256, 1, 1}}},
                   "[mask-rcnn]"},
        RefusalRow{"NotNamed", card_of(Task::kSegment, 3), outputs(),
                   "does not say from which number its classes count: set model-family"},
        RefusalRow{"NothingKnown", {}, outputs(), "set model-family to mask-rcnn"},
        RefusalRow{"WithoutMasks",
                   card(),
                   {{"boxes", {100, 5}}, {"labels", {100}, ElementType::kI64}},
                   "has other tensors"},
        RefusalRow{
            "OtherMasks",
            card(),
            {{"boxes", {100, 5}}, {"labels", {100}, ElementType::kI64}, {"masks", {99, 28, 28}}},
            "has other tensors"},
        RefusalRow{"TwoLists",
                   card(),
                   {{"boxes", {9, 5}}, {"a", {9}}, {"b", {9}}, {"masks", {9, 28, 28}}},
                   "has other tensors"},
        RefusalRow{"AnotherFamily", card_of(Task::kDetect, 3, Family::kSsd), outputs(),
                   "has other tensors"}),
    by_name);

std::string refusal_of_label(double label) {
  const TestTensor boxes("boxes", ElementType::kF32, {1, 5}, {10, 10, 50, 50, 0.9});
  const TestTensor labels("labels", ElementType::kF32, {1}, {label});
  const TestTensor masks("masks", ElementType::kF32, {1, 2, 2}, {1, 1, 1, 1});
  const std::vector<TensorView> views{boxes.view(), labels.view(), masks.view()};
  Answer answer;
  try {
    make_decoder(card(), views, {64, 64})->decode(views, {64, 64}, {64, 64}, {}, &answer);
  } catch (const Error& error) {
    return error.what();
  }
  EXPECT_EQ(answer.objects.at(0).label_id, static_cast<std::uint32_t>(label) + 1);
  return "";
}

TEST(MaskRcnn, CountsClassesFromThatOfNoObject) {
  EXPECT_EQ(refusal_of_label(0), "");
  EXPECT_EQ(refusal_of_label(1), "");
  for (const double wrong : {2.0, -1.0, 0.5}) {
    EXPECT_TRUE(has(refusal_of_label(wrong), "which is no class")) << wrong;
  }
}

TEST(MaskRcnn, RefusesBoxesThatAreNoPixels) {
  const TestTensor boxes("boxes", ElementType::kF32, {1, 5}, {0.1, 0.1, 0.5, 0.5, 0.9});
  const TestTensor labels("labels", ElementType::kF32, {1}, {0});
  const TestTensor masks("masks", ElementType::kF32, {1, 2, 2}, {1, 1, 1, 1});
  const std::vector<TensorView> views{boxes.view(), labels.view(), masks.view()};
  Answer answer;
  const auto decoder = make_decoder(card(), views, {64, 64});
  const npu::FrameGeometry geometry{
      .model_width = 64, .model_height = 64, .scale_x = 10, .scale_y = 10};
  EXPECT_THROW(decoder->decode(views, geometry, {640, 640}, {}, &answer), Error);
}

}  // namespace
}  // namespace npu::vision

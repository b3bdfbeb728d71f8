#include <gtest/gtest.h>

#include "decode/detectors/torchvision_anchors.hpp"

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision::torchvision_test {
namespace {

TEST(Torchvision, MeansWhatItsAuthorsMean) {
  expect_references("torchvision");
}

std::size_t anchors_of(TorchvisionForm form, InputSize input) {
  std::size_t count = 0;
  for (const AnchorLevel& level : torchvision_anchors(form, input)) count += level.size();
  return count;
}

TEST(TorchvisionAnchors, AreAsManyAsTheModelsHave) {
  EXPECT_EQ(anchors_of(TorchvisionForm::kSsd, {300, 300}), 8732U);
  EXPECT_EQ(anchors_of(TorchvisionForm::kSsd, {320, 320}), 0U);
  EXPECT_EQ(anchors_of(TorchvisionForm::kSsdLite, {320, 320}), 3234U);
  EXPECT_EQ(anchors_of(TorchvisionForm::kRetinaNet, {800, 800}), 120087U);
  EXPECT_EQ(anchors_of(TorchvisionForm::kFcos, {800, 800}), 13343U);
}

TEST(TorchvisionAnchors, LieWhereTheAuthorsPutThem) {
  const Anchor first = torchvision_anchors(TorchvisionForm::kSsd, {300, 300})[0].at(2);
  EXPECT_NEAR(first.x, 4, 1e-9);
  EXPECT_NEAR(first.width, 300 * 0.07 * 1.41421356, 1e-6);
  EXPECT_NEAR(first.height, 300 * 0.07 / 1.41421356, 1e-6);
  // 800 pixels are 13 cells of 61 and a rest.
  const AnchorLevel coarse = torchvision_anchors(TorchvisionForm::kRetinaNet, {800, 800})[3];
  EXPECT_EQ(coarse.step_x, 61);
  const Anchor wide = coarse.at(9);  // of the second cell
  EXPECT_EQ(wide.x, 61);
  EXPECT_EQ(wide.y, 0);
  EXPECT_EQ(wide.width, 362);   // 256 * sqrt(2)
  EXPECT_EQ(wide.height, 182);  // 256 / sqrt(2) = 181.02, whose halves are rounded to 91
}

std::vector<Shaped> outputs_of(std::size_t anchors, std::size_t classes) {
  return {{"cls_logits", {1, anchors, classes}}, {"bbox_regression", {1, anchors, 4}}};
}

std::vector<Shaped> unnamed(std::size_t classes) {
  return {{"a", {1, 3234, classes}}, {"b", {1, 3234, 4}}};
}

ModelCard by_hand(std::size_t labels = 0) {
  return card_of(Task::kDetect, labels, Family::kTorchvision);
}

class TorchvisionRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(TorchvisionRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

constexpr InputSize kLite = {320, 320};

INSTANTIATE_TEST_SUITE_P(
    All, TorchvisionRefusal,
    testing::Values(
        RefusalRow{"Named", card_of(Task::kUnknown), outputs_of(3234, 91), "[torchvision]", kLite},
        RefusalRow{"FourClasses", by_hand(4), outputs_of(3234, 4), "[torchvision]", kLite},
        RefusalRow{"ByHand", by_hand(), unnamed(91), "[torchvision]", kLite},
        RefusalRow{"ByHandFourClasses", by_hand(), unnamed(4), "has other tensors", kLite},
        RefusalRow{"NoNames", card_of(Task::kDetect), unnamed(91),
                   "has 3234 anchors, as SSDlite has for an input of 320x320, but other names: set "
                   "model-family to torchvision;",
                   kLite},
        RefusalRow{"NoNamesOtherLabels", card_of(Task::kDetect, 90), unnamed(91),
                   "set model-family to torchvision; it has 91 classes, but there are 90 labels",
                   kLite},
        RefusalRow{"NoNamesFcos",
                   card_of(Task::kDetect),
                   {{"a", {1, 86, 4}}, {"b", {1, 86, 3}}, {"c", {1, 86, 1}}},
                   "has 86 anchors, as FCOS has",
                   {64, 64}},
        RefusalRow{"OtherInput",
                   by_hand(),
                   outputs_of(3234, 91),
                   "has 3234 anchors, which none of SSD300, SSDlite, RetinaNet and FCOS has for an "
                   "input of 300x300",
                   {300, 300}},
        RefusalRow{"UnknownInput", by_hand(), outputs_of(3234, 91), "has 3234 anchors", {0, 0}},
        RefusalRow{"OtherLabels", by_hand(90), outputs_of(3234, 91),
                   "has 91 classes, but there are 90 labels", kLite},
        // FCOS' boxes mean nothing without it.
        RefusalRow{"NoCenterness", by_hand(), outputs_of(2134, 91), "has 2134 anchors", kLite},
        RefusalRow{"OtherTask", card_of(Task::kSegment), outputs_of(3234, 91), "no family", kLite}),
    by_name);

// The boxes of a detection transformer look the same.
TEST(TorchvisionRefusals, WithoutNamesAdviseNoOtherFamily) {
  const std::string refusal =
      refusal_of(card_of(Task::kDetect, 3), {{"a", {1, 774, 4}}, {"b", {1, 774, 3}}}, {64, 64});
  EXPECT_TRUE(has(refusal, "as RetinaNet has"));
  EXPECT_EQ(refusal.find("detr"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace npu::vision::torchvision_test

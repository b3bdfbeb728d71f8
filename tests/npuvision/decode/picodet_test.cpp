#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(PicoDet, MeansWhatItsAuthorsMean) {
  expect_references("picodet");
}

/// Outputs for a picture of 128x128, as exported.
std::vector<Shaped> outputs_of(std::size_t classes) {
  std::vector<Shaped> outputs;
  for (const std::size_t columns : {classes, std::size_t{32}}) {
    for (const std::size_t cells : {256, 64, 16, 4}) {
      outputs.push_back(
          {"o" + std::to_string(outputs.size()), std::vector<std::size_t>{1, cells, columns}});
    }
  }
  return outputs;
}

std::vector<Shaped> with(std::size_t place, std::vector<std::size_t> dims) {
  auto outputs = outputs_of(10);
  outputs[place].dims = std::move(dims);
  return outputs;
}

class PicoDetRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(PicoDetRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard picodet(std::size_t labels = 0) {
  ModelCard card = card_of(Task::kDetect, labels);
  card.family = Family::kPicoDet;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, PicoDetRefusal,
    testing::Values(
        RefusalRow{"KnownByItsShapes", card_of(Task::kUnknown), outputs_of(10), "[picodet]"},
        RefusalRow{"WithItsLabels", card_of(Task::kDetect, 10), outputs_of(10), "[picodet]"},
        RefusalRow{"OtherLabels", card_of(Task::kDetect, 9), outputs_of(10),
                   "has 10 classes, but there are 9 labels"},
        RefusalRow{"UnknownInput", picodet(), outputs_of(10), "has other tensors", {0, 0}},
        RefusalRow{"OtherInput", picodet(), outputs_of(10), "has other tensors", {160, 128}},
        RefusalRow{"OtherClassesInAGrid", picodet(), with(2, {1, 16, 9}),
                   "has other numbers of classes in each grid"},
        RefusalRow{"OtherDistances", picodet(), with(5, {1, 64, 36}), "has other tensors"},
        RefusalRow{"TwiceTheSameGrid", picodet(), with(3, {1, 16, 10}), "has other tensors"},
        RefusalRow{"AnotherTask", card_of(Task::kSegment), outputs_of(10), "no family of models"}),
    by_name);

}  // namespace
}  // namespace npu::vision

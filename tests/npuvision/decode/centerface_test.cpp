#include <gtest/gtest.h>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

TEST(CenterFace, MeansWhatItsAuthorsMean) {
  expect_references("centerface");
}

std::vector<Shaped> outputs_of(std::size_t rows, std::size_t columns, bool has_points = true) {
  std::vector<Shaped> outputs{{"537", {1, 1, rows, columns}},
                              {"538", {1, 2, rows, columns}},
                              {"539", {1, 2, rows, columns}}};
  if (has_points) {
    outputs.push_back({"540", {1, 10, rows, columns}});
  }
  return outputs;
}

class CenterFaceRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(CenterFaceRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

ModelCard by_hand(std::uint32_t key_points = 0) {
  ModelCard card = card_of(Task::kDetect, 1, Family::kCenterFace);
  card.key_points = key_points;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, CenterFaceRefusal,
    testing::Values(
        RefusalRow{"Known", card_of(Task::kUnknown), outputs_of(32, 32), "[centerface]"},
        RefusalRow{"OtherStride", by_hand(), outputs_of(16, 16), "has other tensors"},
        RefusalRow{"Turned", by_hand(), outputs_of(48, 32), "has other tensors", {192, 128}},
        RefusalRow{"NoPoints", card_of(Task::kDetect), outputs_of(32, 32, false), "of no family"},
        RefusalRow{"NoPointsByHand", by_hand(), outputs_of(32, 32, false), "[centerface]"},
        RefusalRow{"OtherPoints", by_hand(6), outputs_of(32, 32), "has 5 key points, not 6"},
        RefusalRow{"UnknownInput", by_hand(), outputs_of(32, 32), "has other tensors", {0, 0}}),
    by_name);

}  // namespace
}  // namespace npu::vision

#include "graph/refusals.hpp"

#include <gtest/gtest.h>

#include <openvino/op/constant.hpp>
#include <openvino/op/convolution.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/op/result.hpp>

#include "base/failure.hpp"
#include "support/expect.hpp"

namespace softnpu::refusals_test {
namespace {

/// As Intel's compiler 8.4 was asked, on 3720, 4000 and 5010.
struct Row {
  const char* name;
  ov::PartialShape input;
  ov::Shape filter;
  ov::Strides strides;
  ov::op::PadType pads;
  bool is_taken;
};

ov::Model model_of(const Row& row) {
  auto input = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, row.input);
  auto filter = ov::op::v0::Constant::create(ov::element::f32, row.filter, {1.0f});
  const std::size_t dimensions = row.strides.size();
  auto convolution = std::make_shared<ov::op::v1::Convolution>(
      input, filter, row.strides, ov::CoordinateDiff(dimensions), ov::CoordinateDiff(dimensions),
      ov::Strides(dimensions, 1), row.pads);
  convolution->set_friendly_name("first");
  return ov::Model(ov::ResultVector{std::make_shared<ov::op::v0::Result>(convolution)},
                   ov::ParameterVector{input});
}

class AutoPads : public testing::TestWithParam<Row> {};

TEST_P(AutoPads, AreTakenAsByIntels) {
  const ov::Model model = model_of(GetParam());
  if (GetParam().is_taken) {
    EXPECT_NO_THROW(check_auto_pads(model));
    return;
  }
  try {
    check_auto_pads(model);
    ADD_FAILURE() << "taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.result(), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_TRUE(has(failure.what(), "Convolution 'first' uses auto_pad=SAME_UPPER"));
  }
}

constexpr auto kUpper = ov::op::PadType::SAME_UPPER;
constexpr auto kLower = ov::op::PadType::SAME_LOWER;
const ov::PartialShape kFixed{1, 4, 32, 32};
const ov::PartialShape kTall{1, 4, {8, 32}, 32};
INSTANTIATE_TEST_SUITE_P(
    Graph, AutoPads,
    testing::Values(
        Row{"strides", kFixed, {8, 4, 3, 3}, {2, 2}, kUpper, true},
        Row{"points", kFixed, {8, 4, 1, 1}, {2, 2}, kUpper, false},
        Row{"points_one_stride", kFixed, {8, 4, 1, 1}, {1, 2}, kUpper, false},
        Row{"points_no_strides", kFixed, {8, 4, 1, 1}, {1, 1}, kUpper, true},
        Row{"points_lower", kFixed, {8, 4, 1, 1}, {2, 2}, kLower, true},
        Row{"points_explicit", kFixed, {8, 4, 1, 1}, {2, 2}, ov::op::PadType::EXPLICIT, true},
        Row{"row", kFixed, {8, 4, 1, 3}, {2, 2}, kUpper, true},
        Row{"one_dimension", {1, 4, 32}, {8, 4, 1}, {2}, kUpper, false},
        Row{"varies", kTall, {8, 4, 3, 3}, {2, 2}, kUpper, false},
        Row{"varies_elsewhere", kTall, {8, 4, 3, 3}, {1, 2}, kUpper, false},
        Row{"varies_no_strides", kTall, {8, 4, 3, 3}, {1, 1}, kUpper, true},
        Row{"varies_lower", kTall, {8, 4, 3, 3}, {2, 2}, kLower, true},
        Row{"batch_varies", {{1, 4}, 4, 32, 32}, {8, 4, 3, 3}, {2, 2}, kUpper, true}),
    by_name);

TEST(Refusals, AreOfAnOperatorOrOfALayer) {
  const ov::Model model = model_of({"", kFixed, {8, 4, 1, 1}, {1, 1}, kUpper, true});
  for (const char* none : {"", "Relu", "second"}) EXPECT_NO_THROW(check_layers(model, {none}));
  for (const char* one : {"Convolution", "first"}) {
    EXPECT_THROW(check_layers(model, {one}), Failure) << one;
  }
}

}  // namespace
}  // namespace softnpu::refusals_test

// Model::repair(): its changes, and the models that it leaves alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <openvino/opsets/opset13.hpp>
#include <optional>

#include <npucore/error.hpp>
#include <npucore/model.hpp>

#include "cut_model.hpp"
#include "detector_tails.hpp"
#include "ir_files.hpp"
#include "openvino_run.hpp"

namespace npu::repair_test {
namespace {

using namespace ov::opset13;
using test::Tail;

bool is_told(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(part) != std::string::npos;
  });
}

template <class T>
test::Bytes bytes_of(const std::vector<T>& values) {
  test::Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct TailRow : Named {
  Tail tail;
};
std::string name_of(const testing::TestParamInfo<TailRow>& info) {
  return info.param.name;
}

constexpr auto kI32 = ov::element::Type_t::i32;
constexpr auto kSubtracted = Tail::Correction::kSubtracted;
constexpr auto kSelected = Tail::Correction::kSelected;

// ---- Tails of detectors

/// Different scores, so that no order is left to chance.
std::vector<float> values_for(const Tail& tail) {
  const auto count =
      static_cast<std::size_t>(4 + tail.classes + tail.more) * static_cast<std::size_t>(tail.boxes);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((i * 7919) % count) / static_cast<float>(count);
  }
  return values;
}

/// The best rows of all boxes and classes, by the raw tensor, as the tail would put them.
std::vector<double> rows_by_hand(const std::vector<double>& raw, const Tail& tail, bool by_boxes) {
  const int values = 4 + tail.classes + tail.more;
  const auto at = [&](int box, int value) {
    return raw[static_cast<std::size_t>(by_boxes ? box * values + value
                                                 : value * tail.boxes + box)];
  };
  std::vector<std::pair<int, int>> all;
  for (int box = 0; box < tail.boxes; ++box) {
    for (int label = 0; label < tail.classes; ++label) all.emplace_back(box, label);
  }
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return at(a.first, 4 + a.second) > at(b.first, 4 + b.second);
  });
  std::vector<double> rows;
  for (int i = 0; i < tail.detections; ++i) {
    const auto [box, label] = all[static_cast<std::size_t>(i)];
    for (int value = 0; value < 4; ++value) rows.push_back(at(box, value));
    rows.push_back(at(box, 4 + label));
    rows.push_back(label);
    for (int value = 0; value < tail.more; ++value)
      rows.push_back(at(box, 4 + tail.classes + value));
  }
  return rows;
}

class TailTest : public testing::TestWithParam<TailRow> {};

TEST_P(TailTest, IsCutOffAndTheHostCanDoTheRest) {
  const Tail& tail = GetParam().tail;
  auto model = test::model_of(tail);
  const auto inputs = std::map<std::string, test::Bytes>{{"boxes", bytes_of(values_for(tail))}};
  const auto expected = test::run_with_openvino(model, inputs);
  const auto told = model.repair();
  EXPECT_TRUE(is_told(told, "TopK and Gather cut off"));
  EXPECT_FALSE(test::has_layer(model, "TopK"));
  EXPECT_FALSE(test::has_layer(model, "GatherElements"));
  EXPECT_EQ(model.model_info().at("host_postprocess"), "topk");
  EXPECT_EQ(model.model_info().at("host_classes"), std::to_string(tail.classes));
  EXPECT_EQ(model.model_info().at("host_detections"), std::to_string(tail.detections));
  ASSERT_EQ(model.outputs().size(), 1U);
  EXPECT_EQ(model.outputs()[0].tensor_names, std::vector<std::string>{"output0"});
  const bool by_boxes = model.outputs()[0].shape[1] == tail.boxes;
  EXPECT_EQ(by_boxes, !tail.is_one_tensor || tail.has_scores_first);
  EXPECT_EQ(rows_by_hand(test::run_with_openvino(model, inputs), tail, by_boxes), expected);
  EXPECT_EQ(test::wrong_shapes(model), std::vector<std::string>());
  EXPECT_EQ(model.repair(), std::vector<std::string>()) << "a second time";
}

INSTANTIATE_TEST_SUITE_P(
    Table, TailTest,
    testing::Values(TailRow{"yolo26", {}}, TailRow{"yolov10", {.gathers_boxes_twice = true}},
                    TailRow{"without_floor", {.by_floor = false}},
                    TailRow{"floor_mod", {.remainder_by_product = false}},
                    TailRow{"onnx", {.remainder_by_product = false, .correction = kSubtracted}},
                    TailRow{"onnx_of_yolov10",
                            {.remainder_by_product = false,
                             .gathers_boxes_twice = true,
                             .correction = kSubtracted}},
                    TailRow{"older_onnx", {.remainder_by_product = false, .correction = kSelected}},
                    TailRow{"places_of_32_bits", {.index = kI32}},
                    TailRow{"all_of_32_bits", {.index = kI32, .constants = kI32}},
                    TailRow{"one_class", {.classes = 1}}, TailRow{"angle", {.more = 1}},
                    TailRow{"masks_twice", {.more = 8, .gathers_boxes_twice = true}},
                    TailRow{"tensors_of_their_own", {.is_one_tensor = false}},
                    TailRow{"scores_in_front_of_boxes", {.has_scores_first = true}},
                    TailRow{"more_rows_first", {.first_detections = 20}}),
    name_of);

class AlmostTest : public testing::TestWithParam<TailRow> {};

TEST_P(AlmostTest, IsLeftAlone) {
  auto model = test::model_of(GetParam().tail);
  const auto outputs = model.outputs();
  const auto told = model.repair();
  EXPECT_FALSE(is_told(told, "cut off"));
  EXPECT_TRUE(test::has_layer(model, "TopK"));
  EXPECT_EQ(model.outputs()[0].shape, outputs[0].shape);
  EXPECT_FALSE(model.model_info().contains("host_postprocess"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, AlmostTest,
    testing::Values(
        TailRow{"another_divisor", {.divisor = 4}},
        TailRow{"corrected_rows",
                {.remainder_by_product = false, .correction = kSubtracted, .correct_below = 3}},
        TailRow{"other_rows_selected",
                {.remainder_by_product = false, .correction = kSelected, .correct_below = 3}},
        TailRow{"too_few_rows_first", {.first_detections = 6}},
        TailRow{"lowest_scores", {.keeps_lowest = true}},
        TailRow{"class_in_front_of_score", {.swaps_score = true}},
        TailRow{"rows_by_other_scores", {.uses_other_best = true}},
        TailRow{"boxes_are_changed", {.scales_boxes = true}},
        TailRow{"two_outputs", {.is_two_outputs = true}},
        TailRow{"scores_are_an_output", {.shows_scores = true}},
        TailRow{"rows_are_an_output", {.shows_rows = true}},
        TailRow{"more_classes_than_the_host_takes", {.classes = 65537, .boxes = 65550}},
        TailRow{"fewer_boxes_than_values", {.classes = 40, .boxes = 40}}),
    name_of);

// ---- Two ends in one model

TEST(TwoEnds, AreCutTogetherWhereTheHostDoesTheSameForBoth) {
  const Tail tail{.is_one_tensor = false};
  auto model = test::model_of(std::vector<Tail>{tail, tail});
  const auto inputs = std::map<std::string, test::Bytes>{{"boxes", bytes_of(values_for(tail))}};
  const auto expected = test::run_with_openvino(model, inputs);
  const auto told = model.repair();
  EXPECT_TRUE(is_told(told, "; TopK and Gather cut off")) << "the second one";
  EXPECT_FALSE(test::has_layer(model, "TopK"));
  ASSERT_EQ(model.outputs().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(model.outputs()[i].tensor_names,
              std::vector<std::string>{"output" + std::to_string(i)});
    EXPECT_EQ(model.outputs()[i].shape, (Shape{1, tail.boxes, 4 + tail.classes}));
  }
  EXPECT_EQ(rows_by_hand(test::run_with_openvino(model, inputs), tail, true), expected);
  EXPECT_EQ(test::wrong_shapes(model), std::vector<std::string>());
}

TEST(OneEnd, IsCutBesideClassesOfThePicture) {
  auto model = test::model_of(Tail{.shows_classes = true});
  EXPECT_TRUE(is_told(model.repair(), "TopK and Gather cut off"));
  ASSERT_EQ(model.outputs().size(), 2U);
  EXPECT_EQ(model.outputs()[1].shape, (Shape{1, 3}));
}

TEST(OneEnd, LeavesItsNamesBesideThoseOfTheTensorThatIsShown) {
  auto model = test::model_of(Tail{.names_head = true, .is_older_file = true});
  EXPECT_TRUE(is_told(model.repair(), "TopK and Gather cut off"));
  ASSERT_EQ(model.outputs().size(), 1U);
  EXPECT_EQ(model.outputs()[0].tensor_names, (std::vector<std::string>{"output0", "head"}));
}

struct TwoRow : Named {
  std::vector<Tail> tails;
  const char* reason;
};
class TwoEndsTest : public testing::TestWithParam<TwoRow> {};

TEST_P(TwoEndsTest, AreBothLeftAndItIsSaidWhy) {
  auto model = test::model_of(GetParam().tails);
  const auto outputs = model.outputs();
  testing::internal::CaptureStderr();
  const auto told = model.repair();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(is_told(told, "cut off"));
  EXPECT_TRUE(has(log, "of detectors in "));
  EXPECT_TRUE(has(log, GetParam().reason));
  EXPECT_TRUE(test::has_layer(model, "TopK"));
  EXPECT_FALSE(model.model_info().contains("host_postprocess"));
  ASSERT_EQ(model.outputs().size(), outputs.size());
  EXPECT_EQ(model.outputs()[0].shape, outputs[0].shape);
}

const Tail kOwnTensors{.is_one_tensor = false};
const Tail kFewer{.detections = 10, .is_one_tensor = false};
const Tail kShown{.is_one_tensor = false, .shows_scores = true};
const Tail kChanged{.is_one_tensor = false, .scales_boxes = true};
const Tail kWithHead{.is_one_tensor = false, .shows_head = true};

INSTANTIATE_TEST_SUITE_P(
    Table, TwoEndsTest,
    testing::Values(
        TwoRow{"numbers", {kOwnTensors, kFewer}, "that of 'output1' has other numbers"},
        TwoRow{"first_is_read", {kShown, kOwnTensors}, "that of 'output0' has other readers"},
        TwoRow{"second_is_read", {kOwnTensors, kShown}, "that of 'output1' has other readers"},
        TwoRow{"tensor", {Tail{}, Tail{}}, "they choose from one tensor"},
        TwoRow{"second_is_none", {kOwnTensors, kChanged}, "'output1' is of a detector whose end"},
        TwoRow{"first_is_none", {kChanged, kOwnTensors}, "'output0' is of a detector whose end"},
        TwoRow{"head_is_an_output", {kWithHead}, "could be taken for what the host gets"}),
    by_name);

// ---- NonMaxSuppression

struct Nms {
  const char* name;
  bool corners = true, sorts = true, fills_with_zeros = true;
  int most = 300;
  std::optional<float> soft_sigma;  // none: no such input
  bool has_half_boxes = false;      // of another type than the scores
  bool has_boxes_as_input = false;  // what would be an output is nothing that is computed
  bool is_cut = true;
};
void PrintTo(const Nms& row, std::ostream* out) {
  *out << row.name;
}

std::shared_ptr<Constant> numbers(const std::vector<std::int64_t>& values) {
  return Constant::create(ov::element::i64, {values.size()}, values);
}

constexpr auto kF16 = ov::element::Type_t::f16, kF32 = ov::element::Type_t::f32;

ov::Output<ov::Node> rectified(const ov::Output<ov::Node>& value, ov::element::Type_t type) {
  return std::make_shared<Relu>(std::make_shared<Convert>(value, type))->output(0);
}

Model model_of(const Nms& row) {
  constexpr std::size_t kBoxes = 40, kClasses = 3, kRows = 10;
  using Encoding = ov::op::v9::NonMaxSuppression::BoxEncodingType;
  const auto head =
      std::make_shared<Parameter>(ov::element::f32, ov::Shape{1, kBoxes, 4 + kClasses});
  const auto parts = std::make_shared<VariadicSplit>(std::make_shared<Relu>(head), numbers({2}),
                                                     numbers({4, static_cast<int>(kClasses)}));
  const auto own_boxes = std::make_shared<Parameter>(ov::element::f32, ov::Shape{1, kBoxes, 4});
  const auto boxes = row.has_boxes_as_input
                         ? own_boxes->output(0)
                         : rectified(parts->output(0), row.has_half_boxes ? kF16 : kF32);
  const auto scores =
      std::make_shared<Transpose>(std::make_shared<Relu>(parts->output(1)), numbers({0, 2, 1}));
  const auto nms = std::make_shared<NonMaxSuppression>(
      boxes, scores, Constant::create(ov::element::i64, {}, {row.most}),
      Constant::create(ov::element::f32, {}, {0.45F}),
      Constant::create(ov::element::f32, {}, {0.1F}),
      row.corners ? Encoding::CORNER : Encoding::CENTER, row.sorts, ov::element::i32);
  if (row.soft_sigma) {
    nms->set_argument(5, Constant::create(ov::element::f32, {}, {*row.soft_sigma}));
    nms->validate_and_infer_types();
  }
  const auto axis = Constant::create(ov::element::i64, {}, {1});
  const auto columns = std::make_shared<Split>(nms->output(0), axis, 3);
  const auto score = std::make_shared<Split>(nms->output(1), axis, 3)->output(2);
  const auto places = std::make_shared<ov::opset13::Squeeze>(columns->output(2), numbers({1}));
  const auto chosen = std::make_shared<Convert>(
      std::make_shared<Gather>(boxes, places, Constant::create(ov::element::i64, {}, {1})), kF32);
  const auto rows = std::make_shared<Concat>(
      ov::OutputVector{
          chosen, std::make_shared<Unsqueeze>(score, numbers({0})),
          std::make_shared<Unsqueeze>(
              std::make_shared<Convert>(columns->output(1), ov::element::f32), numbers({0}))},
      2);
  const auto rest =
      Constant::create(ov::element::f32, {1, kRows, 6},
                       std::vector<float>(kRows * 6, row.fills_with_zeros ? 0.0F : 1.0F));
  const auto filled = std::make_shared<Concat>(ov::OutputVector{rows, rest}, 1);
  const auto first =
      std::make_shared<Slice>(filled, numbers({0}), numbers({kRows}), numbers({1}), numbers({1}));
  ov::ParameterVector inputs{head};
  if (row.has_boxes_as_input) {
    inputs.push_back(own_boxes);
  }
  return test::written({std::make_shared<Reshape>(first, numbers({1, kRows, 6}), false)}, inputs);
}

class NmsTest : public testing::TestWithParam<Nms> {};

TEST_P(NmsTest, GoesToTheHostWhereItIsExactlyThat) {
  auto model = model_of(GetParam());
  EXPECT_THROW(model.check_supported(), Error);
  EXPECT_EQ(is_told(model.repair(), "NonMaxSuppression cut off"), GetParam().is_cut);
  EXPECT_EQ(test::has_layer(model, "NonMaxSuppression"), !GetParam().is_cut);
  if (!GetParam().is_cut) return;
  model.check_supported();
  EXPECT_EQ(model.outputs()[0].shape, (Shape{1, 40, 7}));
  const std::map<std::string, std::string> noted{{"host_postprocess", "nms"},
                                                 {"host_classes", "3"},
                                                 {"host_detections", "10"},
                                                 {"host_iou_threshold", "0.45"},
                                                 {"host_score_threshold", "0.1"}};
  EXPECT_EQ(model.model_info(), noted);
}

INSTANTIATE_TEST_SUITE_P(
    Table, NmsTest,
    testing::Values(Nms{.name = "as_it_is"},
                    Nms{.name = "centres", .corners = false, .is_cut = false},
                    Nms{.name = "by_class", .sorts = false, .is_cut = false},
                    Nms{.name = "filled_with_ones", .fills_with_zeros = false, .is_cut = false},
                    Nms{.name = "few_of_a_class", .most = 5, .is_cut = false},
                    Nms{.name = "not_soft", .soft_sigma = 0.0F},
                    Nms{.name = "soft", .soft_sigma = 0.5F, .is_cut = false},
                    Nms{.name = "boxes_of_another_type", .has_half_boxes = true, .is_cut = false},
                    Nms{.name = "boxes_are_an_input", .has_boxes_as_input = true, .is_cut = false}),
    by_name);

// ---- Roundings

Model rounding(const std::string& type, ov::element::Type_t of, bool at_end = false) {
  const auto input = std::make_shared<Parameter>(of, ov::Shape{6});
  input->output(0).set_names({"numbers"});
  const auto two = Constant::create(of, {}, {2});
  const auto half = std::make_shared<Divide>(input, two);
  ov::Output<ov::Node> rounded;
  if (type == "Floor") {
    rounded = std::make_shared<Floor>(half);
  } else if (type == "Ceiling") {
    rounded = std::make_shared<Ceiling>(half);
  } else {
    rounded = std::make_shared<Round>(half, Round::RoundMode::HALF_TO_EVEN);
  }
  if (at_end) return test::written({rounded}, {input});
  return test::written({std::make_shared<Convert>(rounded, ov::element::f32)}, {input});
}

TEST(Rounding, OfWholeNumbersIsDropped) {
  for (const std::string type : {"Floor", "Ceiling", "Round"}) {
    auto model = rounding(type, ov::element::Type_t::i32);
    ASSERT_TRUE(test::has_layer(model, type));
    EXPECT_EQ(model.repair(), std::vector<std::string>{
                                  "1 rounding of whole numbers dropped (Floor, Ceiling, Round)"});
    EXPECT_FALSE(test::has_layer(model, type));
    const std::vector<std::int32_t> values{0, 1, 2, 5, 8, 301};
    EXPECT_EQ(test::run_with_openvino(model, {{"numbers", bytes_of(values)}}),
              (std::vector<double>{0, 0, 1, 2, 4, 150}));
  }
}

TEST(Rounding, OfOtherNumbersAndOfOutputsStays) {
  for (const std::string type : {"Floor", "Ceiling", "Round"}) {
    auto floating = rounding(type, ov::element::Type_t::f32);
    EXPECT_TRUE(floating.repair().empty());
    EXPECT_TRUE(test::has_layer(floating, type));
    auto output = rounding(type, ov::element::Type_t::i64, true);
    EXPECT_TRUE(output.repair().empty());
    EXPECT_TRUE(test::has_layer(output, type));
  }
}

// ---- orig_target_sizes

struct Sizes : Named {
  const char* input;
  ov::PartialShape picture, sizes;
  ov::element::Type_t type;
  bool is_frozen;
};
Model model_of(const Sizes& row) {
  const auto picture = std::make_shared<Parameter>(ov::element::f32, row.picture);
  picture->output(0).set_names({"images"});
  const auto sizes = std::make_shared<Parameter>(row.type, row.sizes);
  sizes->output(0).set_names({row.input});
  const auto mean = std::make_shared<ReduceMean>(picture, numbers({1, 2, 3}), false);
  const auto product =
      std::make_shared<Multiply>(std::make_shared<Unsqueeze>(mean, numbers({1})),
                                 std::make_shared<Convert>(sizes, ov::element::f32));
  return test::written({product}, {picture, sizes});
}

class SizesTest : public testing::TestWithParam<Sizes> {};

TEST_P(SizesTest, AreFrozenToWidthAndHeight) {
  const Sizes& row = GetParam();
  auto model = model_of(row);
  EXPECT_EQ(is_told(model.repair(), "orig_target_sizes frozen"), row.is_frozen);
  EXPECT_EQ(model.inputs().size(), row.is_frozen ? 1U : 2U);
  if (!row.is_frozen) return;
  EXPECT_EQ(model.inputs()[0].tensor_names, std::vector<std::string>{"images"});
  const std::vector<float> ones(std::size_t{3} * 8 * 16, 1);
  EXPECT_EQ(test::run_with_openvino(model, {{"images", bytes_of(ones)}}),
            (std::vector<double>{16, 8}));
}

constexpr const char* kSizes = "orig_target_sizes";
INSTANTIATE_TEST_SUITE_P(
    Table, SizesTest,
    testing::Values(
        Sizes{"i64", kSizes, {1, 3, 8, 16}, {1, 2}, ov::element::Type_t::i64, true},
        Sizes{"i32", kSizes, {1, 3, 8, 16}, {1, 2}, kI32, true},
        Sizes{"open_number", kSizes, {1, 3, 8, 16}, {-1, 2}, ov::element::Type_t::i64, true},
        Sizes{"other_name", "sizes", {1, 3, 8, 16}, {1, 2}, ov::element::Type_t::i64, false},
        Sizes{"open_picture", kSizes, {1, 3, -1, 16}, {1, 2}, ov::element::Type_t::i64, false},
        Sizes{"real_numbers", kSizes, {1, 3, 8, 16}, {1, 2}, ov::element::Type_t::f32, false},
        Sizes{"two_pictures", kSizes, {2, 3, 8, 16}, {2, 2}, ov::element::Type_t::i64, false}),
    by_name);

TEST(TargetSizes, FollowALaterReshape) {
  for (const auto type : {ov::element::Type_t::i64, kI32}) {
    auto model = model_of(Sizes{"", kSizes, {1, 3, 8, 16}, {1, 2}, type, true});
    model.repair();
    const auto copy = model;
    model.reshape({{"images", {1, 3, 32, 24}}});
    const std::vector<float> ones(std::size_t{3} * 32 * 24, 1), fewer(std::size_t{3} * 8 * 16, 1);
    EXPECT_EQ(test::run_with_openvino(model, {{"images", bytes_of(ones)}}),
              (std::vector<double>{24, 32}));
    EXPECT_EQ(test::run_with_openvino(copy, {{"images", bytes_of(fewer)}}),
              (std::vector<double>{16, 8}))
        << "a copy is another model";
  }
}

// ---- scale_factor

struct Factor : Named {
  const char* input;
  ov::PartialShape picture, factor;
  ov::element::Type_t type;
  bool is_frozen;
};
/// The model's output, the picture's mean, is divided by the factor, as boxes are.
Model model_of(const Factor& row) {
  const auto picture = std::make_shared<Parameter>(ov::element::f32, row.picture);
  picture->output(0).set_names({"image"});
  const auto factor = std::make_shared<Parameter>(row.type, row.factor);
  factor->output(0).set_names({row.input});
  const auto mean = std::make_shared<ReduceMean>(picture, numbers({1, 2, 3}), false);
  const auto ratio = std::make_shared<Divide>(std::make_shared<Unsqueeze>(mean, numbers({1})),
                                              std::make_shared<Convert>(factor, ov::element::f32));
  return test::written({ratio}, {factor, picture});
}

class FactorTest : public testing::TestWithParam<Factor> {};

TEST_P(FactorTest, IsFrozenToOne) {
  const Factor& row = GetParam();
  auto model = model_of(row);
  EXPECT_EQ(is_told(model.repair(), "scale_factor frozen to 1: boxes are in the model's pixels"),
            row.is_frozen);
  EXPECT_EQ(model.inputs().size(), row.is_frozen ? 1U : 2U);
  if (!row.is_frozen) return;
  EXPECT_EQ(model.inputs()[0].tensor_names, std::vector<std::string>{"image"});
  const std::vector<float> sixes(std::size_t{3} * 8 * 16, 6);
  EXPECT_EQ(test::run_with_openvino(model, {{"image", bytes_of(sixes)}}),
            (std::vector<double>{6, 6}));
}

constexpr const char* kFactor = "scale_factor";
INSTANTIATE_TEST_SUITE_P(
    Table, FactorTest,
    testing::Values(
        Factor{"one", kFactor, {1, 3, 8, 16}, {1, 2}, ov::element::Type_t::f32, true},
        Factor{"open_number", kFactor, {1, 3, 8, 16}, {-1, 2}, ov::element::Type_t::f32, true},
        Factor{"other_name", "im_shape", {1, 3, 8, 16}, {1, 2}, ov::element::Type_t::f32, false},
        Factor{"whole_numbers", kFactor, {1, 3, 8, 16}, {1, 2}, kI32, false},
        Factor{"one_number", kFactor, {1, 3, 8, 16}, {1, 1}, ov::element::Type_t::f32, false},
        Factor{"two_pictures", kFactor, {2, 3, 8, 16}, {2, 2}, ov::element::Type_t::f32, false}),
    by_name);

TEST(Repair, ChangesACopyAlone) {
  const auto model = test::model_of(Tail{});
  auto copy = model;
  EXPECT_FALSE(copy.repair().empty());
  EXPECT_TRUE(test::has_layer(model, "TopK"));
  EXPECT_EQ(model.outputs()[0].shape, (Shape{1, 12, 6}));
}

}  // namespace
}  // namespace npu::repair_test

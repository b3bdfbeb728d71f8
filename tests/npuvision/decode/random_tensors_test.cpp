// Tensors of any shape and value, under any card: right answers, or none.
//
// NPUVISION_RANDOM_ROUNDS says how many; the gate runs some thousands. A million:
//   NPUVISION_RANDOM_ROUNDS=1000000 meson test -C build vision-random_tensors --timeout-multiplier
//   40
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <random>

#include "contract_rows.hpp"
#include "reference.hpp"

namespace npu::vision {
namespace {

constexpr std::uint32_t kUsualRounds = 12'000;
constexpr std::size_t kMostElements = 40'000;
constexpr std::size_t kSlow = 4096;  // elements; such rows come more seldom

class Dice {
 public:
  // Seeds that follow each other give numbers that do, too, at first.
  explicit Dice(std::uint32_t seed) : random_(seed) { random_.discard(4); }

  std::size_t up_to(std::size_t most) { return random_() % (most + 1); }
  bool one_in(std::size_t many) { return up_to(many - 1) == 0; }
  double share() { return static_cast<double>(up_to(1000)) / 1000; }
  template <typename List>
  auto& of(List& list) {
    return list[up_to(std::size(list) - 1)];
  }
  std::optional<bool> maybe() { return one_in(2) ? std::optional(one_in(2)) : std::nullopt; }
  float threshold() { return static_cast<float>(one_in(4) ? special() : share()); }

  double special() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                   kInf,
                                   -kInf,
                                   0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   1.0005,
                                   300,
                                   -300,
                                   1e30,
                                   -1e30,
                                   3e38,
                                   1e-40};
    return of(kSpecial);
  }
  double whole() {
    constexpr double kSpecial[] = {-1, 3, 255, 256, 65535, 65536, 16777216, 2147483647, 9e18};
    return one_in(32) ? of(kSpecial) : static_cast<double>(up_to(2));
  }

 private:
  std::minstd_rand random_;
};

// ---- What is in the tensors

/// As RowOutput::values has it.
double value_of(Dice& dice, char kind, double side) {
  const double share = dice.share();
  switch (kind) {
    case 'l':
      return share * 10 - 5;
    case 'p':
      return share * side;
    case 'a':
      return share * side / 2;
    case 'z':
      return (share + 1) * side / 2;
    case 'x':
      return share / 2;
    case 'y':
      return (share + 1) / 2;
    case 'w':
      return static_cast<double>(dice.up_to(2));
    case '1':
      return static_cast<double>(1 + dice.up_to(2));
    case '0':
      return 0;
    default:
      return share;
  }
}

std::string any_kinds(Dice& dice) {
  constexpr std::array kKinds{'s', 'l', 'p', 'a', 'z', 'x', 'y', 'w', '0'};
  std::string kinds(1 + dice.up_to(7), 's');
  for (char& kind : kinds) kind = dice.of(kKinds);
  return kinds;
}

bool is_whole(ElementType type) {
  return type != ElementType::kF32 && type != ElementType::kF16 && type != ElementType::kF64;
}

std::size_t count_of(const Shaped& output) {
  std::size_t count = 1;
  for (const std::size_t dim : output.dims) count *= dim;
  return count;
}

/// Place along that axis of the value with this number.
std::size_t place_along(const std::vector<std::size_t>& dims, std::size_t axis, std::size_t value) {
  if (axis >= dims.size()) return 0;
  for (std::size_t i = dims.size(); i-- > dims.size() - axis;) value /= dims[i];
  return value % dims[dims.size() - 1 - axis];
}

TestTensor random_tensor(Dice& dice, const RowOutput& output, double side) {
  const Shaped& shaped = output.shaped;
  std::string kinds = dice.one_in(8) ? any_kinds(dice) : output.values;
  if (kinds.empty()) {
    kinds = "s";
  }
  constexpr std::size_t kNever = 0;
  constexpr std::size_t kOdd[] = {kNever, kNever, 500, 40, 4};  // one value in so many
  const std::size_t odd = dice.of(kOdd);
  std::vector<double> values(count_of(shaped));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = place_along(shaped.dims, output.axis, i);
    const char kind = kinds[std::min(place, kinds.size() - 1)];
    values[i] = odd != kNever && dice.one_in(odd) ? dice.special() : value_of(dice, kind, side);
    if (is_whole(shaped.type)) {
      values[i] = odd == kNever ? static_cast<double>(dice.up_to(2)) : dice.whole();
    }
  }
  return {shaped.name, shaped.type, shaped.dims, values, dice.up_to(3)};
}

// ---- Shapes

RowOutput any_output(Dice& dice) {
  constexpr const char* kNames[] = {"o",      "output0", "labels", "boxes",       "dets",
                                    "logits", "bboxes",  "scores", "anomaly_map", ""};
  RowOutput output{{dice.of(kNames), {}}, any_kinds(dice), dice.up_to(2)};
  output.shaped.dims.resize(dice.up_to(TensorView::kMaxRank));
  for (std::size_t& dim : output.shaped.dims) dim = dice.one_in(32) ? 0 : 1 + dice.up_to(5);
  if (dice.one_in(2) && !output.shaped.dims.empty()) {
    output.shaped.dims[0] = 1;
  }
  return output;
}

/// The same in all outputs, so that they still belong together.
void resize(Dice& dice, std::vector<RowOutput>& outputs) {
  const auto& dims = dice.of(outputs).shaped.dims;
  if (dims.empty()) return;
  const std::size_t old = dice.of(dims), size = 1 + dice.up_to(15);
  for (RowOutput& output : outputs) {
    std::replace(output.shaped.dims.begin(), output.shaped.dims.end(), old, size);
  }
}

void change_dims(Dice& dice, std::vector<std::size_t>& dims) {
  const auto at = [&](std::size_t most) {
    return dims.begin() + static_cast<std::ptrdiff_t>(dice.up_to(most));
  };
  if (dice.one_in(4) && dims.size() < TensorView::kMaxRank) {
    dims.insert(at(dims.size()), 1 + (dice.one_in(2) ? dice.up_to(3) : 0));
  } else if (dims.empty()) {
    return;
  } else if (dice.one_in(3)) {
    dims.erase(at(dims.size() - 1));
  } else if (dice.one_in(3)) {
    std::iter_swap(at(dims.size() - 1), at(dims.size() - 1));
  } else {
    *at(dims.size() - 1) = dice.one_in(8) ? 0 : 1 + dice.up_to(12);
  }
}

void change_type(Dice& dice, ElementType& type) {
  constexpr ElementType kFloats[] = {ElementType::kF32, ElementType::kF16};
  constexpr ElementType kAny[] = {ElementType::kF32,     ElementType::kF16, ElementType::kF64,
                                  ElementType::kBoolean, ElementType::kI8,  ElementType::kU8,
                                  ElementType::kI16,     ElementType::kU16, ElementType::kI32,
                                  ElementType::kU32,     ElementType::kI64, ElementType::kU64};
  type = dice.one_in(2) ? dice.of(kFloats) : dice.of(kAny);
}

void change_list(Dice& dice, std::vector<RowOutput>& outputs) {
  const std::size_t place = dice.up_to(outputs.size() - 1);
  switch (dice.up_to(4)) {
    case 0:
      outputs.erase(outputs.begin() + static_cast<std::ptrdiff_t>(place));
      break;
    case 1:
      outputs.push_back(outputs[place]);
      break;
    case 2:
      std::swap(outputs[place], outputs.front());
      break;
    case 3:
      outputs[place].shaped.name = any_output(dice).shaped.name;
      break;
    default:
      outputs.push_back(any_output(dice));
  }
}

void change_outputs(Dice& dice, std::vector<RowOutput>& outputs) {
  for (std::size_t changes = 1 + dice.up_to(2); changes > 0 && !outputs.empty(); --changes) {
    switch (dice.up_to(5)) {
      case 0:
      case 1:
        resize(dice, outputs);
        break;
      case 2:
        change_dims(dice, dice.of(outputs).shaped.dims);
        break;
      case 3:
        change_type(dice, dice.of(outputs).shaped.type);
        break;
      case 4:
        change_list(dice, outputs);
        break;
      default:
        dice.of(outputs) = any_output(dice);
    }
  }
  for (RowOutput& output : outputs) {
    if (count_of(output.shaped) > kMostElements) {
      output.shaped.dims = {1, 7, 9};
    }
  }
}

// ---- Cards: what fields.hpp lets through

using Change = void (*)(Dice& dice, ModelCard& card);

const std::vector<Task> kTasks = tasks();
const std::vector<Family> kFamilies = families();

constexpr Change kWhatItIs[] = {
    [](Dice& dice, ModelCard& card) { card.task = dice.of(kTasks); },
    [](Dice& dice, ModelCard& card) { card.family = dice.of(kFamilies); },
    [](Dice& dice, ModelCard& card) { card.labels.resize(dice.up_to(9), "thing"); },
    [](Dice&, ModelCard& card) { card.labels.clear(); },
    [](Dice& dice, ModelCard& card) { card.output = dice.one_in(2) ? "output0" : "o"; },
    [](Dice& dice, ModelCard& card) { card.channels_first = dice.maybe(); },
    [](Dice& dice, ModelCard& card) { card.end_to_end = dice.maybe(); },
    [](Dice& dice, ModelCard& card) { card.multilabel = dice.maybe(); },
    [](Dice& dice, ModelCard& card) { card.raw_scores = dice.maybe(); },
};

constexpr Change kNumbers[] = {
    [](Dice& dice, ModelCard& card) {
      card.anchors.resize(dice.up_to(20));
      for (float& one : card.anchors) one = dice.one_in(8) ? 65536 : 0.001F + dice.up_to(60);
    },
    [](Dice& dice, ModelCard& card) {
      card.key_points = static_cast<std::uint32_t>(dice.one_in(16) ? 1024 : dice.up_to(6));
      card.key_point_values = dice.one_in(2) ? 2 : 3;
    },
    [](Dice& dice, ModelCard& card) { card.characters.resize(dice.up_to(12), "ß"); },
    [](Dice& dice, ModelCard& card) {
      card.image_threshold = static_cast<float>(dice.share() * 4 - 2);
      card.pixel_threshold = static_cast<float>(dice.share() * 4 - 2);
      card.normalization_scale = dice.one_in(4) ? 1e-30F : 0.001F + dice.threshold();
    },
    [](Dice& dice, ModelCard& card) {
      card.unclip_ratio = static_cast<float>(dice.share() * 10);
      card.use_dilation = dice.maybe();
    },
    [](Dice& dice, ModelCard& card) {
      card.level_values.clear();
      for (std::uint32_t label = 0; label < 4; ++label) {
        card.level_values.emplace_back(dice.up_to(3), dice.one_in(16) ? 65535 : dice.up_to(4));
      }
      card.exclusive_groups = static_cast<std::uint32_t>(1 + dice.up_to(3));
      card.level_parents = {{dice.up_to(4), dice.up_to(4)}, {dice.up_to(4), dice.up_to(4)}};
    },
};

constexpr Change kHost[] = {
    [](Dice& dice, ModelCard& card) {
      constexpr const char* kSteps[] = {"topk",           "nms",        "nms-best-class",
                                        "multiclass-nms", "matrix-nms", "another"};
      card.host_postprocess = dice.of(kSteps);
    },
    [](Dice&, ModelCard& card) { card.host_postprocess.clear(); },
    [](Dice& dice, ModelCard& card) {
      card.host_classes = static_cast<std::uint32_t>(1 + dice.up_to(6));
      card.host_detections = static_cast<std::uint32_t>(dice.one_in(4) ? 1'000'000 : dice.up_to(9));
    },
    [](Dice& dice, ModelCard& card) {
      card.host_iou_threshold = static_cast<float>(dice.share());
      card.host_score_threshold = static_cast<float>(dice.share());
      card.host_lowest_score = static_cast<float>(dice.share());
    },
    [](Dice& dice, ModelCard& card) {
      card.host_box_scale = dice.one_in(4) ? 1e30F : 1e-12F;
      card.host_class_offset = dice.one_in(4) ? 1e30F : 640;
    },
    [](Dice& dice, ModelCard& card) {
      card.host_class_candidates = static_cast<std::uint32_t>(dice.up_to(5));
      card.host_background = static_cast<std::uint32_t>(dice.up_to(5));
      card.host_box_margin = dice.one_in(2) ? 1 : 0;
      card.host_gaussian_sigma = dice.one_in(4) ? 1e30F : static_cast<float>(dice.up_to(3));
    },
};

void change_card(Dice& dice, ModelCard& card) {
  for (std::size_t changes = 1 + dice.up_to(2); changes > 0; --changes) {
    const bool is_cut = !card.host_postprocess.empty();
    if (dice.one_in(is_cut ? 2 : 16)) {
      dice.of(kHost)(dice, card);
    } else {
      (dice.one_in(2) ? dice.of(kNumbers) : dice.of(kWhatItIs))(dice, card);
    }
  }
}

// ---- Where it comes from

npu::FrameGeometry random_geometry(Dice& dice, InputSize input) {
  const auto offset = [&dice] { return dice.share() * 16 - 8; };
  const auto scale = [&dice] { return dice.one_in(16) ? 1e-9 : 0.1 + dice.share() * 5; };
  return {.model_width = dice.one_in(32) ? 0 : input.width,
          .model_height = input.height,
          .offset_x = offset(),
          .offset_y = offset(),
          .scale_x = scale(),
          .scale_y = scale()};
}

InputSize random_input(Dice& dice, InputSize usual) {
  if (!dice.one_in(8)) return usual;
  return {static_cast<std::uint32_t>(dice.up_to(70)), static_cast<std::uint32_t>(dice.up_to(70))};
}

FrameSize random_frame(Dice& dice) {
  const auto side = [&dice] {
    return static_cast<std::uint32_t>(dice.one_in(64) ? 0 : 1 + dice.up_to(90));
  };
  return {side(), side()};
}

DecodeOptions random_options(Dice& dice) {
  DecodeOptions options;
  options.confidence_threshold = static_cast<float>(dice.up_to(10)) / 10;
  options.iou_threshold = static_cast<float>(dice.up_to(10)) / 10;
  options.suppresses = dice.one_in(4) ? dice.maybe() : std::nullopt;
  options.is_class_agnostic = dice.one_in(4);
  options.max_classes = dice.up_to(12);
  options.max_objects = dice.up_to(40);
  return options;
}

// ---- What is right

bool is_share(float score) {
  return score >= 0 && score <= 1;
}

void expect_inside(const Object& object, FrameSize frame) {
  EXPECT_TRUE(is_share(object.confidence)) << object.confidence;
  EXPECT_TRUE(object.left >= 0 && object.left < object.right && object.right <= frame.width);
  EXPECT_TRUE(object.top >= 0 && object.top < object.bottom && object.bottom <= frame.height);
  if (!object.oriented) return;
  EXPECT_TRUE(std::isfinite(object.oriented->center_x + object.oriented->center_y));
  EXPECT_TRUE(std::isfinite(object.oriented->width + object.oriented->height));
  EXPECT_GE(object.oriented->angle, -std::numbers::pi / 2);
  EXPECT_LT(object.oriented->angle, std::numbers::pi / 2);
  EXPECT_GT(std::min(object.oriented->width, object.oriented->height), 0);
}

void expect_inside(const Mask& mask, FrameSize frame, std::size_t pixels) {
  EXPECT_TRUE(mask.width > 0 && mask.x + mask.width <= frame.width);
  EXPECT_TRUE(mask.height > 0 && mask.y + mask.height <= frame.height);
  EXPECT_TRUE(mask.columns > 0 && mask.columns <= mask.width);
  EXPECT_TRUE(mask.rows > 0 && mask.rows <= mask.height);
  EXPECT_LE(mask.first + std::size_t{mask.columns} * mask.rows, pixels);
}

void expect_inside(const Answer& answer, FrameSize frame) {
  for (const Object& object : answer.objects) expect_inside(object, frame);
  EXPECT_EQ(answer.key_points.size(), answer.objects.size() * answer.key_points_per_object);
  for (const KeyPoint& point : answer.key_points) {
    EXPECT_TRUE(is_share(point.confidence)) << point.confidence;
    EXPECT_TRUE(point.x >= 0 && point.x <= frame.width && point.y >= 0 && point.y <= frame.height);
  }
  EXPECT_TRUE(answer.masks.empty() || answer.masks.size() == answer.objects.size());
  for (const Mask& mask : answer.masks) expect_inside(mask, frame, answer.mask_pixels.size());
}

template <typename Value>
void expect_whole(const Map<Value>& map) {
  EXPECT_EQ(map.values.size(), std::size_t{map.width} * map.height);
}

void expect_sound(const Answer& answer) {
  for (const ClassScore& one : answer.classes) EXPECT_TRUE(is_share(one.confidence));
  expect_whole(answer.class_map);
  expect_whole(answer.value_map);
  for (const float one : answer.value_map.values) EXPECT_TRUE(std::isfinite(one));
  double squares = 0;
  for (const float one : answer.embedding) squares += static_cast<double>(one) * one;
  if (!answer.embedding.empty()) {
    EXPECT_NEAR(squares, 1, 1e-3);
  }
  EXPECT_TRUE(is_share(answer.anomaly.value_or(0)));
  EXPECT_TRUE(is_share(answer.text_confidence.value_or(0)));
  EXPECT_EQ(answer.text.empty(), !answer.text_confidence.has_value());
}

bool is_something(const Answer& answer) {
  return !answer.objects.empty() || !answer.classes.empty() || !answer.class_map.empty() ||
         !answer.value_map.empty() || !answer.embedding.empty() || !answer.text.empty();
}

// ---- The test

struct Counts {
  std::uint32_t rounds = 0, answers = 0, refusals = 0;
};

/// A byte less than the output has: of one alone, as others may be left unread.
bool shorten(Dice& dice, std::vector<TensorView>& views) {
  if (views.size() != 1 || views.front().size_bytes == 0 || !dice.one_in(32)) return false;
  --views.front().size_bytes;
  return true;
}

void try_once(Dice& dice, const ContractRow& row, Counts& counts) {
  ModelCard card = row.card;
  std::vector<RowOutput> outputs = row.outputs;
  if (dice.one_in(2)) {
    change_card(dice, card);
  }
  if (dice.one_in(2)) {
    change_outputs(dice, outputs);
  }
  const InputSize input = random_input(dice, row.input);
  std::vector<TestTensor> tensors;
  std::vector<TensorView> shapes, views;
  tensors.reserve(outputs.size());
  for (const RowOutput& output : outputs) {
    tensors.push_back(random_tensor(dice, output, row.input.width));
  }
  for (const TestTensor& tensor : tensors) {
    shapes.push_back(tensor.view_without_data());
    views.push_back(tensor.view());
  }
  const bool is_short = shorten(dice, views);
  const FrameSize frame = random_frame(dice);
  Answer answer;
  ++counts.rounds;
  try {
    make_decoder(card, shapes, input)
        ->decode(views, random_geometry(dice, input), frame, random_options(dice), &answer);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    ++counts.refusals;
    return;
  }
  EXPECT_FALSE(is_short) << "read a byte too far";
  counts.answers += is_something(answer) ? 1 : 0;
  expect_inside(answer, frame);
  expect_sound(answer);
}

std::uint32_t rounds_to_run() {
  const char* rounds = std::getenv("NPUVISION_RANDOM_ROUNDS");
  return rounds == nullptr ? kUsualRounds
                           : static_cast<std::uint32_t>(std::strtoul(rounds, nullptr, 10));
}

bool is_slow(const ContractRow& row) {
  return std::any_of(row.outputs.begin(), row.outputs.end(),
                     [](const RowOutput& output) { return count_of(output.shaped) > kSlow; });
}

TEST(RandomTensors, GiveASoundAnswerOrARefusal) {
  const std::vector<ContractRow>& rows = contract_rows();
  std::vector<Counts> counts(rows.size());
  for (std::uint32_t seed = 0, rounds = rounds_to_run(); rounds > 0; ++seed) {
    const std::size_t at = seed % rows.size();
    constexpr std::size_t kSeldom = 16;
    if (is_slow(rows[at]) && seed / rows.size() % kSeldom != 0) continue;
    Dice dice(seed);  // so that what failed can be done again
    SCOPED_TRACE(rows[at].name + ", seed " + std::to_string(seed));
    try_once(dice, rows[at], counts[at]);
    --rounds;
    if (HasFailure()) return;
  }
  Counts all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_GT(counts[i].answers, 0U) << rows[i].name;
    EXPECT_GT(counts[i].refusals, 0U) << rows[i].name;
    all.rounds += counts[i].rounds;
    all.answers += counts[i].answers;
    all.refusals += counts[i].refusals;
  }
  std::cout << all.rounds << " models, " << all.answers << " answers, " << all.refusals
            << " refusals\n";
}

}  // namespace
}  // namespace npu::vision

// Tensors of any shape and value, under any card: right answers, or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision {
namespace {

using Random = std::minstd_rand;

std::size_t up_to(Random& random, std::size_t most) {
  return random() % (most + 1);
}

double value(Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {std::nan(""), kInf, -kInf, 0, 1, -1, 1e30, -1e30, 300, 0.5};
  if (random() % 64 == 0) return kSpecial[random() % std::size(kSpecial)];
  if (random() % 4 == 0) return static_cast<double>(up_to(random, 1));  // as labels are
  return static_cast<double>(random() % 1000) / 1000;
}

/// A family's outputs as they should be, then one thing wrong now and then.
struct Pattern {
  Task task;
  std::vector<Shaped> outputs;
  InputSize input = {16, 16};
  Family family = Family::kAuto;
  int rounds = 1000;  ///< more where an answer is rare
};

std::vector<Pattern> patterns() {
  constexpr ElementType kLong = ElementType::kI64;
  return {{Task::kClassify, {{"o", {1, 9}}}},
          {Task::kEmbed, {{"o", {1, 9, 1, 1}}}},
          {Task::kSemantic, {{"o", {1, 3, 8, 8}}}},
          {Task::kSemantic, {{"o", {1, 8, 8}, ElementType::kU8}}},
          {Task::kDepth, {{"o", {1, 8, 8}}}},
          {Task::kAnomaly, {{"o", {1, 1, 8, 8}}}},
          {Task::kAnomaly, {{"anomaly_map", {1, 1, 8, 8}}, {"pred_score", {1}}}},
          {Task::kDetect, {{"o", {1, 1, 3, 7}}}, {16, 16}, Family::kAuto, 20'000},
          {Task::kDetect, {{"a", {1, 12, 5}}, {"labels", {1, 12}, kLong}}},
          {Task::kDetect, {{"labels", {1, 12, 5}}, {"dets", {1, 12, 4}}}},
          {Task::kSegment, {{"labels", {1, 6, 5}}, {"dets", {1, 6, 4}}, {"m", {1, 6, 5, 4}}}},
          {Task::kSegment,
           {{"b", {6, 5}}, {"l", {6}, kLong}, {"m", {6, 4, 4}}},
           {16, 16},
           Family::kMaskRcnn,
           20'000},
          {Task::kDetect, {{"o", {1, 7}}}, {16, 16}, Family::kYoloNas, 20'000},
          {Task::kDetect, {{"labels", {1, 9}, kLong}, {"boxes", {1, 9, 4}}, {"scores", {1, 9}}}},
          {Task::kDetect, {{"b", {1, 896, 16}}, {"s", {1, 896, 1}}}, {128, 128}},
          {Task::kDetect,
           {{"a", {1, 256, 3}},
            {"b", {1, 64, 3}},
            {"c", {1, 16, 3}},
            {"d", {1, 4, 3}},
            {"e", {1, 256, 32}},
            {"f", {1, 64, 32}},
            {"g", {1, 16, 32}},
            {"h", {1, 4, 32}}},
           {128, 128}},
          {Task::kKeyPoints, {{"x", {1, 5, 32}}, {"y", {1, 5, 32}}}},
          {Task::kReadText, {{"o", {1, 10, 5}}}},
          {Task::kFindText, {{"o", {1, 1, 16, 16}}}}};
}

/// Of nine values; now and then they contradict each other.
void add_levels(Random& random, ModelCard* card) {
  std::uint32_t group = 0;
  for (std::uint32_t label = 0; label < 9; ++label) {
    card->level_values.emplace_back(group, random() % 32 == 0 ? up_to(random, 12) : label);
    group += random() % 2;
  }
  card->exclusive_groups = random() % 4 == 0 ? up_to(random, 9) : group + 1;
  for (std::uint32_t label = 1; label < 9; ++label) {
    const auto above = random() % 16 == 0 ? up_to(random, 12) : up_to(random, label - 1);
    if (random() % 2 == 0) card->level_parents.emplace_back(label, above);
  }
}

ModelCard random_card(Random& random, Task task) {
  ModelCard card = card_of(random() % 8 == 0 ? static_cast<Task>(up_to(random, 12)) : task,
                           random() % 2 == 0 ? 0 : up_to(random, 9));
  const auto maybe = [&random] {
    return random() % 4 == 0 ? std::optional(random() % 2 == 0) : std::nullopt;
  };
  card.multilabel = maybe();
  card.raw_scores = maybe();
  card.family = random() % 8 == 0 ? static_cast<Family>(up_to(random, 23)) : Family::kAuto;
  if (random() % 4 != 0) {
    card.characters = {"a", "b", "c", "d"};
  }
  if (task == Task::kClassify && random() % 2 == 0) {
    add_levels(random, &card);
  }
  card.image_threshold = static_cast<float>(value(random));
  card.pixel_threshold = static_cast<float>(value(random));
  card.normalization_scale = static_cast<float>(value(random));
  return card;
}

std::vector<TestTensor> random_tensors(Random& random, std::vector<Shaped> outputs) {
  std::vector<TestTensor> tensors;
  for (Shaped& output : outputs) {
    if (random() % 16 == 0) {
      output.dims[random() % output.dims.size()] = 1 + up_to(random, 12);
    }
    if (random() % 4 == 0 && output.type == ElementType::kF32) {
      output.type = ElementType::kF16;
    }
    std::size_t count = 1;
    for (const std::size_t dim : output.dims) count *= dim;
    const bool is_whole = output.type == ElementType::kI64 || output.type == ElementType::kU8;
    std::vector<double> values(count);
    for (double& one : values)
      one = is_whole ? static_cast<double>(up_to(random, 4)) : value(random);
    tensors.emplace_back(output.name, output.type, output.dims, values, up_to(random, 3));
  }
  return tensors;
}

npu::FrameGeometry random_geometry(Random& random, InputSize input) {
  return {.model_width = input.width,
          .model_height = input.height,
          .offset_x = static_cast<double>(up_to(random, 8)),
          .offset_y = static_cast<double>(up_to(random, 8)),
          .scale_x = 0.1 + static_cast<double>(up_to(random, 50)) / 10,
          .scale_y = 0.1 + static_cast<double>(up_to(random, 50)) / 10};
}

bool is_share(float score) {
  return score >= 0 && score <= 1;
}

void expect_inside(const Answer& answer, FrameSize frame) {
  for (const Object& object : answer.objects) {
    EXPECT_TRUE(is_share(object.confidence)) << object.confidence;
    EXPECT_TRUE(object.left >= 0 && object.left < object.right && object.right <= frame.width);
    EXPECT_TRUE(object.top >= 0 && object.top < object.bottom && object.bottom <= frame.height);
    if (object.oriented) {
      EXPECT_GE(object.oriented->angle, -std::numbers::pi / 2);
      EXPECT_LT(object.oriented->angle, std::numbers::pi / 2);
      EXPECT_GT(std::min(object.oriented->width, object.oriented->height), 0);
    }
  }
  EXPECT_EQ(answer.key_points.size(), answer.objects.size() * answer.key_points_per_object);
  for (const KeyPoint& point : answer.key_points) {
    EXPECT_TRUE(is_share(point.confidence)) << point.confidence;
    EXPECT_TRUE(point.x >= 0 && point.x <= frame.width && point.y >= 0 && point.y <= frame.height);
  }
  EXPECT_TRUE(answer.masks.empty() || answer.masks.size() == answer.objects.size());
  for (const Mask& mask : answer.masks) {
    EXPECT_TRUE(mask.width > 0 && mask.x + mask.width <= frame.width);
    EXPECT_TRUE(mask.height > 0 && mask.y + mask.height <= frame.height);
    EXPECT_LE(mask.first + std::size_t{mask.columns} * mask.rows, answer.mask_pixels.size());
  }
}

void expect_sound(const Answer& answer) {
  for (const ClassScore& one : answer.classes) EXPECT_TRUE(is_share(one.confidence));
  EXPECT_EQ(answer.class_map.values.size(),
            answer.class_map.empty() ? 0 : answer.class_map.width * answer.class_map.height);
  EXPECT_EQ(answer.value_map.values.size(),
            answer.value_map.empty() ? 0 : answer.value_map.width * answer.value_map.height);
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

std::vector<TensorView> views_of(const std::vector<TestTensor>& tensors) {
  std::vector<TensorView> views;
  for (const TestTensor& tensor : tensors) views.push_back(tensor.view());
  return views;
}

/// Whether there was an answer.
bool try_once(Random& random, const Pattern& pattern) {
  ModelCard card = random_card(random, pattern.task);
  if (card.family == Family::kAuto) {
    card.family = pattern.family;
  }
  const auto tensors = random_tensors(random, pattern.outputs);
  auto views = views_of(tensors);
  const bool is_short = views.size() == 1 && random() % 32 == 0;  // others may be left unread
  if (is_short) {
    --views.front().size_bytes;
  }
  const FrameSize frame{static_cast<std::uint32_t>(1 + up_to(random, 40)),
                        static_cast<std::uint32_t>(1 + up_to(random, 40))};
  DecodeOptions options;
  options.confidence_threshold = static_cast<float>(up_to(random, 10)) / 10;
  options.max_classes = up_to(random, 12);
  options.max_objects = up_to(random, 40);
  Answer answer;
  try {
    make_decoder(card, views, pattern.input)
        ->decode(views, random_geometry(random, pattern.input), frame, options, &answer);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    return false;
  }
  EXPECT_FALSE(is_short) << "read a byte too far";
  expect_inside(answer, frame);
  expect_sound(answer);
  return is_something(answer);
}

TEST(AnyTensor, GivesASoundAnswerOrNone) {
  Random random(11);
  for (const Pattern& pattern : patterns()) {
    SCOPED_TRACE(std::string(to_string(pattern.task)) + " " + pattern.outputs.front().name);
    const int rounds = pattern.outputs.front().dims[1] > 100 ? 100 : pattern.rounds;
    int answers = 0;
    for (int i = 0; i < rounds; ++i) answers += try_once(random, pattern) ? 1 : 0;
    EXPECT_GT(answers, 0);
    EXPECT_LT(answers, rounds);
  }
}

}  // namespace
}  // namespace npu::vision

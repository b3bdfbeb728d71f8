// Tensors as nobody would make them: an answer inside the frame, or a refusal.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>

#include <npucore/error.hpp>

#include "reference.hpp"
#include "yolo_heads.hpp"

namespace npu::vision {
namespace {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}

  std::size_t up_to(std::size_t most) { return random_() % (most + 1); }
  bool one_in(std::size_t many) { return up_to(many - 1) == 0; }
  double value() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    constexpr double kSpecial[] = {
        std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 0, 1, -1, 3e38, 0.5};
    if (one_in(40)) return kSpecial[up_to(std::size(kSpecial) - 1)];
    return static_cast<double>(up_to(1000)) / 1000;
  }
  double position() { return one_in(2) ? value() : value() * 70; }

 private:
  std::minstd_rand random_;
};

/// A head as its shape says, mostly; with nonsense in it, sometimes.
struct Head {
  ModelCard card;
  InputSize input;
  std::vector<TestTensor> tensors;
};

std::size_t extras_of(const ModelCard& card) {
  if (card.task == Task::kSegment) return 3;
  if (card.task == Task::kPose) return std::size_t{card.key_points} * card.key_point_values;
  return card.task == Task::kOriented ? 1 : 0;
}

TestTensor random_tensor(Dice& dice, std::size_t boxes, std::size_t values, bool channels_first,
                         ElementType type) {
  std::vector<std::vector<double>> rows(boxes, std::vector<double>(values));
  for (std::vector<double>& row : rows) {
    for (std::size_t i = 0; i < values; ++i) row[i] = i < 4 ? dice.position() : dice.value();
  }
  return tensor_of_rows(rows, channels_first, dice.up_to(3), type);
}

/// With numbers that a card may have, if no graph.
void leave_to_host(Dice& dice, std::size_t classes, ModelCard* card) {
  constexpr const char* kSteps[] = {"topk", "nms", "nms-best-class", "multiclass-nms",
                                    "matrix-nms"};
  const auto maybe = [&dice](float value) {
    return dice.one_in(2) ? std::optional(value) : std::nullopt;
  };
  const auto share = [&dice] { return static_cast<float>(dice.up_to(10)) / 10; };
  card->host_postprocess = kSteps[dice.up_to(4)];
  card->host_classes = static_cast<std::uint32_t>(classes);
  card->host_detections = static_cast<std::uint32_t>(1 + dice.up_to(20));
  card->host_iou_threshold = maybe(share());
  card->host_score_threshold = maybe(share());
  card->host_box_scale = maybe(share() + 1e-12F);
  card->host_class_offset = maybe(dice.one_in(4) ? 1e30F : share());
  card->host_class_candidates = static_cast<std::uint32_t>(dice.up_to(5));
  if (dice.one_in(2)) card->host_background = static_cast<std::uint32_t>(dice.up_to(4));
  card->host_box_margin = maybe(share());
  card->host_gaussian_sigma = maybe(dice.one_in(4) ? 1e30F : share() * 5);
  card->host_lowest_score = maybe(share() / 2);
}

Head random_head(Dice& dice) {
  constexpr Task kTasks[] = {Task::kDetect, Task::kSegment, Task::kPose, Task::kOriented};
  constexpr Family kFamilies[] = {Family::kYolo, Family::kYoloEndToEnd, Family::kYoloObjectness,
                                  Family::kYoloX};
  Head head;
  const std::size_t classes = 1 + dice.up_to(3);
  head.card = card_of(kTasks[dice.up_to(3)], classes);
  head.card.family = kFamilies[dice.up_to(3)];
  head.card.key_points = static_cast<std::uint32_t>(1 + dice.up_to(3));
  head.card.key_point_values = static_cast<std::uint32_t>(2 + dice.up_to(1));
  const bool has_objectness =
      head.card.family == Family::kYoloObjectness || head.card.family == Family::kYoloX;
  if (has_objectness) {
    const bool has_masks = head.card.family == Family::kYoloObjectness && dice.one_in(2);
    head.card.task = has_masks ? Task::kSegment : Task::kDetect;
  }
  const bool is_end_to_end = head.card.family == Family::kYoloEndToEnd;
  const bool channels_first = head.card.family == Family::kYolo && dice.one_in(2);
  if (head.card.family == Family::kYolo) {
    head.card.channels_first = channels_first;
  }
  const std::size_t extras = extras_of(head.card);
  const bool is_host = is_end_to_end && dice.one_in(2);
  if (is_host) {
    leave_to_host(dice, classes, &head.card);
  }
  const bool has_class = is_end_to_end && !is_host;
  const std::size_t values = has_class ? 6 + extras : 4 + classes + extras + has_objectness;
  head.input = {32, 32};
  const std::size_t boxes = head.card.family == Family::kYoloX ? 21 : 1 + dice.up_to(30);
  const ElementType type = dice.one_in(2) ? ElementType::kF32 : ElementType::kF16;
  const std::size_t wrong = dice.one_in(8) ? dice.up_to(3) : 0;
  head.tensors.push_back(random_tensor(dice, boxes, values + wrong, channels_first, type));
  if (head.card.task == Task::kSegment) {
    std::vector<double> protos(extras * 8 * 8);
    for (double& proto : protos) proto = dice.value() - 0.5;
    head.tensors.emplace_back("output1", type, std::vector<std::size_t>{1, extras, 8, 8}, protos,
                              dice.up_to(2));
  }
  return head;
}

void expect_inside(const Answer& answer, FrameSize frame) {
  for (const Object& object : answer.objects) {
    EXPECT_TRUE(object.confidence >= 0 && object.confidence <= 1) << object.confidence;
    EXPECT_TRUE(object.left >= 0 && object.left < object.right && object.right <= frame.width);
    EXPECT_TRUE(object.top >= 0 && object.top < object.bottom && object.bottom <= frame.height);
  }
  EXPECT_EQ(answer.key_points.size(), answer.key_points_per_object * answer.objects.size());
  for (const KeyPoint& point : answer.key_points) {
    EXPECT_TRUE(point.x >= 0 && point.x <= frame.width);
    EXPECT_TRUE(point.y >= 0 && point.y <= frame.height);
    EXPECT_TRUE(point.confidence >= 0 && point.confidence <= 1);
  }
  EXPECT_TRUE(answer.masks.empty() || answer.masks.size() == answer.objects.size());
  for (const Mask& mask : answer.masks) {
    EXPECT_TRUE(mask.width > 0 && mask.x + mask.width <= frame.width);
    EXPECT_TRUE(mask.height > 0 && mask.y + mask.height <= frame.height);
    EXPECT_EQ(mask.columns, mask.width);
    EXPECT_EQ(mask.rows, mask.height);
    EXPECT_LE(mask.first + std::size_t{mask.width} * mask.height, answer.mask_pixels.size());
  }
}

TEST(YoloRandom, GivesAnAnswerInsideTheFrameOrARefusal) {
  Dice dice(13);
  int refused = 0, found = 0, points = 0, masks = 0, turned = 0;
  std::map<std::string, int> by_step;
  for (int round = 0; round < 20000; ++round) {
    Head head = random_head(dice);
    const FrameSize size{static_cast<std::uint32_t>(1 + dice.up_to(90)),
                         static_cast<std::uint32_t>(1 + dice.up_to(90))};
    const Frame frame{
        .geometry = {32, 32, dice.value() * 4, 0, size.width / 32.0, size.height / 32.0},
        .size = size};
    Answer answer;
    const std::string why = refusal_of([&] {
      answer = decoded(head.card, std::move(head.tensors), {.confidence_threshold = 0.4F}, frame,
                       head.input);
    });
    expect_inside(answer, size);
    refused += why.empty() ? 0 : 1;
    found += static_cast<int>(answer.objects.size());
    points += static_cast<int>(answer.key_points.size());
    masks += static_cast<int>(answer.masks.size());
    turned += !answer.objects.empty() && answer.objects[0].oriented ? 1 : 0;
    by_step[head.card.host_postprocess] += static_cast<int>(answer.objects.size());
  }
  EXPECT_EQ(by_step.size(), 6U) << "none, and each step of the host";
  for (const auto& [step, objects] : by_step) EXPECT_GT(objects, 100) << step;
  EXPECT_GT(refused, 1000);
  EXPECT_GT(found, 1000);
  EXPECT_GT(points, 1000);
  EXPECT_GT(masks, 1000);
  EXPECT_GT(turned, 100);
}

// What is decoded lies inside its memory, which a sanitizer watches, and what lies inside is.
TEST(YoloRandom, NeverReadsBeyondTheTensorsMemory) {
  Dice dice(11);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    // A probability, as two halves too.
    const std::vector<std::uint32_t> memory(1 + dice.up_to(60), 0x38003800U);
    TensorView view;
    view.type = dice.one_in(2) ? ElementType::kF32 : ElementType::kF16;
    const std::size_t element_bytes = view.type == ElementType::kF32 ? 4 : 2;
    view.rank = 3;
    view.dims = {1, 5 + dice.up_to(4), 1 + dice.up_to(9)};
    view.strides_bytes = {dice.up_to(64), dice.up_to(16) * element_bytes,
                          dice.up_to(16) * element_bytes};
    ModelCard card = card_of(Task::kDetect, 0);
    card.channels_first = true;
    const auto decoder = make_decoder(card, std::vector{view}, {});
    view.data = reinterpret_cast<const std::byte*>(memory.data());
    view.size_bytes = memory.size() * 4;
    const std::size_t end = (view.dims[1] - 1) * view.strides_bytes[1] +
                            (view.dims[2] - 1) * view.strides_bytes[2] + element_bytes;
    const bool fits = std::max(end, view.dims[1] * view.dims[2] * element_bytes) <= view.size_bytes;
    Answer answer;
    const std::string why = refusal_of([&] {
      decoder->decode(std::vector{view}, {}, {64, 64}, {.confidence_threshold = 0}, &answer);
    });
    EXPECT_EQ(why.empty(), fits) << why;
    (fits ? accepted : refused) += 1;
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace npu::vision

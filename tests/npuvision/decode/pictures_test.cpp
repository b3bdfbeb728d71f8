#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "reference.hpp"
#include "shapes.hpp"

namespace npu::vision::pictures_test {
namespace {

TEST(Pictures, MeanWhatTheirAuthorsMean) {
  expect_references("pictures");
}

class PictureRefusal : public testing::TestWithParam<RefusalRow> {};

TEST_P(PictureRefusal, SaysWhatWouldDecide) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(refusal_of(row.card, row.outputs, row.input), row.says));
}

INSTANTIATE_TEST_SUITE_P(
    All, PictureRefusal,
    testing::Values(
        RefusalRow{"AnyMap",
                   card_of(Task::kUnknown),
                   {{"o", {1, 1, 64, 64}}},
                   "could be another map: set model-task to semantic"},
        RefusalRow{"AnyDepth",
                   card_of(Task::kUnknown),
                   {{"o", {1, 64, 64}}},
                   "could be another map: set model-task to depth"},
        RefusalRow{"AnyAnomaly",
                   card_of(Task::kUnknown),
                   {{"o", {1, 64, 64}}},
                   "could be another map: set model-task to anomaly"},
        RefusalRow{"AnyText",
                   card_of(Task::kUnknown),
                   {{"o", {1, 1, 64, 64}}},
                   "could be another map: set model-task to find-text"},
        RefusalRow{"AnyVector",
                   card_of(Task::kUnknown),
                   {{"o", {1, 64}}},
                   "could be a classification: set model-task to embed"},
        RefusalRow{
            "OtherLabels",
            card_of(Task::kSemantic, 20),
            {{"o", {1, 21, 64, 64}}},
            "has 21 classes, but there are 20 labels: give one for each, also for the background"},
        RefusalRow{"ManyClasses",
                   card_of(Task::kSemantic),
                   {{"o", {1, 70000, 4, 4}}},
                   "has more than 65536 classes"},
        RefusalRow{"BoxesAreNoDepth",
                   card_of(Task::kDepth),
                   {{"o", {1, 84, 8400}}},
                   "has other proportions than the model's input",
                   {640, 640}},
        RefusalRow{"StepsOfTextAreNoAnomaly",
                   card_of(Task::kAnomaly),
                   {{"o", {1, 40, 97}}},
                   "has other proportions than the model's input",
                   {320, 48}},
        RefusalRow{"ScoresAreNoText",
                   card_of(Task::kFindText),
                   {{"o", {1, 1, 200, 7}}},
                   "has other proportions than the model's input",
                   {300, 300}},
        RefusalRow{"TokensAreNoClasses",
                   card_of(Task::kSemantic),
                   {{"o", {1, 197, 768}}},
                   "has other proportions than the model's input",
                   {224, 224}},
        RefusalRow{"AMapOfARoundedQuarter",
                   card_of(Task::kDepth),
                   {{"o", {1, 60, 107}}},
                   "[depth]",
                   {427, 240}},
        RefusalRow{"TwoMaps",
                   card_of(Task::kDepth),
                   {{"o", {1, 64, 64}}, {"p", {1, 64, 64}}},
                   "has more than one such tensor: set tensor-name to \"o\" or \"p\""},
        RefusalRow{"NoThresholds",
                   card_of(Task::kAnomaly),
                   {{"o", {1, 1, 64, 64}}},
                   "comes without image_threshold, pixel_threshold and normalization_scale"},
        RefusalRow{"ClassesAreNoDepth",
                   card_of(Task::kDepth),
                   {{"o", {1, 21, 64, 64}}},
                   "has other tensors"},
        RefusalRow{"WholeIsNoDepth",
                   card_of(Task::kDepth),
                   {{"o", {1, 64, 64}, ElementType::kU8}},
                   "has other tensors"},
        RefusalRow{"TwoVectors",
                   card_of(Task::kEmbed),
                   {{"o", {1, 512}}, {"p", {1, 512}}},
                   "has more than one such tensor: set tensor-name"},
        RefusalRow{"TokensAreNoVector",
                   card_of(Task::kEmbed),
                   {{"o", {1, 257, 1024}}},
                   "has other tensors"},
        RefusalRow{
            "Family", card_of(Task::kUnknown, 0, Family::kDepth), {{"o", {1, 64, 64}}}, "[depth]"}),
    by_name);

class Semantic : public testing::TestWithParam<RefusalRow> {};

// choose_decoder() also tries each output alone.
TEST_P(Semantic, TakesNoMasksOfObjectsForClasses) {
  const RefusalRow& row = GetParam();
  EXPECT_TRUE(has(choice_of(row.card, row.outputs, row.input), row.says));
}

const std::vector<Shaped> kQueries{{"logits", {1, 8, 5}}, {"pred_masks", {1, 8, 16, 16}}};
const std::vector<Shaped> kRfDetr{
    {"dets", {1, 8, 4}}, {"labels", {1, 8, 5}}, {"masks", {1, 8, 64, 64}}};
const std::vector<Shaped> kYoloSeg{{"output0", {1, 39, 84}}, {"output1", {1, 32, 16, 16}}};
const std::vector<Shaped> kSam{{"iou", {1, 3}}, {"masks", {1, 3, 64, 64}}};
const std::vector<Shaped> kTokens{{"hidden", {1, 64, 96}}, {"map", {1, 21, 16, 16}}};

ModelCard of_tensor(const char* name) {
  ModelCard card = card_of(Task::kSemantic);
  card.output = name;
  return card;
}

INSTANTIATE_TEST_SUITE_P(
    All, Semantic,
    testing::Values(
        RefusalRow{"Queries",
                   card_of(Task::kSemantic),
                   kQueries,
                   "set model-family to mask-queries where they are, or tensor-name to "
                   "\"pred_masks\" where each channel is a class",
                   {64, 64}},
        RefusalRow{"AsManyClassesAsQueries",
                   card_of(Task::kSemantic),
                   {{"logits", {1, 8, 8}}, {"pred_masks", {1, 8, 16, 16}}},
                   "set model-family to mask-queries",
                   {64, 64}},
        RefusalRow{"QueriesAsTold",
                   card_of(Task::kSemantic, 0, Family::kMaskQueries),
                   kQueries,
                   "[mask-queries]",
                   {64, 64}},
        RefusalRow{"RfDetr",
                   card_of(Task::kSemantic),
                   kRfDetr,
                   "set model-task to segment where they are, or tensor-name to \"masks\"",
                   {64, 64}},
        RefusalRow{"RfDetrAsTold", card_of(Task::kSegment), kRfDetr, "[detr]", {64, 64}},
        RefusalRow{"Prototypes",
                   card_of(Task::kSemantic),
                   kYoloSeg,
                   "set model-task to segment where they are, or tensor-name to \"output1\"",
                   {64, 64}},
        RefusalRow{"PrototypesAsTold", card_of(Task::kSegment), kYoloSeg, "[yolo]", {64, 64}},
        RefusalRow{"SegmentAnything",
                   card_of(Task::kSemantic, 3),
                   kSam,
                   "fit to \"iou\" f32 [1,3]: set tensor-name to \"masks\"",
                   {64, 64}},
        RefusalRow{"ChannelsAsTold", of_tensor("masks"), kSam, "[segmentation]", {64, 64}},
        RefusalRow{"LabelledBesideTokens",
                   card_of(Task::kSemantic, 21),
                   kTokens,
                   "[segmentation]",
                   {64, 64}},
        RefusalRow{"BesideScores",
                   card_of(Task::kSemantic),
                   {{"scores", {1, 5}}, {"map", {1, 21, 16, 16}}},
                   "[segmentation]",
                   {64, 64}}),
    by_name);

Answer decoded_map(const ModelCard& card, const TestTensor& tensor) {
  const TensorView view = tensor.view();
  Answer answer;
  make_decoder(card, std::span(&view, 1), {4, 4})
      ->decode(std::span(&view, 1), {.model_width = 4, .model_height = 4}, {4, 4}, {}, &answer);
  return answer;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Depth, WithAPlaceOfNoNumberIsNoAnswer) {
  const TestTensor map("o", ElementType::kF32, {1, 2, 2}, {1, 2, kNaN, 3});
  EXPECT_TRUE(decoded_map(card_of(Task::kDepth), map).value_map.empty());
  EXPECT_TRUE(decoded_map(card_of(Task::kDepth), map).is_undefined);
}

TEST(Segmentation, TakesNoScoreThatIsNoNumber) {
  const TestTensor map("o", ElementType::kF32, {1, 2, 1, 2}, {kNaN, 1, 0, 2});
  EXPECT_EQ(decoded_map(card_of(Task::kSemantic), map).class_map.values,
            (std::vector<std::uint16_t>{1, 1}));
  const TestTensor none("o", ElementType::kF32, {1, 2, 1, 2}, {kNaN, 1, kNaN, 2});
  EXPECT_TRUE(decoded_map(card_of(Task::kSemantic), none).class_map.empty());
  EXPECT_TRUE(decoded_map(card_of(Task::kSemantic), none).is_undefined);
}

TEST(Segmentation, RefusesWhatIsNoClass) {
  const TestTensor map("o", ElementType::kI32, {1, 1, 2}, {1, 2});
  EXPECT_THROW(decoded_map(card_of(Task::kSemantic, 2), map), Error);
  EXPECT_EQ(decoded_map(card_of(Task::kSemantic, 3), map).class_map.values.back(), 2);
}

TEST(Embedding, OfNoNumbersIsUndefined) {
  const TestTensor vector("o", ElementType::kF32, {1, 3}, {1, kNaN, 0});
  const Answer answer = decoded_map(card_of(Task::kEmbed), vector);
  EXPECT_TRUE(answer.is_undefined);
  EXPECT_TRUE(answer.embedding.empty());
}

std::vector<float> embedding_of(const std::vector<const TestTensor*>& tensors,
                                const std::string& output = "") {
  std::vector<TensorView> views;
  for (const TestTensor* tensor : tensors) views.push_back(tensor->view());
  ModelCard card = card_of(Task::kEmbed);
  card.output = output;
  Answer answer;
  make_decoder(card, views, {4, 4})
      ->decode(views, {.model_width = 4, .model_height = 4}, {4, 4}, {}, &answer);
  return answer.embedding;
}

TEST(Embedding, IsThatOfThePictureAmongAnEncodersOutputs) {
  using Values = std::vector<float>;
  const TestTensor tokens("last_hidden_state", ElementType::kF32, {1, 2, 2}, {9, 9, 9, 9});
  const TestTensor pooled("pooler_output", ElementType::kF32, {1, 2}, {4, 3});
  const TestTensor words("text_embeds", ElementType::kF32, {1, 2}, {1, 0});
  const TestTensor picture("image_embeds", ElementType::kF32, {1, 2}, {-3, 4});
  EXPECT_EQ(embedding_of({&tokens, &pooled}), (Values{0.8F, 0.6F})) << "SigLIP";
  EXPECT_EQ(embedding_of({&picture, &tokens}), (Values{-0.6F, 0.8F})) << "CLIP";
  EXPECT_EQ(embedding_of({&words, &pooled, &picture, &tokens}), (Values{-0.6F, 0.8F}));
  EXPECT_EQ(embedding_of({&words, &picture}, "text_embeds"), (Values{1, 0})) << "as it is told";
}

TEST(Embedding, OfLengthZeroHasNoDirection) {
  const TestTensor vector("o", ElementType::kF32, {1, 3}, {0, 0, 0});
  EXPECT_TRUE(decoded_map(card_of(Task::kEmbed), vector).embedding.empty());
}

TEST(Anomaly, OfAnomalib2IsAProbability) {
  const TestTensor map("anomaly_map", ElementType::kF32, {1, 1, 1, 2}, {0.1, 0.2});
  for (const double score : {0.5, 1.5}) {
    const TestTensor whole("pred_score", ElementType::kF32, {1, 1}, {score});
    const std::vector<TensorView> views{map.view(), whole.view()};
    const auto decoder = make_decoder(card_of(Task::kUnknown), views, {4, 4});
    Answer answer;
    const auto decode = [&] {
      decoder->decode(views, {.model_width = 4, .model_height = 4}, {4, 4}, {}, &answer);
    };
    if (score > 1) {
      EXPECT_THROW(decode(), Error);
    } else {
      decode();
      EXPECT_EQ(answer.anomaly, 0.5F);
    }
  }
}

// Each row lies where the first does: without a bound, 64 bytes are 32 GB of values.
TEST(Pictures, ElementsHaveBytesOfTheirOwn) {
  const std::array<std::byte, 64> memory{};
  const std::vector<Shaped> shapes{{"o", {1, 1, 1}}};  // has the name
  auto views = views_of(shapes);
  views[0].dims[1] = std::size_t{1} << 33;
  views[0].strides_bytes = {4, 0, 4};
  const auto decoder = make_decoder(card_of(Task::kDepth), views, {});
  views[0].data = memory.data();
  views[0].size_bytes = memory.size();
  Answer answer;
  EXPECT_THROW(decoder->decode(views, {.model_width = 1, .model_height = 1}, {64, 64}, {}, &answer),
               npu::Error);
}

}  // namespace
}  // namespace npu::vision::pictures_test

// A card as JSON, and cards over cards.
#include <gtest/gtest.h>

#include <cmath>

#include <npucore/error.hpp>
#include <npuvision/model_card.hpp>

#include "support/expect_error.hpp"

namespace npu::vision::card_json_test {
namespace {

ModelCard full_card() {
  ModelCard card;
  card.task = Task::kPose;
  card.family = Family::kYoloEndToEnd;
  card.labels = {"person", "", "h\xc3\xa9ron \"3\"\n\\"};
  card.confidence_threshold = 0.1F;
  card.iou_threshold = std::nextafter(0.7F, 1.0F);
  card.max_objects = 1000000;
  card.output = "output0";
  card.channels_first = true;
  card.end_to_end = false;
  card.multilabel = true;
  card.raw_scores = false;
  card.anchors = {10, 13.5F, 65536, 1};
  card.key_points = 3;
  card.key_point_values = 2;
  card.key_point_names = {"nose", "left", "right"};
  card.skeleton = {{0, 1}, {0, 2}};
  card.characters = {"\xe4\xb8\xad", "'", " "};
  card.image_threshold = -1.5e-20F;
  card.pixel_threshold = 12345.678F;
  card.normalization_scale = 1e-30F;
  card.unclip_ratio = 1.75F;
  card.use_dilation = true;
  card.resize = npu::ResizeMode::kLetterbox;
  card.crop_share = 0.875F;
  card.pad_value = 114;
  card.channels = npu::ChannelOrder::kBGR;
  card.mean = {123.675F, 116.28F, 103.53F};
  card.scale = {58.395F, 57.12F, 57.375F};
  card.input_width = 640;
  card.input_height = 65536;
  card.inner_width = 256;
  card.inner_height = 128;
  card.architecture = "YOLO11n-pose";
  card.origins = {{"labels", "metadata.yaml"}, {"task", "m.modelinfo"}};
  return card;
}

TEST(CardJson, ComesBackToTheLastBit) {
  const std::string json = full_card().to_json();
  const ModelCard card = ModelCard::from_json(json);
  EXPECT_EQ(card.to_json(), json);
  EXPECT_EQ(card.labels, full_card().labels);
  EXPECT_EQ(card.iou_threshold, full_card().iou_threshold);
  EXPECT_EQ(card.mean, full_card().mean);
  EXPECT_EQ(card.image_threshold, full_card().image_threshold);
  EXPECT_EQ(card.normalization_scale, full_card().normalization_scale);
  EXPECT_EQ(card.unclip_ratio, full_card().unclip_ratio);
  EXPECT_EQ(card.use_dilation, full_card().use_dilation);
  EXPECT_EQ(card.skeleton, full_card().skeleton);
  EXPECT_EQ(card.anchors, full_card().anchors);
  EXPECT_EQ(card.characters, full_card().characters);
  EXPECT_EQ(card.resize, full_card().resize);
  EXPECT_EQ(card.channels, full_card().channels);
  EXPECT_EQ(card.end_to_end, false);
  EXPECT_EQ(card.origins, full_card().origins);
}

TEST(CardJson, HasEveryFloatInItsShortestDigits) {
  ModelCard card;
  card.confidence_threshold = 0.1F;
  EXPECT_EQ(card.to_json(), R"({"confidence_threshold":0.1})");
  float value = 0;
  for (int i = 0; i < 20000; ++i) {
    value = std::nextafter(value + 1.0F / 20001, 0.0F);
    card.confidence_threshold = value;
    EXPECT_EQ(ModelCard::from_json(card.to_json()).confidence_threshold, value);
  }
}

TEST(CardJson, IsOneLineOfAscii) {
  for (const char c : full_card().to_json()) {
    ASSERT_GE(c, ' ');
    ASSERT_LE(c, '~');
  }
}

TEST(CardJson, OfNothingIsEmpty) {
  EXPECT_EQ(ModelCard().to_json(), "{}");
  EXPECT_EQ(ModelCard::from_json("{}").to_json(), "{}");
}

TEST(CardJson, RefusesToWriteWhatCouldNotBeRead) {
  ModelCard card;
  card.mean = {std::nanf("")};
  EXPECT_THROW(card.to_json(), Error);
  card = {};
  card.labels = {"caf\xe9"};
  EXPECT_THROW(card.to_json(), Error);
}

struct BadCard : Named {
  const char* json;
  const char* complaint;
};

class BadCardTest : public testing::TestWithParam<BadCard> {};

TEST_P(BadCardTest, IsRefusedWithItsKey) {
  expect_error(ErrorCode::kInvalidArgument, GetParam().complaint,
               [&] { ModelCard::from_json(GetParam().json); });
}

const BadCard kBadCards[] = {
    {"NoJson", "{", "cannot read the model card: it is no JSON: line 1, column"},
    {"MoreThanJson", "{} {}", "it is no JSON"},
    {"NotUtf8", "{\"output\":\"\xff\"}", "is not UTF-8 text"},
    {"List", "[]", "the model card: is no map"},
    {"Twice", R"({"task":"detect","task":"pose"})", "the key \"task\" twice"},
    {"UnknownKey", R"({"lables":["a"]})", "key \"lables\": is not known"},
    {"UnknownTask", R"({"task":"guess"})", "key \"task\": there is no task \"guess\""},
    {"UnknownFamily", R"({"family":"guess"})", "there is no family \"guess\""},
    {"UnknownResize", R"({"resize":"zoom"})", "key \"resize\""},
    {"NumberAsTask", R"({"task":1})", "key \"task\": is no text"},
    {"TextAsNumber", R"({"iou_threshold":"0.5"})", "key \"iou_threshold\": is no number"},
    {"TextAsFlag", R"({"multilabel":"true"})", "key \"multilabel\": is neither true nor false"},
    {"NumberAsFlag", R"({"multilabel":1})", "is neither true nor false"},
    {"ThresholdAboveOne", R"({"iou_threshold":1.5})", "is 1.5, not a number from 0 to 1"},
    {"Infinity", R"({"pixel_threshold":1e999})",
     "it has a number that is too large: line 1, column"},
    {"HugeFloat", R"({"pixel_threshold":1e300})", "not a number from -1e+30 to 1e+30"},
    {"NoObjects", R"({"max_objects":0})", "not a number from 1 to 1e+06"},
    {"HalfAnObject", R"({"max_objects":1.5})", "is 1.5, not a whole number"},
    {"NegativeWidth", R"({"input_width":-1})", "key \"input_width\": is -1, not"},
    {"NoScale", R"({"scale":[1,0,1]})", "key \"scale/1\": is 0, not"},
    {"ManyMeans", R"({"mean":[1,1,1,1,1]})", "key \"mean\": has more than 4 entries"},
    {"TextAsLabels", R"({"labels":"a b"})", "key \"labels\": is no list"},
    {"NumberAsLabel", R"({"labels":["a",1]})", "key \"labels/1\": is no text"},
    {"ZeroInLabel", R"({"labels":["a\u0000b"]})", "has a zero byte"},
    {"LoneSurrogate", R"({"labels":["\ud800"]})", "it is no JSON"},
    {"Bone", R"({"skeleton":[[1]]})", "key \"skeleton/0\": is no pair"},
    {"FarBone", R"({"key_points":2,"skeleton":[[0,2]]})", "a key point beyond the 2"},
    {"FewNames", R"({"key_points":2,"key_point_names":["a"]})", "has not the 2 entries"},
    {"Origins", R"({"origins":["a"]})", "key \"origins\": is no map"},
};

INSTANTIATE_TEST_SUITE_P(All, BadCardTest, testing::ValuesIn(kBadCards), by_name);

std::string complaint_of(const std::string& json) {
  try {
    ModelCard::from_json(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(HostileCard, MayNotBeDeep) {
  EXPECT_TRUE(has(complaint_of(std::string(1000000, '[')), "nested deeper than 32 levels"));
  std::string maps;
  for (int i = 0; i < 100000; ++i) maps += "{\"a\":";
  EXPECT_TRUE(has(complaint_of(maps), "nested deeper than 32 levels"));
}

TEST(HostileCard, MayNotHaveAnyNumberOfValues) {
  std::string list = "[0";
  for (int i = 0; i < 300000; ++i) list += ",0";
  EXPECT_TRUE(has(complaint_of(list + "]"), "more than 262144 values"));
}

TEST(HostileCard, MayNotHaveAnyNumberOfLabels) {
  std::string list = R"({"labels":["")";
  for (int i = 0; i < 65536; ++i) list += ",\"\"";
  EXPECT_TRUE(has(complaint_of(list + "]}"), "has more than 65536 entries"));
}

TEST(HostileCard, IsNotRepeatedInTheMessage) {
  const std::string complaint = complaint_of("{\"" + std::string(1000000, 'k') + "\":1}");
  EXPECT_TRUE(has(complaint, "...\": is not known")) << complaint.substr(0, 200);
  EXPECT_LT(complaint.size(), 300U);
}

TEST(MergedCard, TakesTheUsersWord) {
  ModelCard user, model;
  user.iou_threshold = 0.3F;
  model.iou_threshold = 0.7F;
  model.labels = {"a"};
  model.origins = {{"iou_threshold", "model_info"}, {"labels", "metadata.yaml"}};
  const ModelCard card = merged(user, model);
  EXPECT_EQ(card.iou_threshold, 0.3F);
  EXPECT_EQ(card.labels, std::vector<std::string>{"a"});
  EXPECT_EQ(card.origins, (std::map<std::string, std::string>{{"labels", "metadata.yaml"}}));
}

TEST(MergedCard, OfNothingIsTheOther) {
  EXPECT_EQ(merged({}, full_card()).to_json(), full_card().to_json());
  EXPECT_EQ(merged(full_card(), {}).to_json(), full_card().to_json());
}

TEST(MergedCard, KeepsTheFamilyOfTheSameTask) {
  ModelCard user, model;
  user.task = model.task = Task::kDetect;
  model.family = Family::kYoloEndToEnd;
  model.end_to_end = true;
  EXPECT_EQ(merged(user, model).family, Family::kYoloEndToEnd);
  EXPECT_EQ(merged(user, model).end_to_end, true);
}

TEST(MergedCard, TakesNoFamilyOfAnotherTask) {
  ModelCard user, model;
  user.task = Task::kSegment;
  model.task = Task::kDetect;
  model.family = Family::kYoloEndToEnd;
  model.end_to_end = true;
  EXPECT_EQ(merged(user, model).family, Family::kAuto);
  EXPECT_FALSE(merged(user, model).end_to_end);
}

TEST(MergedCard, TakesNoLayoutOfAnotherFamily) {
  ModelCard user, model;
  user.family = Family::kYolo;
  model.family = Family::kYoloEndToEnd;
  model.end_to_end = true;
  EXPECT_FALSE(merged(user, model).end_to_end);
}

TEST(MergedCard, TakesMeanAndScaleOfOneSource) {
  ModelCard user, model;
  user.scale = {255};
  model.mean = {127.5F};
  model.scale = {127.5F};
  EXPECT_TRUE(merged(user, model).mean.empty());
  EXPECT_EQ(merged(user, model).scale, std::vector<float>{255});
}

TEST(MergedCard, TakesNoNamesOfOtherKeyPoints) {
  ModelCard user, model;
  user.key_points = 5;
  model.key_points = 3;
  model.key_point_names = {"a", "b", "c"};
  model.skeleton = {{0, 2}};
  EXPECT_TRUE(merged(user, model).key_point_names.empty());
  EXPECT_TRUE(merged(user, model).skeleton.empty());
}

TEST(AppliedCard, ChangesWhatItSays) {
  npu::Preprocess preprocess;
  preprocess.mean = {1, 2, 3};
  apply(full_card(), &preprocess);
  EXPECT_EQ(preprocess.resize, npu::ResizeMode::kLetterbox);
  EXPECT_EQ(preprocess.pad_value, 114);
  EXPECT_EQ(preprocess.channels, npu::ChannelOrder::kBGR);
  EXPECT_EQ(preprocess.mean, full_card().mean);
  EXPECT_EQ(preprocess.scale, full_card().scale);
}

TEST(AppliedCard, LeavesTheRest) {
  npu::Preprocess preprocess;
  preprocess.resize = npu::ResizeMode::kLetterbox;
  preprocess.pad_value = 7;
  preprocess.channels = npu::ChannelOrder::kBGR;
  preprocess.mean = {1, 2, 3};
  preprocess.scale = {4};
  apply({}, &preprocess);
  EXPECT_EQ(preprocess.resize, npu::ResizeMode::kLetterbox);
  EXPECT_EQ(preprocess.pad_value, 7);
  EXPECT_EQ(preprocess.channels, npu::ChannelOrder::kBGR);
  EXPECT_EQ(preprocess.mean, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(preprocess.scale, std::vector<float>{4});
}

TEST(AppliedCard, GivesNoScaleAMeanOfAnother) {
  npu::Preprocess preprocess;
  preprocess.mean = {1, 2, 3};
  ModelCard card;
  card.scale = {255};
  apply(card, &preprocess);
  EXPECT_TRUE(preprocess.mean.empty());
}

}  // namespace
}  // namespace npu::vision::card_json_test

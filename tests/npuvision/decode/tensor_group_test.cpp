// Names of outputs in the registry of tensors.
#include <gtest/gtest.h>

#include <npuvision/tensor_group.hpp>

#include "support/temp_dir.hpp"

#include "shapes.hpp"

namespace npu::vision {
namespace {

/// "yolo-v8-out: yolo-v8-out col" or "none".
std::string text_of(const TensorGroup& group) {
  if (group.id.empty()) return "none";
  std::string text = group.id + ":";
  for (const RegisteredTensor& one : group.outputs) {
    text += " " + (one.id.empty() ? "-" : one.id) + (one.is_column_major ? " col" : "");
  }
  return text + (group.is_in_model_pixels ? "" : ", any size");
}

ModelCard said_by(const char* origin, ModelCard card) {
  card.origins["task"] = origin;
  return card;
}

ModelCard with_output(const char* output, ModelCard card) {
  card.output = output;
  return card;
}

ModelCard multilabel(ModelCard card) {
  card.multilabel = true;
  return card;
}

struct GroupRow {
  const char* name;
  ModelCard card;
  std::vector<Shaped> outputs;
  const char* group;
};

class ShownGroup : public testing::TestWithParam<GroupRow> {};

TEST_P(ShownGroup, IsTheRegistrys) {
  const GroupRow& row = GetParam();
  EXPECT_EQ(text_of(tensor_group_of(row.card, views_of(row.outputs), {640, 640})), row.group);
}

INSTANTIATE_TEST_SUITE_P(
    All, ShownGroup,
    testing::Values(
        GroupRow{"detect",
                 card_of(Task::kDetect, 80),
                 {{"output0", {1, 84, 8400}}},
                 "yolo-v8-out: yolo-v8-out col"},
        GroupRow{"named_among_others",
                 with_output("boxes", card_of(Task::kDetect, 80)),
                 {{"features", {1, 256}}, {"boxes", {1, 84, 8400}}},
                 "yolo-v8-out: - yolo-v8-out col"},
        GroupRow{"rows_of_boxes",
                 card_of(Task::kDetect, 80, Family::kYolo),
                 {{"output0", {1, 8400, 84}}},
                 "none"},
        GroupRow{"segment",
                 card_of(Task::kSegment, 80),
                 {{"output0", {1, 116, 8400}}, {"output1", {1, 32, 160, 160}}},
                 "yolo-v8-segmentation-out: yolo-v8-segmentation-out-detections col "
                 "yolo-v8-segmentation-out-protos col"},
        GroupRow{"oriented",
                 card_of(Task::kOriented, 15),
                 {{"output0", {1, 20, 8400}}},
                 "yolo-v8-obb-out: yolo-v8-obb-out col"},
        GroupRow{"end_to_end",
                 card_of(Task::kDetect, 80, Family::kYoloEndToEnd),
                 {{"output0", {1, 300, 6}}},
                 "yolo-26-end2end-out: yolo-26-end2end-out"},
        GroupRow{"end_to_end_masks",
                 card_of(Task::kSegment, 80, Family::kYoloEndToEnd),
                 {{"output0", {1, 300, 38}}, {"output1", {1, 32, 160, 160}}},
                 "none"},
        GroupRow{"probabilities",
                 said_by("metadata.yaml", card_of(Task::kClassify, 10)),
                 {{"output0", {1, 10}}},
                 "classification-generic-softmaxed-out: classification-generic-softmaxed-out, any "
                 "size"},
        GroupRow{"logits",
                 said_by("config.json", card_of(Task::kClassify, 10)),
                 {{"logits", {1, 10}}},
                 "classification-generic-out: classification-generic-out, any size"},
        GroupRow{"classes_of_unknown_meaning",
                 said_by("model_info", card_of(Task::kClassify, 10)),
                 {{"output0", {1, 10}}},
                 "none"},
        GroupRow{"one_question_for_each_class",
                 multilabel(said_by("config.json", card_of(Task::kClassify, 10))),
                 {{"logits", {1, 10}}},
                 "none"},
        GroupRow{"tensorflow",
                 card_of(Task::kDetect, 90),
                 {{"detection_boxes", {1, 100, 4}},
                  {"detection_classes", {1, 100}},
                  {"detection_scores", {1, 100}},
                  {"num_detections", {1}},
                  {"raw_detection_boxes", {1, 1917, 4}}},
                 "ssd-mobilenet-v1-variant-1-out: ssd-mobilenet-v1-variant-1-out-boxes "
                 "ssd-mobilenet-v1-variant-1-out-classes ssd-mobilenet-v1-variant-1-out-scores "
                 "generic-variant-1-out-count -"},
        GroupRow{"ssd", card_of(Task::kDetect, 80), {{"out", {1, 1, 100, 7}}}, "none"},
        GroupRow{"of_no_family", card_of(Task::kDetect, 3), {{"out", {1, 17, 9}}}, "none"}),
    by_name);

class WrittenGroup : public testing::Test {
 protected:
  std::string read(const std::string& sections, const std::vector<Shaped>& outputs) {
    directory_.write("m.modelinfo", "[modelinfo]\nversion=1.0\ngroup-id=a-group\n" + sections);
    return text_of(read_tensor_group(directory_.path() / "m.xml", views_of(outputs)));
  }

  test::TempDir directory_;
};

TEST_F(WrittenGroup, HasTheIdsOfTheSectionsByName) {
  EXPECT_EQ(read("[b]\ndir=output\nid=second\n[a]\ndir=output\nid=first\ndims-order=col-major\n"
                 "[c]\ndir=output\n",
                 {{"a", {1, 2}}, {"b", {1, 3}}, {"c", {1, 4}}}),
            "a-group: first col second -");
}

TEST_F(WrittenGroup, TakesTheOnlySectionForTheOnlyOutput) {
  EXPECT_EQ(read("[in]\ndir=input\n[a]\ndir=output\nid=only\n", {{"renamed", {1, 2}}}),
            "a-group: only");
  EXPECT_EQ(read("[a]\ndir=output\nid=only\n", {{"x", {1, 2}}, {"y", {1, 2}}}), "none");
}

TEST_F(WrittenGroup, IsNoneWithoutIds) {
  EXPECT_EQ(read("[a]\ndir=output\n", {{"a", {1, 2}}}), "none");
  EXPECT_EQ(text_of(read_tensor_group(directory_.path() / "other.xml", {})), "none");
}

}  // namespace
}  // namespace npu::vision

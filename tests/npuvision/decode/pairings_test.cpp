// Each card of docs/models.md's table with the tensors of each of its rows: the row's own family,
// or a refusal, never another family.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "contract_rows.hpp"

namespace npu::vision {
namespace {

struct NamedCard {
  const ContractRow* row;
  ModelCard card;
};

/// As the row has it, and with the family named. A file says so: who sets task and family by hand
/// is believed, whatever the labels.
std::vector<NamedCard> all_cards() {
  std::vector<NamedCard> cards;
  for (const ContractRow& row : contract_rows()) {
    for (const Family family : {row.card.family, row.family}) {
      cards.push_back({&row, row.card});
      cards.back().card.family = family;
      cards.back().card.origins["family"] = "model.modelinfo";
    }
  }
  return cards;
}

/// Tensors that a card of another row may have as well. Rows by how their names begin.
struct Exception {
  const char* name;
  std::vector<std::string_view> tensors, cards;
};

const std::vector<Exception>& exceptions() {
  static const std::vector<std::string_view> maps{"class ids", "segmentation", "anomaly", "depth",
                                                  "text-boxes"};
  static const std::vector<Exception> all = {
      {"one map: only the task tells what it is of", maps, maps},
      {"one map: only the task tells what it is of", maps, {"mask-queries, semantic"}},
      {"classes of places and objects are made of the same", {"mask-queries"}, {"mask-queries"}},
      {"one vector: only the task tells", {"classification"}, {"embedding"}},
      {"one of a detector's maps: only the task tells",
       {"centerface"},
       {"anomaly", "depth", "text-boxes"}},
      {"points of whatever has a pose: only model-family tells",
       {"anchors of 224, 12"},
       {"yolo pose", "end-to-end pose"}},
      // Model API's exports have features and saliency maps, too.
      {"a picture's vector may have other outputs beside it",
       {"detr-decoded", "landmarks", "ssd, three", "yolov3-h", "yolov4-h", "yolov5-h", "yolov7-h"},
       {"embedding"}},
      {"heads of one layout: only model-family tells the version",
       {"yolov3-h", "yolov4-h", "yolov5-h", "yolov7-h"},
       {"yolov3-h", "yolov4-h", "yolov5-h", "yolov7-h"}},
      {"rows of one layout: only model-family tells", {"yolox"}, {"yolov5"}},
      {"three outputs of one layout: model-family goes before names",
       {"ssd, three"},
       {"detr-decoded"}},
      // 4 + 3 classes are as many as 6 and an angle.
      {"rows of seven: task and head tell", {"end-to-end obb"}, {"yolo", "yolo, boxes"}},
      {"rows of seven: task and head tell", {"yolo, boxes"}, {"end-to-end obb"}},
      {"the boxes alone, where the task is to detect", {"rf-detr segment"}, {"rf-detr"}},
      // Model::repair() writes the card of what it cuts: no shape tells.
      {"a tensor of a whole graph", {"yolo", "end-to-end obb", "ctc"}, {"host"}},
      {"a tensor in front of a graph's end",
       {"host"},
       {"yolo", "detr-decoded", "picodet", "ssd", "tf-detection", "torchvision",
        "rf-detr segment"}},
  };
  return all;
}

bool is_one_of(const std::vector<std::string_view>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

/// None of them: the end.
std::size_t exception_of(const ContractRow& tensors, const ContractRow& card) {
  const std::vector<Exception>& all = exceptions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Exception& one) {
    return is_one_of(one.tensors, tensors.name) && is_one_of(one.cards, card.name);
  });
  return static_cast<std::size_t>(found - all.begin());
}

std::string said_of(const ContractRow& row) {
  return std::string("[") + to_string(row.family) + "]";
}

TEST(Pairings, OfARowsOwnCardAreDecoded) {
  for (const NamedCard& one : all_cards()) {
    EXPECT_EQ(refusal_of(one.card, one.row->shapes(), one.row->input), said_of(*one.row))
        << one.row->name;
  }
}

TEST(Pairings, OfAnotherCardAreDecodedAsTheyAreOrRefused) {
  std::set<std::size_t> used;
  std::size_t refused = 0;
  for (const NamedCard& one : all_cards()) {
    for (const ContractRow& row : contract_rows()) {
      const std::string said = refusal_of(one.card, row.shapes(), row.input);
      const bool is_own = said == said_of(row) && one.card.task == row.card.task;
      const std::size_t exception = exception_of(row, *one.row);
      refused += said.starts_with("[") ? 0 : 1;
      if (is_own || !said.starts_with("[")) continue;
      EXPECT_LT(exception, exceptions().size())
          << row.name << " with the card of " << one.row->name << " is decoded as " << said;
      used.insert(exception);
    }
  }
  EXPECT_GT(refused, 3500U);
  EXPECT_EQ(used.size(), exceptions().size()) << "an exception that is none any more";
}

}  // namespace
}  // namespace npu::vision

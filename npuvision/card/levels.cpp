// Reads the levels of Geti's classifications: which values of the output exclude each other, and
// which labels count only below another one.
#include <map>

#include "sources.hpp"

namespace npu::vision {
namespace {

using Labels = std::map<std::string, std::uint32_t>;

Value needed(const Value& from, const char* key) {
  const auto value = from.find(key);
  if (!value) {
    from.refuse("has no " + shown(key));
  }
  return *value;
}

/// Labels by their ids, which must be complete.
Labels read_ids(const Value& from, ModelCard* card) {
  const auto entries = from.entries();
  if (entries.empty() || entries.size() > CardLimits::kPairs) {
    from.refuse("has no labels, or more than " + std::to_string(CardLimits::kPairs));
  }
  card->labels.assign(entries.size(), "");
  Labels ids;
  for (const auto& [name, value] : entries) {
    const auto id = value.whole(0, static_cast<std::uint32_t>(entries.size() - 1));
    if (!card->labels[id].empty() || name.empty()) {
      value.refuse("is the number of another label, too, or of one without a name");
    }
    card->labels[id] = name;
    ids[name] = id;
  }
  return ids;
}

std::uint32_t id_of(const Value& name, const Labels& labels) {
  const auto found = labels.find(name.text());
  if (found == labels.end()) {
    name.refuse("names " + shown(name.text()) + ", which is none of label_to_idx");
  }
  return found->second;
}

class LevelReader {
 public:
  LevelReader(const Value& heads, const Labels& labels, ModelCard* card)
      : heads_(heads),
        all_groups_(needed(heads, "all_groups")),
        groups_(all_groups_.items()),
        labels_(labels),
        card_(card) {}

  void read() {
    constexpr std::uint32_t kMost = CardLimits::kPairs;
    const auto exclusive = needed(heads_, "num_multiclass_heads").whole(0, kMost);
    const auto single = needed(heads_, "num_multilabel_classes").whole(0, kMost);
    if (groups_.size() < std::size_t{exclusive} + single || exclusive + single == 0) {
      all_groups_.refuse("has fewer groups than the model has heads, or the model has none");
    }
    card_->exclusive_groups = exclusive;
    if (exclusive > 0) {
      const Value ranges = needed(heads_, "head_idx_to_logits_range");
      for (std::uint32_t group = 0; group < exclusive; ++group) {
        check_range(needed(ranges, std::to_string(group).c_str()), groups_[group].items().size());
        add(group, groups_[group]);
      }
    }
    if (single == 0) return;
    const Value first = needed(heads_, "num_single_label_classes");
    if (first.whole(0, kMost) != card_->level_values.size()) {
      first.refuse("is not the number of values in front");
    }
    for (std::uint32_t group = exclusive; group < exclusive + single; ++group) {
      if (groups_[group].items().size() != 1) {
        groups_[group].refuse("is not one label, which is a question of its own");
      }
      add(group, groups_[group]);
    }
  }

 private:
  /// Each head's values follow the previous head's.
  void check_range(const Value& range, std::size_t count) const {
    const auto ends = range.items();
    const std::size_t first = card_->level_values.size();
    if (ends.size() != 2 || ends[0].whole(0, CardLimits::kPairs) != first ||
        ends[1].whole(0, CardLimits::kPairs) != first + count) {
      range.refuse("is not the values from " + std::to_string(first) + " to " +
                   std::to_string(first + count) + ", as many as the group has labels");
    }
  }
  void add(std::uint32_t group, const Value& names) {
    for (const Value& name : names.items()) {
      card_->level_values.emplace_back(group, id_of(name, labels_));
    }
    if (card_->level_values.size() > CardLimits::kPairs) {
      names.refuse("has more than " + std::to_string(CardLimits::kPairs) +
                   " labels with those in front");
    }
  }

  const Value& heads_;
  Value all_groups_;
  std::vector<Value> groups_;
  const Labels& labels_;
  ModelCard* card_;
};

}  // namespace

void read_levels(const std::string& text, const std::string& place, ModelCard* card) {
  const Tree tree = parse_json(text, place);
  const Value root(tree, Value::Scalars::kTyped, place);
  const Value heads = needed(root, "cls_heads_info");
  const Labels labels = read_ids(needed(heads, "label_to_idx"), card);
  LevelReader(heads, labels, card).read();
  const auto edges = root.find("label_tree_edges");
  if (!edges) return;
  for (const Value& edge : edges->items()) {
    const auto ends = edge.items();
    if (ends.size() != 2 || card->level_parents.size() >= labels.size()) {
      edge.refuse(
          "is no pair of a label and the one above it, or there are more of them than labels");
    }
    card->level_parents.emplace_back(id_of(ends[0], labels), id_of(ends[1], labels));
  }
}

}  // namespace npu::vision
